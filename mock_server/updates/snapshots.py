"""Updates of a table's snapshots and of the branches and tags that name them."""

from typing import Literal

from msgspec import Struct, structs

from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.column_types import Int32, Int64
from icecheck.mock_server.metadata.invariants import check_ref
from icecheck.mock_server.metadata.model import Snapshot, SnapshotRef, TableMetadata
from icecheck.mock_server.protocol.problem import bad_request
from icecheck.mock_server.updates.registry import table_update

_OPERATIONS = frozenset({"append", "replace", "overwrite", "delete"})
_ROW_LINEAGE_SINCE = 3
_INT64_MAX = 2**63 - 1


@table_update
class AddSnapshotUpdate(Struct, frozen=True, gc=False, tag="add-snapshot", tag_field="action"):
    """Add a snapshot, which makes no ref point at it."""

    snapshot: Snapshot

    def apply(self, draft: Draft) -> None:
        """Append the snapshot; refuse (400) a used id and numbers that fall behind the table."""
        metadata, snapshot = draft.metadata, self.snapshot
        if not (metadata.schemas and metadata.partition_specs and metadata.sort_orders):
            raise bad_request("A snapshot needs a schema, a spec and a sort order before it")
        if draft.has_snapshot(snapshot.snapshot_id):
            raise bad_request(f"Snapshot id is taken: {snapshot.snapshot_id}")
        _check_content(snapshot, metadata.format_version)
        _check_rows(snapshot)
        _check_sequence_number(snapshot, metadata)
        draft.add_snapshot(
            _as_kept(snapshot),
            last_sequence_number=snapshot.sequence_number,
            next_row_id=_next_row_id(snapshot, metadata),
        )


def _check_content(snapshot: Snapshot, format_version: int) -> None:
    # Version 1 may list manifests in place and have no summary; the document, which demands both
    # manifest-list and summary.operation, describes what newer versions write.
    if snapshot.manifest_list is None and (format_version > 1 or snapshot.manifests is None):
        raise bad_request(f"Invalid snapshot {snapshot.snapshot_id}: missing manifest-list")
    if not isinstance(snapshot.summary, dict):
        if format_version > 1:
            raise bad_request(f"Invalid snapshot {snapshot.snapshot_id}: missing summary")
        return
    operation = snapshot.summary.get("operation")
    if operation not in _OPERATIONS:
        raise bad_request(
            f"Invalid snapshot {snapshot.snapshot_id}: summary.operation is {operation!r}"
        )


def _as_kept(snapshot: Snapshot) -> Snapshot:
    """Leave out members that Java clients would lose when they write the table's metadata again."""
    if snapshot.manifest_list is None:
        return structs.replace(snapshot, first_row_id=None, added_rows=None, key_id=None)
    added_rows = None if snapshot.first_row_id is None else snapshot.added_rows
    return structs.replace(snapshot, manifests=None, added_rows=added_rows)


def _check_rows(snapshot: Snapshot) -> None:
    # Java clients read no metadata with other values here, in any format version.
    first, added = snapshot.first_row_id, snapshot.added_rows
    refusal = f"Invalid snapshot {snapshot.snapshot_id}: "
    if first is not None and first < 0:
        raise bad_request(f"{refusal}first-row-id is negative: {first}")
    if added is not None and added < 0:
        raise bad_request(f"{refusal}added-rows is negative: {added}")
    if first is not None and added is None:
        raise bad_request(refusal + "added-rows is missing")


def _check_sequence_number(snapshot: Snapshot, metadata: TableMetadata) -> None:
    number, last = snapshot.sequence_number, metadata.last_sequence_number
    if number < 0:
        raise bad_request(f"Invalid sequence number: {number}")
    has_parent = snapshot.parent_snapshot_id is not None
    if metadata.format_version > 1 and number <= last and has_parent:
        raise bad_request(f"Sequence number {number} is not above the table's last one, {last}")


def _next_row_id(snapshot: Snapshot, metadata: TableMetadata) -> int:
    """Return the next-row-id after a snapshot: higher than every row id the snapshot may assign."""
    if metadata.format_version < _ROW_LINEAGE_SINCE:
        return metadata.next_row_id
    first, added = snapshot.first_row_id, snapshot.added_rows
    if first is None:
        raise bad_request("Invalid snapshot: first-row-id is missing")
    if first < metadata.next_row_id:
        raise bad_request(
            f"Invalid snapshot: first-row-id {first} is behind next-row-id {metadata.next_row_id}"
        )
    if added is None or first + added > _INT64_MAX:
        raise bad_request(f"Invalid snapshot: added-rows is out of range: {added}")
    return first + added


@table_update
class RemoveSnapshotsUpdate(
    Struct, frozen=True, gc=False, tag="remove-snapshots", tag_field="action", rename="kebab"
):
    """Remove snapshots; unknown ids are ignored.

    Their statistics go with them, and every ref that names them, `main` included.
    """

    snapshot_ids: tuple[Int64, ...]

    def apply(self, draft: Draft) -> None:
        """Remove those that exist; children keep the id of a parent that is gone."""
        draft.remove_snapshots(self.snapshot_ids)


@table_update
class SetSnapshotRefUpdate(
    Struct, frozen=True, gc=False, tag="set-snapshot-ref", tag_field="action", rename="kebab"
):
    """Create or replace a branch or tag; retention members that are not sent are cleared.

    Setting `main` makes the snapshot the current one. Ages are in milliseconds.
    """

    ref_name: str
    type: Literal["branch", "tag"]
    snapshot_id: Int64
    min_snapshots_to_keep: Int32 | None = None
    max_snapshot_age_ms: Int64 | None = None
    max_ref_age_ms: Int64 | None = None

    def apply(self, draft: Draft) -> None:
        """Set the ref; refuse (400) an unknown snapshot and retention that the type forbids."""
        ref = SnapshotRef(
            snapshot_id=self.snapshot_id,
            type=self.type,
            min_snapshots_to_keep=self.min_snapshots_to_keep,
            max_snapshot_age_ms=self.max_snapshot_age_ms,
            max_ref_age_ms=self.max_ref_age_ms,
        )
        check_ref(self.ref_name, ref)
        draft.set_ref(self.ref_name, ref)


@table_update
class RemoveSnapshotRefUpdate(
    Struct, frozen=True, gc=False, tag="remove-snapshot-ref", tag_field="action", rename="kebab"
):
    """Remove a branch or tag; its snapshots and the snapshot log stay."""

    ref_name: str

    def apply(self, draft: Draft) -> None:
        """Remove the ref if it exists; without `main` there is no current snapshot."""
        draft.remove_ref(self.ref_name)
