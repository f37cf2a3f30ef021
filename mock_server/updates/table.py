"""Updates of a table's identity, format version and location, and of anything's properties."""

from typing import Any, Protocol

from msgspec import Struct

from icecheck.mock_server.metadata.builder import Draft, canonical_location
from icecheck.mock_server.metadata.column_types import Int32
from icecheck.mock_server.metadata.invariants import check_format_version
from icecheck.mock_server.protocol.problem import bad_request
from icecheck.mock_server.updates.registry import table_update, view_update


class HasProperties(Protocol):
    """Metadata of a table or of a view."""

    @property
    def properties(self) -> dict[str, str]:
        """Its properties."""


class PropertiesDraft(Protocol):
    """The draft of a table or of a view."""

    @property
    def metadata(self) -> HasProperties:
        """The present value."""

    def change(self, **members: Any) -> None:
        """Replace members of the metadata."""


@table_update
class AssignUUIDUpdate(Struct, frozen=True, gc=False, tag="assign-uuid", tag_field="action"):
    """Give a new table its uuid; on an existing table only the uuid it has is accepted."""

    uuid: str

    def apply(self, draft: Draft) -> None:
        """Set the uuid of a table in creation; refuse (400) to give a table another one."""
        if self.uuid.lower() == draft.metadata.table_uuid.lower():
            return
        if not draft.is_new_table:
            raise bad_request(
                f"The table has another uuid: {draft.metadata.table_uuid}, not {self.uuid}"
            )
        if not self.uuid:
            raise bad_request("Cannot set uuid: empty")
        draft.change(table_uuid=self.uuid)


@table_update
class UpgradeFormatVersionUpdate(
    Struct,
    frozen=True,
    gc=False,
    tag="upgrade-format-version",
    tag_field="action",
    rename="kebab",
):
    """Move the table to a higher format version; versions may be skipped."""

    format_version: Int32

    def apply(self, draft: Draft) -> None:
        """Raise the version; refuse (400) to lower it or to exceed the document's highest."""
        present = draft.metadata.format_version
        if self.format_version == present:
            return
        check_format_version(self.format_version)
        if self.format_version < present:
            raise bad_request(f"A v{present} table cannot go back to v{self.format_version}")
        draft.change(format_version=self.format_version)


@table_update
class SetLocationUpdate(Struct, frozen=True, gc=False, tag="set-location", tag_field="action"):
    """Move the table's base location; existing files stay where they are."""

    location: str

    def apply(self, draft: Draft) -> None:
        """Store the location without trailing slashes; refuse (400) an empty one."""
        location = canonical_location(self.location)
        if self.location != draft.metadata.location:
            draft.change(location=location)


@table_update
@view_update
class SetPropertiesUpdate(Struct, frozen=True, gc=False, tag="set-properties", tag_field="action"):
    """Add and overwrite properties; no key is special here."""

    updates: dict[str, str]

    def apply(self, draft: PropertiesDraft) -> None:
        """Merge; even equal values are a change, an empty map is none."""
        if self.updates:
            draft.change(properties={**draft.metadata.properties, **self.updates})


@table_update
@view_update
class RemovePropertiesUpdate(
    Struct, frozen=True, gc=False, tag="remove-properties", tag_field="action"
):
    """Remove properties; keys that are not there are ignored."""

    removals: tuple[str, ...]

    def apply(self, draft: PropertiesDraft) -> None:
        """Remove; even unknown keys are a change, an empty list is none."""
        if not self.removals:
            return
        removed = set(self.removals)
        kept = {k: v for k, v in draft.metadata.properties.items() if k not in removed}
        draft.change(properties=kept)
