"""The assertions of a commit: one class per requirement type, checked against the base."""

from typing import Any, TypeAlias, get_args

from msgspec import Struct

from icecheck.mock_server.metadata.column_types import Int32, Int64
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.metadata.view_metadata import ViewMetadata
from icecheck.mock_server.protocol.problem import Problem, commit_failed


class AssertCreate(Struct, frozen=True, gc=False, tag="assert-create", tag_field="type"):
    """Asserts that the table does not exist yet."""

    def check(self, metadata: TableMetadata | None) -> None:
        """Refuse (409) when there is a table."""
        if metadata is not None:
            raise _failed("table already exists")


class AssertTableUUID(Struct, frozen=True, gc=False, tag="assert-table-uuid", tag_field="type"):
    """Asserts the uuid of the table; upper and lower case are the same."""

    uuid: str

    def check(self, metadata: TableMetadata | None) -> None:
        """Refuse (409) when the table has another uuid."""
        actual = _existing(metadata).table_uuid
        if actual.lower() != self.uuid.lower():
            raise _failed(f"UUID does not match: expected {actual} != {self.uuid}")


class AssertRefSnapshotId(
    Struct,
    frozen=True,
    gc=False,
    tag="assert-ref-snapshot-id",
    tag_field="type",
    rename="kebab",
):
    """Asserts the snapshot of a branch or tag; null asserts that the ref does not exist."""

    ref: str
    snapshot_id: Int64 | None

    def check(self, metadata: TableMetadata | None) -> None:
        """Refuse (409) when the ref is elsewhere, is missing, or exists unexpectedly."""
        ref = _existing(metadata).refs.get(self.ref)
        if ref is None:
            if self.snapshot_id is not None:
                raise _failed(f"branch or tag {self.ref} is missing, expected {self.snapshot_id}")
        elif self.snapshot_id is None:
            raise _failed(f"{ref.type} {self.ref} was created concurrently")
        elif ref.snapshot_id != self.snapshot_id:
            raise _failed(
                f"{ref.type} {self.ref} has changed: "
                f"expected id {self.snapshot_id} != {ref.snapshot_id}"
            )


class AssertLastAssignedFieldId(
    Struct,
    frozen=True,
    gc=False,
    tag="assert-last-assigned-field-id",
    tag_field="type",
    rename="kebab",
):
    """Asserts the table's last-column-id: no column id was assigned since."""

    last_assigned_field_id: Int32

    def check(self, metadata: TableMetadata | None) -> None:
        """Refuse (409) when the table's last-column-id differs."""
        _check_id(
            "last assigned field id",
            self.last_assigned_field_id,
            _existing(metadata).last_column_id,
        )


class AssertCurrentSchemaId(
    Struct,
    frozen=True,
    gc=False,
    tag="assert-current-schema-id",
    tag_field="type",
    rename="kebab",
):
    """Asserts the id of the current schema."""

    current_schema_id: Int32

    def check(self, metadata: TableMetadata | None) -> None:
        """Refuse (409) when another schema is current."""
        _check_id("current schema", self.current_schema_id, _existing(metadata).current_schema_id)


class AssertLastAssignedPartitionId(
    Struct,
    frozen=True,
    gc=False,
    tag="assert-last-assigned-partition-id",
    tag_field="type",
    rename="kebab",
):
    """Asserts the table's last-partition-id: no partition field id was assigned since."""

    last_assigned_partition_id: Int32

    def check(self, metadata: TableMetadata | None) -> None:
        """Refuse (409) when the table's last-partition-id differs."""
        _check_id(
            "last assigned partition id",
            self.last_assigned_partition_id,
            _existing(metadata).last_partition_id,
        )


class AssertDefaultSpecId(
    Struct,
    frozen=True,
    gc=False,
    tag="assert-default-spec-id",
    tag_field="type",
    rename="kebab",
):
    """Asserts the id of the default partition spec."""

    default_spec_id: Int32

    def check(self, metadata: TableMetadata | None) -> None:
        """Refuse (409) when another spec is the default."""
        _check_id(
            "default partition spec", self.default_spec_id, _existing(metadata).default_spec_id
        )


class AssertDefaultSortOrderId(
    Struct,
    frozen=True,
    gc=False,
    tag="assert-default-sort-order-id",
    tag_field="type",
    rename="kebab",
):
    """Asserts the id of the default sort order."""

    default_sort_order_id: Int32

    def check(self, metadata: TableMetadata | None) -> None:
        """Refuse (409) when another sort order is the default."""
        _check_id(
            "default sort order",
            self.default_sort_order_id,
            _existing(metadata).default_sort_order_id,
        )


class AssertViewUUID(Struct, frozen=True, gc=False, tag="assert-view-uuid", tag_field="type"):
    """Asserts the uuid of the view; upper and lower case are the same."""

    uuid: str

    def check(self, metadata: ViewMetadata) -> None:
        """Refuse (409) when the view has another uuid."""
        actual = metadata.view_uuid
        if actual.lower() != self.uuid.lower():
            raise _failed(f"view UUID does not match: expected {actual} != {self.uuid}")


TableRequirement: TypeAlias = (
    AssertCreate
    | AssertTableUUID
    | AssertRefSnapshotId
    | AssertLastAssignedFieldId
    | AssertCurrentSchemaId
    | AssertLastAssignedPartitionId
    | AssertDefaultSpecId
    | AssertDefaultSortOrderId
)

ASSERTIONS: dict[str, type[Any]] = {
    str(assertion.__struct_config__.tag): assertion for assertion in get_args(TableRequirement)
}
"""Requirement type to class, for every assertion of a table commit."""

VIEW_ASSERTIONS: dict[str, type[Any]] = {"assert-view-uuid": AssertViewUUID}
"""Requirement type to class, for every assertion of a view commit."""


def _failed(why: str) -> Problem:
    return commit_failed(f"Requirement failed: {why}")


def _existing(metadata: TableMetadata | None) -> TableMetadata:
    if metadata is None:
        raise _failed("table does not exist")
    return metadata


def _check_id(what: str, expected: int, actual: int) -> None:
    if expected != actual:
        raise _failed(f"{what} changed: expected id {expected} != {actual}")
