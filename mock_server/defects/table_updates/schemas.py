"""Defects of the updates of schemas."""

from typing import Any

from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import table_update
from icecheck.mock_server.defects.kit.updating import (
    FaithfulUpdate,
    alter_update,
    change_also,
    ignore_update,
    refuse_updates_where,
    swallow_refusals,
)
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.schemas import highest_field_id

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
