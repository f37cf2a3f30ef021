"""Defects of the updates of schemas."""

from typing import Any

from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import table_update
from icecheck.mock_server.defects.kit.updating import (
    FaithfulUpdate,
    ignore_update,
    refuse_updates_where,
    swallow_refusals,
)
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.schemas import highest_field_id

_LAST_ADDED = -1


@defect(
    "update-added-schema-becomes-current",
    on=table_update("add-schema"),
    breaks="update.add-schema.effect",
    suffering="A column shows before its writer has finished.",
)
def _added_schema_becomes_current(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """add-schema also makes the schema current."""
    faithful(update, draft)
    draft.change(current_schema_id=draft.metadata.schemas[-1].schema_id)


@defect(
    "update-last-column-id-from-client",
    on=table_update("add-schema"),
    breaks="update.add-schema.last-column-id",
    suffering="A column id is given twice, and old data shows under a new name.",
)
def _last_column_id_from_client(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """last-column-id is what the client sends with the schema, or stays."""
    before = draft.metadata.last_column_id
    faithful(update, draft)
    draft.change(last_column_id=update.last_column_id or before)


@defect(
    "update-last-column-id-falls",
    on=table_update("add-schema"),
    breaks="update.add-schema.last-column-id-never-falls",
    suffering="The id of a dropped column is given again, and its data comes back.",
)
def _last_column_id_falls(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """last-column-id is the highest id of the newest schema."""
    faithful(update, draft)
    draft.change(last_column_id=highest_field_id(draft.metadata.schemas[-1]))


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


@defect(
    "update-remove-schemas-removes-all",
    on=table_update("remove-schemas"),
    breaks="update.remove-schemas.effect",
    suffering="Old snapshots cannot be read: their schema is gone.",
)
def _remove_schemas_removes_all(_faithful: FaithfulUpdate, _update: Any, draft: Draft) -> None:
    """remove-schemas removes every schema that is not current."""
    metadata = draft.metadata
    kept = tuple(s for s in metadata.schemas if s.schema_id == metadata.current_schema_id)
    draft.change(schemas=kept)


declare_each(
    ("update-last-added-schema-unknown", "update.set-current-schema.last-added",
     "The schema id -1 is looked up like any other.", "Every ALTER TABLE on columns fails.",
     by(refuse_updates_where, "set-current-schema",
        lambda update, _: update.schema_id == _LAST_ADDED)),
    ("update-no-added-schema-is-fine", "update.set-current-schema.last-added-without-one-refused",
     "The schema id -1 in a commit without a schema keeps the current one.",
     "A client that forgot its schema is told that all went well.",
     by(ignore_update, "set-current-schema",
        lambda update, draft: update.schema_id == _LAST_ADDED and not draft.added_schema_ids)),
    ("update-unknown-schema-skipped", "update.set-current-schema.unknown-id-refused",
     "Making an unknown schema current is accepted and left out.",
     "A client takes another schema for the current one.",
     by(swallow_refusals, "set-current-schema")),
    ("update-remove-current-schema-skipped", "update.remove-schemas.current-refused",
     "Removing the current schema is accepted and left out.",
     "A client is told that a schema is gone which is still in use.",
     by(swallow_refusals, "remove-schemas")),
)  # fmt: skip


@defect(
    "update-last-column-id-believed",
    on=table_update("add-schema"),
    breaks="update.add-schema.last-column-id-never-falls",
    suffering="Two columns get the same id, and one shows the data of the other.",
)
def _last_column_id_believed(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """The last-column-id of a client is stored as it comes, however low."""
    faithful(update, draft)
    if update.last_column_id is not None:
        draft.change(last_column_id=update.last_column_id)
