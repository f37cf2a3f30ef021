"""Defects of the updates of schemas."""

from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import table_update
from icecheck.mock_server.defects.kit.requests import sent_json, with_members
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.defects.kit.updating import (
    FaithfulUpdate,
    alter_update,
    alter_version,
    change_also,
    refuse_updates_where,
    store_minus_one,
    swallow_refusals,
)
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.metadata.schemas import highest_field_id
from icecheck.mock_server.protocol.problem import Problem, bad_request

_LAST_ADDED = -1


@defect(
    "update-last-added-schema-is-the-first",
    on=table_update("set-current-schema"),
    breaks="update.set-current-schema.last-added",
    suffering="A statement that adds two columns adds one.",
)
def _last_added_schema_is_the_first(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """The schema id -1 means the first schema that the commit added."""
    if update.schema_id == _LAST_ADDED and draft.added_schema_ids:
        draft.change(current_schema_id=min(draft.added_schema_ids))
    else:
        faithful(update, draft)


declare_each(
    ("update-added-schema-becomes-current", "update.add-schema.effect",
     "add-schema also makes the schema current.", "A column shows before its writer has finished.",
     by(change_also, "add-schema",
        lambda _, after, _update: {"current_schema_id": after.schemas[-1].schema_id})),
    ("update-last-column-id-from-client", "update.add-schema.last-column-id",
     "last-column-id is what the client sends with the schema, or stays.",
     "A column id is given twice, and old data shows under a new name.",
     by(
         change_also,
         "add-schema",
         lambda before, _, update: {
             "last_column_id": update.last_column_id or before.last_column_id
         },
     )),
    ("update-last-column-id-falls", "update.add-schema.last-column-id-never-falls",
     "last-column-id is the highest id of the newest schema.",
     "The id of a dropped column is given again, and its data comes back.",
     by(change_also, "add-schema",
        lambda _, after, _update: {"last_column_id": highest_field_id(after.schemas[-1])})),
    ("update-remove-schemas-removes-all", "update.remove-schemas.effect",
     "remove-schemas removes every schema that is not current.",
     "Old snapshots cannot be read: their schema is gone.",
     by(
         alter_update,
         "remove-schemas",
         lambda _faithful, _update, draft: draft.change(
             schemas=tuple(
                 each
                 for each in draft.metadata.schemas
                 if each.schema_id == draft.metadata.current_schema_id
             )
         ),
     )),
    ("update-last-added-schema-unknown", "update.set-current-schema.last-added",
     "The schema id -1 is looked up like any other.", "Every ALTER TABLE on columns fails.",
     by(refuse_updates_where, "set-current-schema",
        lambda update, _: update.schema_id == _LAST_ADDED)),
    ("update-minus-one-is-a-schema", "update.set-current-schema.last-added-without-one-refused",
     "The schema id -1 in a commit without a schema is stored as it comes.",
     "No client finds the current schema of the table.",
     by(store_minus_one, "set-current-schema", "schema_id", "current_schema_id",
        "added_schema_ids")),
    ("update-unknown-schema-skipped", "update.set-current-schema.unknown-id-refused",
     "Making an unknown schema current is accepted and left out.",
     "A client takes another schema for the current one.",
     by(swallow_refusals, "set-current-schema")),
    ("update-remove-current-schema-skipped", "update.remove-schemas.current-refused",
     "Removing the current schema is accepted and left out.",
     "A client is told that a schema is gone which is still in use.",
     by(swallow_refusals, "remove-schemas")),
    ("update-last-column-id-believed", "update.add-schema.last-column-id-never-falls",
     "The last-column-id of a client is stored as it comes, however low.",
     "Two columns get the same id, and one shows the data of the other.",
     by(
         change_also,
         "add-schema",
         lambda _, after, update: {
             "last_column_id": after.last_column_id
             if update.last_column_id is None
             else update.last_column_id
         },
     )),
)  # fmt: skip


# ---- a column that a layout uses


def make_narrower_schemas_current(registries: Registries) -> None:
    """Make a new schema current without a look at the specs and sort orders of the table."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as problem:
            if "has no source" not in problem.message:
                raise
            updates = sent_json(call)["updates"]
            added = [each for each in updates if each["action"] != "set-current-schema"]
            return faithful(state, with_members(call, updates=added))

    def made_current(_: TableMetadata | None, after: TableMetadata) -> TableMetadata:
        narrower = structs.replace(after, current_schema_id=after.schemas[-1].schema_id)
        return narrower if _lacks_column(narrower) else after

    wrap(registries, "updateTable", around)
    alter_version(registries, made_current)


def _lacks_column(metadata: TableMetadata) -> bool:
    """Return whether the current schema lacks a column of the default spec or sort order."""
    (schema,) = (s for s in metadata.schemas if s.schema_id == metadata.current_schema_id)
    (spec,) = (s for s in metadata.partition_specs if s.spec_id == metadata.default_spec_id)
    (order,) = (o for o in metadata.sort_orders if o.order_id == metadata.default_sort_order_id)
    used = {f.source_id for f in spec.fields} | {f.source_id for f in order.fields}
    return not used <= {field.id for field in schema.fields}


@defect(
    "update-layout-without-its-column",
    breaks="update.set-current-schema.column-of-layout",
    suffering="After ALTER TABLE … DROP COLUMN no engine can open the table.",
)
def _layout_without_its_column(registries: Registries) -> None:
    """A table whose spec or sort order names a dropped column is written and cannot be read."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        if entry is not None and _lacks_column(entry.metadata):
            raise bad_request("Cannot find source column for a field")
        return faithful(state, call)

    make_narrower_schemas_current(registries)
    wrap(registries, "loadTable", around)


@defect(
    "update-layout-goes-with-its-column",
    breaks="update.set-current-schema.column-of-layout",
    suffering="Files are read with a spec that they were not written with.",
)
def _layout_goes_with_its_column(registries: Registries) -> None:
    """Dropping a column of a spec or sort order empties that in silence."""

    def emptied(_: TableMetadata | None, after: TableMetadata) -> TableMetadata:
        if not _lacks_column(after):
            return after
        orders = tuple(structs.replace(each, fields=()) for each in after.sort_orders)
        specs = tuple(structs.replace(each, fields=()) for each in after.partition_specs)
        return structs.replace(after, sort_orders=orders, partition_specs=specs)

    make_narrower_schemas_current(registries)
    alter_version(registries, emptied)
