"""The updates that only views have; those of properties are the same as for tables."""

from msgspec import Struct

from icecheck.mock_server.metadata.column_types import Int32
from icecheck.mock_server.metadata.requested import RequestedSchema
from icecheck.mock_server.metadata.view_builder import ViewDraft
from icecheck.mock_server.metadata.view_metadata import ViewVersion, check_view_format_version
from icecheck.mock_server.protocol.problem import bad_request
from icecheck.mock_server.updates.registry import view_update


@view_update
class AssignViewUUIDUpdate(Struct, frozen=True, gc=False, tag="assign-uuid", tag_field="action"):
    """Name the uuid that the view has; it cannot get another one."""

    uuid: str

    def apply(self, draft: ViewDraft) -> None:
        """Change nothing; refuse (400) any other uuid than the view's own."""
        actual = draft.metadata.view_uuid
        if self.uuid.lower() != actual.lower():
            raise bad_request(f"Cannot reassign uuid: {actual} != {self.uuid}")


@view_update
class UpgradeViewFormatVersionUpdate(
    Struct,
    frozen=True,
    gc=False,
    tag="upgrade-format-version",
    tag_field="action",
    rename="kebab",
):
    """Move the view to another format version, of which there is only one."""

    format_version: Int32

    def apply(self, draft: ViewDraft) -> None:
        """Change nothing; refuse (400) to lower the version or to exceed the only one."""
        present = draft.metadata.format_version
        if self.format_version < present:
            raise bad_request(f"Cannot downgrade v{present} view to v{self.format_version}")
        check_view_format_version(self.format_version)


@view_update
class AddViewSchemaUpdate(
    Struct, frozen=True, gc=False, tag="add-schema", tag_field="action", rename="kebab"
):
    """Add a schema for versions to refer to; the server decides its id.

    `last-column-id` is read and ignored.
    """

    schema: RequestedSchema
    last_column_id: Int32 | None = None

    def apply(self, draft: ViewDraft) -> None:
        """Append the schema, or reuse an equal one: then nothing changes."""
        draft.add_schema(self.schema)


@view_update
class SetViewLocationUpdate(Struct, frozen=True, gc=False, tag="set-location", tag_field="action"):
    """Move the view's base location; existing files stay where they are."""

    location: str

    def apply(self, draft: ViewDraft) -> None:
        """Store the location as it is sent; refuse (400) an empty one."""
        if not self.location:
            raise bad_request("Invalid location: empty")
        if self.location != draft.metadata.location:
            draft.change(location=self.location)


@view_update
class AddViewVersionUpdate(
    Struct, frozen=True, gc=False, tag="add-view-version", tag_field="action", rename="kebab"
):
    """Add a version, which does not make it current; its schema id may be -1, the last added."""

    view_version: ViewVersion

    def apply(self, draft: ViewDraft) -> None:
        """Append the version, or reuse an equal one; 400 for unknown schemas and bad queries."""
        draft.add_version(self.view_version)


@view_update
class SetCurrentViewVersionUpdate(
    Struct,
    frozen=True,
    gc=False,
    tag="set-current-view-version",
    tag_field="action",
    rename="kebab",
):
    """Make a version current; -1 means the one that this commit added last."""

    view_version_id: Int32

    def apply(self, draft: ViewDraft) -> None:
        """Move the pointer; refuse (400) an unknown id, and -1 if no version was added."""
        draft.set_current_version(self.view_version_id)
