"""The draft of the next metadata: it exists for one commit, and `build` checks the whole."""

from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any, TypeVar

from msgspec import structs

from icecheck.mock_server.metadata.binding import UNPARTITIONED_LAST_ID, UNSORTED_ORDER_ID
from icecheck.mock_server.metadata.invariants import (
    check_format_version,
    check_metadata,
    current_schema,
)
from icecheck.mock_server.metadata.model import (
    MAIN_BRANCH,
    MetadataLogEntry,
    PartitionStatisticsFile,
    Snapshot,
    SnapshotLogEntry,
    SnapshotRef,
    StatisticsFile,
    TableMetadata,
)
from icecheck.mock_server.metadata.properties import integer_property
from icecheck.mock_server.metadata.schemas import Column, columns_by_id
from icecheck.mock_server.protocol.names import is_absolute
from icecheck.mock_server.protocol.problem import bad_request

OfSnapshot = TypeVar("OfSnapshot", Snapshot, StatisticsFile, PartitionStatisticsFile)

LAST_ADDED = -1
"""Stands in updates for the id of what the same commit has added last."""
_INT32_MAX = 2**31 - 1
_PREVIOUS_VERSIONS_PROPERTY = "write.metadata.previous-versions-max"
_PREVIOUS_VERSIONS_DEFAULT = 100


def canonical_location(location: str) -> str:
    """Strip trailing slashes, but not those of a scheme; 400 if it is empty or relative."""
    while location.endswith("/") and not location.endswith("://"):
        location = location[:-1]
    if not location:
        raise bad_request("Invalid location: empty")
    if not is_absolute(location):
        raise bad_request(f"Invalid location: not absolute: {location[:200]}")
    return location


def next_id(used: Iterable[int], first: int) -> int:
    """Return the id after the highest one in use; a 400 Problem when that exceeds 32 bits."""
    candidate = max((*used, first - 1)) + 1
    if candidate > _INT32_MAX:
        raise bad_request("Cannot assign an id: no id is left")
    return candidate


def named_id(sent: int, last_added: int | None, known: Iterable[int], what: str) -> int:
    """Return the id that an update names, where -1 is the last one added; 400 if it is unknown."""
    named = last_added if sent == LAST_ADDED else sent
    if named is None:
        raise bad_request(f"{what.capitalize()} -1 is the one added last, but none was added")
    if named not in known:
        raise bad_request(f"Unknown {what}: {named}")
    return named


def previous_versions_max(properties: dict[str, str]) -> int:
    """Return how many earlier metadata files the log keeps, at least 1; 400 if it is no number."""
    kept = integer_property(properties, _PREVIOUS_VERSIONS_PROPERTY, _PREVIOUS_VERSIONS_DEFAULT)
    return max(1, kept)


class Draft:
    """The next metadata while a commit changes it; only the frozen value that it holds is replaced.

    `metadata` is the present value, replaced by `change`. The rest is the memory of one commit: the
    objects added in it (for ids of -1, which mean "the last one added"), and the time.
    """

    __slots__ = (
        "_base",
        "_now_ms",
        "_updated_ms",
        "added_schema_ids",
        "added_snapshots",
        "added_sort_order_ids",
        "added_spec_ids",
        "changed",
        "last_added_schema_id",
        "last_added_sort_order_id",
        "last_added_spec_id",
        "metadata",
        "passing_main_ids",
        "removed_snapshots",
    )

    def __init__(
        self, metadata: TableMetadata, *, now_ms: int, base: TableMetadata | None = None
    ) -> None:
        self.metadata = metadata
        self.changed = False
        self.added_schema_ids: set[int] = set()
        self.added_spec_ids: set[int] = set()
        self.added_sort_order_ids: set[int] = set()
        self.added_snapshots: dict[int, Snapshot] = {}
        self.last_added_schema_id: int | None = None
        self.last_added_spec_id: int | None = None
        self.last_added_sort_order_id: int | None = None
        self.passing_main_ids: set[int] = set()
        self.removed_snapshots = False
        self._base = base
        self._now_ms = now_ms
        self._updated_ms: int | None = None

    @classmethod
    def of(cls, base: TableMetadata, *, now_ms: int) -> "Draft":
        """Begin from an existing table; for one table the server's time never runs backwards."""
        return cls(base, now_ms=max(now_ms, base.last_updated_ms), base=base)

    @classmethod
    def of_new_table(cls, *, format_version: int, uuid: str, now_ms: int) -> "Draft":
        """Begin without a table; the updates have to bring schema, spec and sort order."""
        check_format_version(format_version)
        nothing = TableMetadata(
            format_version=format_version,
            table_uuid=uuid,
            location="",
            last_updated_ms=now_ms,
            last_column_id=0,
            current_schema_id=0,
            schemas=(),
            default_spec_id=0,
            partition_specs=(),
            last_partition_id=UNPARTITIONED_LAST_ID,
            default_sort_order_id=UNSORTED_ORDER_ID,
            sort_orders=(),
        )
        return cls(nothing, now_ms=now_ms)

    @property
    def is_new_table(self) -> bool:
        """Whether the table does not exist yet."""
        return self._base is None

    def change(self, **members: Any) -> None:
        """Replace members of the metadata; after this the commit has an effect."""
        self.metadata = structs.replace(self.metadata, **members)
        self.changed = True

    def columns(self) -> dict[int, Column]:
        """Return the columns of the current schema by field id."""
        return columns_by_id(current_schema(self.metadata))

    def has_snapshot(self, snapshot_id: int) -> bool:
        """Return whether a snapshot has this id, also one added in this commit."""
        return snapshot_id in self.added_snapshots or snapshot_id in self._snapshot_ids()

    def _snapshot_ids(self) -> Iterator[int]:
        return map(attrgetter("snapshot_id"), self.metadata.snapshots)

    def add_snapshot(self, snapshot: Snapshot, **members: Any) -> None:
        """Append a snapshot whose id is free; its time becomes the time of the change."""
        self.added_snapshots[snapshot.snapshot_id] = snapshot
        self._updated_ms = snapshot.timestamp_ms
        self.change(snapshots=(*self.metadata.snapshots, snapshot), **members)

    def remove_snapshots(self, snapshot_ids: Iterable[int]) -> None:
        """Remove snapshots with their statistics and every ref that names them."""
        gone = set(snapshot_ids).intersection(self._snapshot_ids())
        if not gone:
            return
        metadata = self.metadata
        for snapshot_id in gone:
            self.added_snapshots.pop(snapshot_id, None)
        self.removed_snapshots = True
        self.change(
            snapshots=_without(metadata.snapshots, gone),
            statistics=_without(metadata.statistics, gone),
            partition_statistics=_without(metadata.partition_statistics, gone),
        )
        for name, ref in metadata.refs.items():
            if ref.snapshot_id in gone:
                self.remove_ref(name)

    def set_ref(self, name: str, ref: SnapshotRef) -> None:
        """Set a ref to a snapshot that exists; `main` also moves the table and its log."""
        metadata = self.metadata
        if metadata.refs.get(name) == ref:
            return
        if not self.has_snapshot(ref.snapshot_id):
            raise bad_request(f"Ref {name} cannot name snapshot {ref.snapshot_id}: unknown")
        added = self.added_snapshots.get(ref.snapshot_id)
        if added is not None:
            self._updated_ms = added.timestamp_ms
        members: dict[str, Any] = {"refs": {**metadata.refs, name: ref}}
        if name == MAIN_BRANCH:
            if self._updated_ms is None:
                self._updated_ms = self._now_ms
            entry = SnapshotLogEntry(timestamp_ms=self._updated_ms, snapshot_id=ref.snapshot_id)
            members["current_snapshot_id"] = ref.snapshot_id
            members["snapshot_log"] = (*metadata.snapshot_log, entry)
            if added is not None:
                self.passing_main_ids.add(ref.snapshot_id)
        self.change(**members)

    def remove_ref(self, name: str) -> None:
        """Remove a ref if there is one; without `main` there is no current snapshot."""
        metadata = self.metadata
        if name not in metadata.refs:
            return
        members: dict[str, Any] = {
            "refs": {other: ref for other, ref in metadata.refs.items() if other != name}
        }
        if name == MAIN_BRANCH:
            members["current_snapshot_id"] = None
        self.change(**members)

    def build(self, *, base_location: str | None = None) -> TableMetadata | None:
        """Return the next metadata with logs and time, all rules checked (400); None if unchanged.

        `base_location` is the metadata file of the base table, for the metadata log.
        """
        base = self._base
        if base is not None and not self.changed:
            return None
        members: dict[str, Any] = {
            "last_updated_ms": self._now_ms if self._updated_ms is None else self._updated_ms,
            "snapshot_log": self._finished_snapshot_log(),
        }
        # A table must not start with a number for which its next commit would be refused.
        kept = previous_versions_max(self.metadata.properties)
        if base is not None and base_location is not None:
            entry = MetadataLogEntry(timestamp_ms=base.last_updated_ms, metadata_file=base_location)
            members["metadata_log"] = (*self.metadata.metadata_log, entry)[-kept:]
        finished = structs.replace(self.metadata, **members)
        check_metadata(finished, base, self.added_snapshots.values())
        return finished

    def _finished_snapshot_log(self) -> tuple[SnapshotLogEntry, ...]:
        metadata = self.metadata
        passing = self.passing_main_ids - {metadata.current_snapshot_id}
        if not passing and not self.removed_snapshots:
            return metadata.snapshot_log
        log = metadata.snapshot_log
        if self.removed_snapshots:
            log = without_missing_snapshots(log, set(self._snapshot_ids()))
        log = tuple(entry for entry in log if entry.snapshot_id not in passing)
        current = metadata.current_snapshot_id
        if log and current is not None and log[-1].snapshot_id != current:
            raise bad_request("The snapshot log would not end with the current snapshot")
        return log


def _without(values: tuple[OfSnapshot, ...], gone: set[int]) -> tuple[OfSnapshot, ...]:
    return tuple([value for value in values if value.snapshot_id not in gone])


def without_missing_snapshots(
    log: Iterable[SnapshotLogEntry], snapshot_ids: set[int]
) -> tuple[SnapshotLogEntry, ...]:
    """Return the entries after the last one whose snapshot is gone: a history has no gaps."""
    kept: list[SnapshotLogEntry] = []
    for entry in log:
        if entry.snapshot_id in snapshot_ids:
            kept.append(entry)
        else:
            kept.clear()
    return tuple(kept)
