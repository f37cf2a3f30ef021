"""Updates of a table's schemas."""

from msgspec import Struct, structs

from icecheck.mock_server.metadata.builder import Draft, named_id, next_id
from icecheck.mock_server.metadata.column_types import Int32
from icecheck.mock_server.metadata.requested import RequestedSchema
from icecheck.mock_server.metadata.schemas import highest_field_id, same_schema, valid_schema
from icecheck.mock_server.protocol.problem import bad_request
from icecheck.mock_server.updates.registry import table_update


@table_update
class AddSchemaUpdate(
    Struct, frozen=True, gc=False, tag="add-schema", tag_field="action", rename="kebab"
):
    """Add a schema, which does not make it current.

    The server decides the schema id; `last-column-id` is read and ignored. The client is
    responsible for a lawful evolution of the current schema.
    """

    schema: RequestedSchema
    last_column_id: Int32 | None = None

    def apply(self, draft: Draft) -> None:
        """Append the schema, or reuse an equal one: then nothing changes."""
        metadata = draft.metadata
        schema = valid_schema(self.schema, 0, metadata.format_version)
        for existing in metadata.schemas:
            if same_schema(existing, schema):
                # A schema that the table had before is not "the last added", so -1 must not find
                # it.
                is_new = existing.schema_id in draft.added_schema_ids
                draft.last_added_schema_id = existing.schema_id if is_new else None
                return
        schema_id = next_id((existing.schema_id for existing in metadata.schemas), 0)
        draft.added_schema_ids.add(schema_id)
        draft.last_added_schema_id = schema_id
        draft.change(
            schemas=(*metadata.schemas, structs.replace(schema, schema_id=schema_id)),
            last_column_id=max(metadata.last_column_id, highest_field_id(schema)),
        )


@table_update
class SetCurrentSchemaUpdate(
    Struct, frozen=True, gc=False, tag="set-current-schema", tag_field="action", rename="kebab"
):
    """Make a schema current; -1 means the one that this commit added last."""

    schema_id: Int32

    def apply(self, draft: Draft) -> None:
        """Move the pointer; refuse (400) an unknown id, and -1 if no schema was added."""
        known = [schema.schema_id for schema in draft.metadata.schemas]
        schema_id = named_id(self.schema_id, draft.last_added_schema_id, known, "schema")
        if schema_id != draft.metadata.current_schema_id:
            draft.change(current_schema_id=schema_id)


@table_update
class RemoveSchemasUpdate(
    Struct, frozen=True, gc=False, tag="remove-schemas", tag_field="action", rename="kebab"
):
    """Remove schemas that are not current; unknown ids are ignored."""

    schema_ids: tuple[Int32, ...]

    def apply(self, draft: Draft) -> None:
        """Remove; even unknown ids are a change, an empty list is none; the current one is 400."""
        if not self.schema_ids:
            return
        removed = set(self.schema_ids)
        if draft.metadata.current_schema_id in removed:
            raise bad_request("The current schema stays: it cannot be removed")
        draft.added_schema_ids -= removed
        draft.change(schemas=tuple(s for s in draft.metadata.schemas if s.schema_id not in removed))
