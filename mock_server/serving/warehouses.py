"""The warehouses of one server: declared beforehand or opened when first asked for."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec

from icecheck.mock_server.core.context import Context, WarehouseSettings
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.core.vending_settings import VendingSettings
from icecheck.mock_server.protocol import names
from icecheck.mock_server.protocol.problem import bad_request, no_such_warehouse
from icecheck.mock_server.security.vending import signs
from icecheck.mock_server.serving.kept_state import KeptState

DEFAULT_WAREHOUSE = "warehouse"

ON_DEMAND_WAREHOUSES_MAX = 10_000
"""How many warehouses there may be before requests for new names open no more."""

WAREHOUSE_NAME_BYTES_MAX = 512
"""How long, in UTF-8, the name of a warehouse on demand may be."""


class WarehouseDeclaration(msgspec.Struct, frozen=True):
    """A warehouse that a server has from the start.

    `prefix` None derives the path prefix from the name; "" serves the routes without a prefix.
    `location` is a URI or a directory; None puts it under the server's root. At `s3://…` it is in
    the server's own object store (extra `s3`), unless `vending` has credentials for another one.
    `defaults` and `overrides` are added to the answers of GET /v1/config for it. `vending` None:
    tables come with the server's credentials for all warehouses, if any. `table_locations` None: as
    for all others. TypeError for a setting that is no text: the document has no others.
    """

    name: str
    prefix: str | None = None
    location: str | None = None
    defaults: Mapping[str, str] = {}
    overrides: Mapping[str, str] = {}
    vending: VendingSettings | None = None
    table_locations: str | None = None

    def __post_init__(self) -> None:
        for kind in ("defaults", "overrides"):
            for name, value in getattr(self, kind).items():
                if not (isinstance(name, str) and isinstance(value, str)):
                    raise TypeError(
                        f"the {kind} of warehouse {self.name!r} are texts: write "
                        f"{str(value).lower()!r} for {name!r}, not {value!r}"
                    )


class Warehouse:
    """One tenant: its present state, and the lock under which the state is replaced.

    `state` may be read without the lock at any time: it is one immutable value. `announced`: the
    prefix is served, because it was declared or a client has asked for its warehouse by name.
    `removed`: the server has forgotten it, and nothing is published any more.
    """

    __slots__ = (
        "announced", "context", "declaration", "kept", "lock", "name", "prefix", "removed", "state",
    )  # fmt: skip

    def __init__(
        self,
        declaration: WarehouseDeclaration,
        prefix: str,
        context: Context,
        kept: KeptState | None = None,
    ) -> None:
        self.declaration = declaration
        self.name = declaration.name  # as clients give it as `warehouse`
        self.prefix = prefix
        self.context = context
        self.lock = threading.Lock()
        self.kept = kept
        self.state = WarehouseState() if kept is None else kept.state_of(self.name, context)
        self.announced = False
        self.removed = False

    @property
    def is_kept(self) -> bool:
        """Whether the next server begins with what it holds, read from its metadata files."""
        return self.kept is not None


def publish_states(states: Collection[tuple[Warehouse, WarehouseState]]) -> None:
    """Replace the states of warehouses of one server, under their locks.

    OSError if one that is to be kept cannot be; none is replaced then.
    """
    kept = [(each, state) for each, state in states if each.kept is not None]
    if kept and (file := kept[0][0].kept) is not None:
        file.record((each.name, each.state, state) for each, state in kept)
    for warehouse, state in states:
        warehouse.state = state


class Warehouses:
    """Finds warehouses by name and by path prefix.

    `generation` changes with every warehouse that is added or removed.

    Without declarations every requested name opens a warehouse, and its prefix is served from then
    on. With `served_prefix` False there is one warehouse, at the routes without a prefix, and
    (undeclared) every name means it. With `kept` a warehouse begins with what it held before.
    """

    def __init__(
        self,
        declared: Iterable[str | WarehouseDeclaration] | None,
        new_context: Callable[["Warehouses", WarehouseDeclaration], Context],
        *,
        served_prefix: bool = True,
        kept: KeptState | None = None,
    ) -> None:
        declarations = None if declared is None else [_declaration(each) for each in declared]
        self.on_demand = declarations is None
        self._new_context = new_context
        self._served_prefix = served_prefix
        self._kept = kept
        self._lock = threading.Lock()
        self._by_name: dict[str, Warehouse] = {}
        self._by_prefix: dict[str, Warehouse] = {}
        self.prefix_segments_max = 1
        self.generation = 0
        if declarations is not None:
            if not declarations or (len(declarations) > 1 and not served_prefix):
                raise ValueError("declare one warehouse, or several with prefixes")
            for declaration in declarations:
                self._add(declaration).announced = True
        self._declared = {each.name: each for each in declarations or ()}
        self.default_name = declarations[0].name if declarations else DEFAULT_WAREHOUSE
        for name in () if kept is None or declarations is not None else kept.warehouses:
            self.open(name)

    def open(self, name: str | None) -> Warehouse | None:
        """Return the warehouse of this name (None or "": the default one), or None.

        For the code that starts the server: on demand every name opens a warehouse, without a
        limit.
        """
        name = name or self.default_name
        if self.on_demand and not self._served_prefix:
            name = self.default_name
        found = self._opened(name)
        if found is not None:
            found.announced = True
        return found

    def declare_again(self, name: str) -> None:
        """Open the warehouse of this name again, if it was declared and removed."""
        declared = self._declared.get(name)
        with self._lock:
            if declared is not None and name not in self._by_name:
                self._add(declared).announced = True

    def existing(self, name: str) -> Warehouse:
        """Return the warehouse of this name, as `open`; KeyError if there is none."""
        found = self.open(name)
        if found is None:
            raise KeyError(f"no such warehouse: {name}")
        return found

    def asked_for(self, name: str | None) -> Warehouse:
        """Return the warehouse that a client asks for; Problem 404 if there is none.

        On demand a name of up to `WAREHOUSE_NAME_BYTES_MAX` opens one, as long as there are fewer
        than `ON_DEMAND_WAREHOUSES_MAX`; Problem 400 for others. Open warehouses and the default one
        can always be had.
        """
        if self.on_demand and name and name not in self._by_name and name != self.default_name:
            if len(name.encode()) > WAREHOUSE_NAME_BYTES_MAX:
                raise bad_request(
                    f"The name of a warehouse on demand takes {WAREHOUSE_NAME_BYTES_MAX} bytes "
                    "at most"
                )
            if len(self._by_name) >= ON_DEMAND_WAREHOUSES_MAX:
                raise bad_request(
                    f"There are {ON_DEMAND_WAREHOUSES_MAX} warehouses: declare those you need"
                )
        found = self.open(name)
        if found is None:
            raise no_such_warehouse(name or "")
        return found

    def settings_of(self, name: str | None) -> WarehouseSettings:
        """Return a warehouse's settings for clients; Problem as from `asked_for`."""
        found = self.asked_for(name)
        told = found.declaration
        return WarehouseSettings(found.prefix, told.defaults, told.overrides, signs(found.context))

    def under(self, prefix: str) -> Warehouse | None:
        """Return the warehouse with exactly this path prefix; None also if it is not announced."""
        found = self._by_prefix.get(prefix)
        return found if found is not None and found.announced else None

    def unprefixed(self) -> Warehouse | None:
        """Return the warehouse at the routes without a prefix, or None if all have one.

        When warehouses are opened on demand, the default one is also found there, for clients
        that never ask for the configuration. Its prefix is not served until it is asked for.
        """
        found = self._by_prefix.get("")
        return self._opened(self.default_name) if found is None and self.on_demand else found

    def all(self) -> tuple[Warehouse, ...]:
        """Return every present warehouse, in the order of their opening."""
        return tuple(self._by_name.values())

    def known(self) -> tuple[Warehouse, ...]:
        """Return the warehouses that a client can know of: asked for, declared, or with content."""
        return tuple(each for each in self.all() if each.announced or each.state.namespaces)

    def named(self, name: str) -> Warehouse | None:
        """Return the present warehouse of this name; none is opened."""
        return self._by_name.get(name)

    def remove(self, name: str) -> None:
        """Forget a warehouse; an undeclared one comes back empty when it is asked for again."""
        with self._lock:
            found = self._by_name.pop(name, None)
            if found is not None:
                self._by_prefix.pop(found.prefix, None)
                self.generation += 1

    def _opened(self, name: str) -> Warehouse | None:
        """Return the warehouse of this name, opened if they open on demand; it is not announced."""
        found = self._by_name.get(name)
        if found is None and self.on_demand:
            with self._lock:
                found = self._by_name.get(name)
                # A name may be the prefix of a warehouse whose own name cannot stand in a path.
                is_taken = self._served_prefix and names.prefix_of(name) in self._by_prefix
                if found is None and not is_taken:
                    found = self._add(WarehouseDeclaration(name))
        return found

    def _add(self, declaration: WarehouseDeclaration) -> Warehouse:
        prefix = declaration.prefix
        if not declaration.name:
            raise ValueError("a warehouse needs a name")
        if prefix is None:
            prefix = names.prefix_of(declaration.name) if self._served_prefix else ""
        if prefix and not names.is_prefix(prefix):
            raise ValueError(f"not usable as a path prefix: {prefix!r}")
        if declaration.name in self._by_name or prefix in self._by_prefix:
            raise ValueError(f"declared twice: warehouse {declaration.name!r}, prefix {prefix!r}")
        context = self._new_context(self, declaration)
        # What is in the object store ends with the server: metadata of lost files is no table.
        kept = self._kept if context.objects is None else None
        warehouse = Warehouse(declaration, prefix, context, kept)
        self.prefix_segments_max = max(self.prefix_segments_max, prefix.count("/") + 1)
        self._by_name[declaration.name] = warehouse
        self._by_prefix[prefix] = warehouse
        self.generation += 1
        return warehouse


def _declaration(warehouse: str | WarehouseDeclaration) -> WarehouseDeclaration:
    if isinstance(warehouse, WarehouseDeclaration):
        return warehouse
    return WarehouseDeclaration(warehouse)
