"""Ways in which servers get updates of schemas wrong."""

from typing import Any

from icecheck.mock_server.builder import Draft
from icecheck.mock_server.context import Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.versions import (
    Faithful,
    alter_update,
    ignore_update,
    swallow_refusals,
)
from icecheck.mock_server.problem import bad_request
from icecheck.mock_server.schemas import highest_field_id

_LAST_ADDED = -1


@defect(
    "update-added-schema-becomes-current",
    breaks="update.add-schema.effect",
    suffering="A column shows before its writer has finished.",
)
def _added_schema_becomes_current(registries: Registries) -> None:
    """add-schema also makes the schema current."""

    def current(faithful: Faithful, update: Any, draft: Draft) -> None:
        faithful(update, draft)
        draft.change(current_schema_id=draft.metadata.schemas[-1].schema_id)

    alter_update(registries, "add-schema", current)


@defect(
    "update-last-column-id-from-client",
    breaks="update.add-schema.last-column-id",
    suffering="A column id is given twice, and old data shows under a new name.",
)
def _last_column_id_from_client(registries: Registries) -> None:
    """last-column-id is what the client sends with the schema, or stays."""

    def as_sent(faithful: Faithful, update: Any, draft: Draft) -> None:
        before = draft.metadata.last_column_id
        faithful(update, draft)
        draft.change(last_column_id=update.last_column_id or before)

    alter_update(registries, "add-schema", as_sent)


@defect(
    "update-last-column-id-falls",
    breaks="update.add-schema.last-column-id-never-falls",
    suffering="The id of a dropped column is given again, and its data comes back.",
)
def _last_column_id_falls(registries: Registries) -> None:
    """last-column-id is the highest id of the newest schema."""

    def highest(faithful: Faithful, update: Any, draft: Draft) -> None:
        faithful(update, draft)
        draft.change(last_column_id=highest_field_id(draft.metadata.schemas[-1]))

    alter_update(registries, "add-schema", highest)


@defect(
    "update-last-added-schema-unknown",
    breaks="update.set-current-schema.last-added",
    suffering="Every ALTER TABLE on columns fails.",
)
def _last_added_schema_unknown(registries: Registries) -> None:
    """The schema id -1 is looked up like any other."""

    def looked_up(faithful: Faithful, update: Any, draft: Draft) -> None:
        if update.schema_id == _LAST_ADDED:
            raise bad_request("Cannot set current schema to unknown schema: -1")
        faithful(update, draft)

    alter_update(registries, "set-current-schema", looked_up)


@defect(
    "update-last-added-schema-is-the-first",
    breaks="update.set-current-schema.last-added",
    suffering="A statement that adds two columns adds one.",
)
def _last_added_schema_is_the_first(registries: Registries) -> None:
    """The schema id -1 means the first schema that the commit added."""

    def first(faithful: Faithful, update: Any, draft: Draft) -> None:
        if update.schema_id == _LAST_ADDED and draft.added_schema_ids:
            draft.change(current_schema_id=min(draft.added_schema_ids))
        else:
            faithful(update, draft)

    alter_update(registries, "set-current-schema", first)


@defect(
    "update-no-added-schema-is-fine",
    breaks="update.set-current-schema.last-added-without-one-refused",
    suffering="A client that forgot its schema is told that all went well.",
)
def _no_added_schema_is_fine(registries: Registries) -> None:
    """The schema id -1 in a commit without a schema keeps the current one."""
    ignore_update(
        registries,
        "set-current-schema",
        lambda update, draft: update.schema_id == _LAST_ADDED and not draft.added_schema_ids,
    )


@defect(
    "update-unknown-schema-skipped",
    breaks="update.set-current-schema.unknown-id-refused",
    suffering="A client takes another schema for the current one.",
)
def _unknown_schema_skipped(registries: Registries) -> None:
    """Making an unknown schema current is accepted and left out."""
    swallow_refusals(registries, "set-current-schema")


@defect(
    "update-remove-schemas-removes-all",
    breaks="update.remove-schemas.effect",
    suffering="Old snapshots cannot be read: their schema is gone.",
)
def _remove_schemas_removes_all(registries: Registries) -> None:
    """remove-schemas removes every schema that is not current."""

    def all_others(_faithful: Faithful, _update: Any, draft: Draft) -> None:
        metadata = draft.metadata
        kept = tuple(s for s in metadata.schemas if s.schema_id == metadata.current_schema_id)
        draft.change(schemas=kept)

    alter_update(registries, "remove-schemas", all_others)


@defect(
    "update-remove-current-schema-skipped",
    breaks="update.remove-schemas.current-refused",
    suffering="A client is told that a schema is gone which is still in use.",
)
def _remove_current_schema_skipped(registries: Registries) -> None:
    """Removing the current schema is accepted and left out."""
    swallow_refusals(registries, "remove-schemas")
