"""Opens the warehouses of a server, each with the means that its operations have."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from icecheck.contract import Contract, load
from icecheck.mock_server.core.clock import Clock
from icecheck.mock_server.core.context import Context, Registries, TableLocations
from icecheck.mock_server.core.idempotency_settings import IdempotencySettings
from icecheck.mock_server.core.identity import Identities
from icecheck.mock_server.core.vending_settings import VendingSettings
from icecheck.mock_server.objects.places import place_of
from icecheck.mock_server.planning.plans import Plans
from icecheck.mock_server.protocol.names import checked_separator
from icecheck.mock_server.security.callers import Security
from icecheck.mock_server.serving.kept_state import KeptState
from icecheck.mock_server.serving.warehouses import WarehouseDeclaration, Warehouses
from icecheck.mock_server.storage.files import check_writable
from icecheck.mock_server.storage.root import Root

if TYPE_CHECKING:
    from icecheck.mock_server.objects.store import ObjectStore

_EMBEDDED = VendingSettings(storage="s3", embedded=True)


def is_embedded(declaration: WarehouseDeclaration, vending: VendingSettings | None) -> bool:
    """Return whether a warehouse is in the server's own object store.

    That is so at a location of S3, unless its credentials are made up for another storage.
    """
    settings = declaration.vending or vending
    is_there = place_of(declaration.location or "") is not None
    return is_there and (settings is None or settings.embedded)


def embedded_in(
    declared: Iterable[str | WarehouseDeclaration], vending: VendingSettings | None
) -> tuple[str, ...]:
    """Return the locations of the warehouses in the server's own object store.

    ValueError for a location that it cannot have, or if it is not installed.
    """
    found = tuple(
        each.location
        for each in declared
        if isinstance(each, WarehouseDeclaration) and is_embedded(each, vending) and each.location
    )
    if found:
        from icecheck.mock_server.objects.store import check_locations

        check_locations(found)
    return found


class ServedDocument(msgspec.Struct, frozen=True):
    """The contract that a server serves, and what it announces of that which is optional there."""

    contract: Contract
    idempotency: IdempotencySettings | None
    separator: str | None

    @classmethod
    def of(
        cls, version: str, idempotency: IdempotencySettings | None, separator: str | None
    ) -> "ServedDocument":
        """Return what these settings say; ValueError for a version or a separator that is none.

        Keys have a meaning only where the document has them.
        """
        contract = load(version)
        has_keys = contract.is_at_least("1.11.0")
        announced = None if separator is None else checked_separator(separator)
        return cls(contract, idempotency if has_keys else None, announced)

    def signs_by(
        self, vending: Iterable[VendingSettings | WarehouseDeclaration | str | None]
    ) -> bool:
        """Return whether requests are signed with some of these credentials, as documented."""
        settings = (e.vending if isinstance(e, WarehouseDeclaration) else e for e in vending)
        return self.contract.is_at_least("1.11.0") and any(
            isinstance(each, VendingSettings) and each.signs for each in settings
        )


class Contexts(msgspec.Struct, frozen=True):
    """Makes the context of each warehouse of one server."""

    root: Root
    clock: Clock
    identities: Identities
    registries: Registries
    plans: Plans
    security: Security
    vending: VendingSettings | None
    table_locations: TableLocations | str
    page_size_max: int
    served: ServedDocument
    objects: "ObjectStore | None" = None
    is_kept: bool = False

    def __post_init__(self) -> None:
        """Refuse (ValueError) a kind of locations that does not exist."""
        msgspec.structs.force_setattr(self, "table_locations", _kind(self.table_locations))

    def __call__(self, warehouses: Warehouses, declaration: WarehouseDeclaration) -> Context:
        """Return the context of a warehouse; ValueError for a location that is no valid place."""
        vending = declaration.vending or self.vending
        objects = self.objects if is_embedded(declaration, self.vending) else None
        location, files = self.root.warehouse(
            declaration.name, declaration.location, None if objects is None else objects.files
        )
        return Context(
            clock=self.clock,
            identities=self.identities,
            files=files,
            registries=self.registries,
            settings_of=warehouses.settings_of,
            plans=self.plans,
            security=self.security,
            vending=_EMBEDDED if vending is None and objects is not None else vending,
            warehouse=declaration.name,
            location=location,
            table_locations=_kind(declaration.table_locations or self.table_locations),
            page_size_max=self.page_size_max,
            objects=objects,
            is_kept=self.is_kept,
            contract=self.served.contract,
            idempotency=self.served.idempotency,
            separator=self.served.separator,
        )


def open_warehouses(
    declared: Iterable[str | WarehouseDeclaration] | None,
    contexts: Contexts,
    *,
    served_prefix: bool,
    kept: KeptState | None,
) -> Warehouses:
    """Return the warehouses with what was kept of them; ValueError, and the root is free."""
    if kept is None:
        return Warehouses(declared, contexts, served_prefix=served_prefix)
    try:
        found = Warehouses(declared, contexts, served_prefix=served_prefix, kept=kept)
        kept.begin()
    except (OSError, ValueError):
        kept.close()
        raise
    return found


def check_locations(root: Root, warehouses: Warehouses) -> None:
    """Raise ValueError unless tables can be written below the root and each declared location."""
    root.check()
    for warehouse in warehouses.all():
        if warehouse.declaration.location is not None:
            check_writable(warehouse.context.location)


def _kind(given: str) -> TableLocations:
    try:
        return TableLocations(given)
    except ValueError:
        known = " or ".join(repr(each.value) for each in TableLocations)
        raise ValueError(f"table_locations is {known}, not {given!r}") from None


def check_settings(page_size_max: int, admin_token: str | None) -> None:
    """Raise ValueError for settings with which no server could work."""
    if page_size_max < 1:
        raise ValueError("page_size_max must be at least 1")
    if admin_token == "":
        raise ValueError("the token of the administration is empty: give one, or leave it out")
