"""Updates of a table's statistics files and partition statistics files."""

from msgspec import Struct

from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.column_types import Int64
from icecheck.mock_server.metadata.model import PartitionStatisticsFile, StatisticsFile
from icecheck.mock_server.updates.registry import table_update


@table_update
class SetStatisticsUpdate(
    Struct, frozen=True, gc=False, tag="set-statistics", tag_field="action", rename="kebab"
):
    """Set the statistics file of a snapshot, which need not exist.

    The outer `snapshot-id` is deprecated: read, and ignored in favour of the file's own.
    """

    statistics: StatisticsFile
    snapshot_id: Int64 | None = None

    def apply(self, draft: Draft) -> None:
        """Replace the snapshot's entry, or append one."""
        kept = _others(draft.metadata.statistics, self.statistics.snapshot_id)
        draft.change(statistics=(*kept, self.statistics))


@table_update
class RemoveStatisticsUpdate(
    Struct, frozen=True, gc=False, tag="remove-statistics", tag_field="action", rename="kebab"
):
    """Remove the statistics file of a snapshot, if it has one."""

    snapshot_id: Int64

    def apply(self, draft: Draft) -> None:
        """Remove the entry; nothing changes if there is none."""
        kept = _others(draft.metadata.statistics, self.snapshot_id)
        if len(kept) != len(draft.metadata.statistics):
            draft.change(statistics=kept)


@table_update
class SetPartitionStatisticsUpdate(
    Struct,
    frozen=True,
    gc=False,
    tag="set-partition-statistics",
    tag_field="action",
    rename="kebab",
):
    """Set the partition statistics file of a snapshot, which need not exist."""

    partition_statistics: PartitionStatisticsFile

    def apply(self, draft: Draft) -> None:
        """Replace the snapshot's entry, or append one."""
        file = self.partition_statistics
        kept = _other_partition_files(draft.metadata.partition_statistics, file.snapshot_id)
        draft.change(partition_statistics=(*kept, file))


@table_update
class RemovePartitionStatisticsUpdate(
    Struct,
    frozen=True,
    gc=False,
    tag="remove-partition-statistics",
    tag_field="action",
    rename="kebab",
):
    """Remove the partition statistics file of a snapshot, if it has one."""

    snapshot_id: Int64

    def apply(self, draft: Draft) -> None:
        """Remove the entry; nothing changes if there is none."""
        present = draft.metadata.partition_statistics
        kept = _other_partition_files(present, self.snapshot_id)
        if len(kept) != len(present):
            draft.change(partition_statistics=kept)


def _others(files: tuple[StatisticsFile, ...], snapshot_id: int) -> tuple[StatisticsFile, ...]:
    return tuple(file for file in files if file.snapshot_id != snapshot_id)


def _other_partition_files(
    files: tuple[PartitionStatisticsFile, ...], snapshot_id: int
) -> tuple[PartitionStatisticsFile, ...]:
    return tuple(file for file in files if file.snapshot_id != snapshot_id)
