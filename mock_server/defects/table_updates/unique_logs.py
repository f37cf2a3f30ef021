"""Defects of logs with too narrow a unique key: a value that was replaced cannot come back."""

from collections.abc import Callable, MutableMapping
from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.remembering import remembering
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.metadata.model import MAIN_BRANCH
from icecheck.mock_server.protocol.problem import Problem

Updates = MutableMapping[str, Callable[[Any, Any], None]]
Read = Callable[[Any], Any]


def _never_again(
    registries: Registries, registry: str, action: str, value: Read, *, refused: bool = False
) -> None:
    """Ignore an update that restores a replaced value, or answer 500 if `refused`.

    `value` reads the changed value from the metadata of a table or view; `registry` is "updates"
    or "view_updates".
    """
    updates: Updates = getattr(registries, registry)
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


declare_each(
    ("schema-never-current-again", "update.set-current-schema.effect",
     "The log of current schemas has a unique key on the schema: an earlier one stays earlier.",
     "A change of columns that was a mistake cannot be taken back.",
     by(_never_again, "updates", "set-current-schema", lambda m: m.current_schema_id)),
    ("spec-never-default-again", "update.set-default-spec.effect",
     "The log of default specs has a unique key on the spec: an earlier one stays earlier.",
     "A table goes on being partitioned in a way that its owner took back.",
     by(_never_again, "updates", "set-default-spec", lambda m: m.default_spec_id)),
    ("sort-order-never-default-again", "update.set-default-sort-order.effect",
     "The log of default sort orders has a unique key on the order, and breaks down over it.",
     "ALTER TABLE WRITE ORDERED BY fails for an order that the table had before.",
     by(_never_again, "updates", "set-default-sort-order", lambda m: m.default_sort_order_id,
        refused=True)),
    ("main-never-rolled-back", "update.set-snapshot-ref.effect",
     "Main moves to snapshots that it did not have before; all else is taken for a replay.",
     "CALL rollback_to_snapshot says that it is done, and bad rows stay.",
     by(_never_again, "updates", "set-snapshot-ref", _main)),
    ("property-never-again", "update.set-properties.effect",
     "The log of properties has a unique key on their values: earlier ones do not come back.",
     "A setting that was tried and taken back stays as it was tried.",
     by(_never_again, "updates", "set-properties", _property_values)),
    ("location-never-again", "update.set-location.effect",
     "A location that a table has had is taken, by that table.",
     "A table that was moved by mistake cannot be moved back.",
     by(_never_again, "updates", "set-location", lambda m: m.location)),
    ("view-version-never-current-again", "view-update.set-current-view-version.effect",
     "The log of a view's versions has a unique key on the version, and breaks down over it.",
     "CREATE OR REPLACE VIEW fails with a definition that the view had before.",
     by(_never_again, "view_updates", "set-current-view-version", lambda m: m.current_version_id,
        refused=True)),
    ("view-property-never-again", "view-update.set-properties.effect",
     "Values that the properties of a view had before do not come back.",
     "ALTER VIEW SET TBLPROPERTIES does nothing with a value that was there before.",
     by(_never_again, "view_updates", "set-properties", _property_values)),
    ("view-location-never-again", "view-update.set-location.effect",
     "A location that a view has had is taken, by that view.",
     "A view that was moved by mistake cannot be moved back.",
     by(_never_again, "view_updates", "set-location", lambda m: m.location)),
)  # fmt: skip


@defect(
    "namespace-property-never-again",
    on=remembering(set, wrap, "updateProperties"),
    breaks="updateProperties.set",
    suffering="The owner of a namespace cannot become its owner again.",
)
def _namespace_property(
    known: set[tuple[Any, ...]], faithful: Faithful, state: WarehouseState, call: Call
) -> Outcome:
    """A value that a namespace's property had is known already, and not stored once more."""
    outcome = faithful(state, call)
    updates = sent_json(call).get("updates") or {}
    named = {(faithful.context.warehouse, call.namespace, *each) for each in updates.items()}
    again = bool(named & known)
    known.update(named)
    return structs.replace(outcome, state=state) if again else outcome
