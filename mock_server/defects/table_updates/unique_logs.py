"""Defects of logs with too narrow a unique key: a value that was replaced cannot come back."""

from collections.abc import Callable, MutableMapping
from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import defect
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.metadata.model import MAIN_BRANCH
from icecheck.mock_server.protocol.problem import Problem

Updates = MutableMapping[str, Callable[[Any, Any], None]]
Read = Callable[[Any], Any]


def _never_again(updates: Updates, action: str, value: Read, *, refused: bool = False) -> None:
    """Ignore an update that restores a replaced value, or answer 500 if `refused`.

    `value` reads the changed value from the metadata of a table or view.
    """
    faithful = updates[action]
    replaced: set[tuple[str, Any]] = set()

    def apply(update: Any, draft: Any) -> None:
        before = draft.metadata
        uuid = str(getattr(before, "table_uuid", None) or getattr(before, "view_uuid", ""))
        faithful(update, draft)
        was, now = value(before), value(draft.metadata)
        if was == now:
            return
        if (uuid, now) not in replaced:
            replaced.add((uuid, was))
        elif refused:
            raise Problem(500, "DatabaseError", "duplicate key value violates a unique constraint")
        else:
            draft.metadata = before

    updates[action] = apply


def _property_values(metadata: Any) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(metadata.properties.items()))


def _main(metadata: Any) -> Any:
    main = metadata.refs.get(MAIN_BRANCH)
    return None if main is None else main.snapshot_id


@defect(
    "schema-never-current-again",
    breaks="update.set-current-schema.effect",
    suffering="A change of columns that was a mistake cannot be taken back.",
)
def _schema(registries: Registries) -> None:
    """The log of current schemas has a unique key on the schema: an earlier one stays earlier."""
    _never_again(registries.updates, "set-current-schema", lambda m: m.current_schema_id)


@defect(
    "spec-never-default-again",
    breaks="update.set-default-spec.effect",
    suffering="A table goes on being partitioned in a way that its owner took back.",
)
def _spec(registries: Registries) -> None:
    """The log of default specs has a unique key on the spec: an earlier one stays earlier."""
    _never_again(registries.updates, "set-default-spec", lambda m: m.default_spec_id)


@defect(
    "sort-order-never-default-again",
    breaks="update.set-default-sort-order.effect",
    suffering="ALTER TABLE WRITE ORDERED BY fails for an order that the table had before.",
)
def _order(registries: Registries) -> None:
    """The log of default sort orders has a unique key on the order, and breaks down over it."""
    _never_again(
        registries.updates,
        "set-default-sort-order",
        lambda m: m.default_sort_order_id,
        refused=True,
    )


@defect(
    "main-never-rolled-back",
    breaks="update.set-snapshot-ref.effect",
    suffering="CALL rollback_to_snapshot says that it is done, and bad rows stay.",
)
def _rolled_back(registries: Registries) -> None:
    """Main moves to snapshots that it did not have before; all else is taken for a replay."""
    _never_again(registries.updates, "set-snapshot-ref", _main)


@defect(
    "property-never-again",
    breaks="update.set-properties.effect",
    suffering="A setting that was tried and taken back stays as it was tried.",
)
def _property(registries: Registries) -> None:
    """The log of properties has a unique key on their values: earlier ones do not come back."""
    _never_again(registries.updates, "set-properties", _property_values)


@defect(
    "location-never-again",
    breaks="update.set-location.effect",
    suffering="A table that was moved by mistake cannot be moved back.",
)
def _location(registries: Registries) -> None:
    """A location that a table has had is taken, by that table."""
    _never_again(registries.updates, "set-location", lambda m: m.location)


@defect(
    "view-version-never-current-again",
    breaks="view-update.set-current-view-version.effect",
    suffering="CREATE OR REPLACE VIEW fails with a definition that the view had before.",
)
def _view_version(registries: Registries) -> None:
    """The log of a view's versions has a unique key on the version, and breaks down over it."""
    _never_again(
        registries.view_updates,
        "set-current-view-version",
        lambda m: m.current_version_id,
        refused=True,
    )


@defect(
    "view-property-never-again",
    breaks="view-update.set-properties.effect",
    suffering="ALTER VIEW SET TBLPROPERTIES does nothing with a value that was there before.",
)
def _view_property(registries: Registries) -> None:
    """Values that the properties of a view had before do not come back."""
    _never_again(registries.view_updates, "set-properties", _property_values)


@defect(
    "view-location-never-again",
    breaks="view-update.set-location.effect",
    suffering="A view that was moved by mistake cannot be moved back.",
)
def _view_location(registries: Registries) -> None:
    """A location that a view has had is taken, by that view."""
    _never_again(registries.view_updates, "set-location", lambda m: m.location)


@defect(
    "namespace-property-never-again",
    breaks="updateProperties.set",
    suffering="The owner of a namespace cannot become its owner again.",
)
def _namespace_property(registries: Registries) -> None:
    """A value that a namespace's property had is known already, and not stored once more."""
    known: set[tuple[Any, ...]] = set()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        updates = sent_json(call).get("updates") or {}
        named = {(faithful.context.warehouse, call.namespace, *each) for each in updates.items()}
        again = bool(named & known)
        known.update(named)
        return structs.replace(outcome, state=state) if again else outcome

    wrap(registries, "updateProperties", around)
