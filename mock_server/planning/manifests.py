"""Reads manifest lists and manifests of format versions 1 to 3, and fills in inherited values."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar

import msgspec

from icecheck.mock_server.metadata.column_types import Int32, Int64
from icecheck.mock_server.metadata.model import Snapshot
from icecheck.mock_server.planning.avro_reading import AvroFile, read_avro
from icecheck.mock_server.planning.content_files import ContentFile, FieldSummary, ManifestFile
from icecheck.mock_server.planning.failure import PlanningFailure
from icecheck.mock_server.planning.filters.projection import BoundPartitionSpec
from icecheck.mock_server.planning.filters.single_values import Value, value_of_avro
from icecheck.mock_server.storage.files import Files

T = TypeVar("T")

_ADDED, _DELETED = 1, 2
_CONTENTS: tuple[Literal["data", "position-deletes", "equality-deletes"], ...] = (
    "data",
    "position-deletes",
    "equality-deletes",
)

_FORMATS = frozenset({"avro", "orc", "parquet", "puffin"})

# Field ids of the table format: Manifest Lists, Manifest Entry Fields, Data File Fields.
_PARTITIONS_ID = 507
_SUMMARY_IDS = {509: "contains_null", 518: "contains_nan", 510: "lower_bound", 511: "upper_bound"}
_MANIFEST_IDS = {
    500: "path",
    502: "spec_id",
    517: "content",
    515: "sequence_number",
    503: "added_snapshot_id",
    504: "added_files",
    505: "existing_files",
    507: "partitions",
    520: "first_row_id",
}
_DATA_FILE_ID = 2
_PARTITION_ID = 102
_ENTRY_IDS = {0: "status", 1: "snapshot_id", 3: "sequence_number", 2: "data_file"}
_FILE_IDS = {
    134: "content",
    100: "file_path",
    101: "file_format",
    103: "record_count",
    104: "file_size_in_bytes",
    131: "key_metadata",
    132: "split_offsets",
    135: "equality_ids",
    140: "sort_order_id",
    142: "first_row_id",
    143: "referenced_data_file",
    144: "content_offset",
    145: "content_size_in_bytes",
}
_FILE_MAP_IDS = {
    108: "column_sizes",
    109: "value_counts",
    110: "null_value_counts",
    137: "nan_value_counts",
    125: "lower_bounds",
    128: "upper_bounds",
}


class _ManifestRecord(msgspec.Struct, frozen=True):
    path: str
    spec_id: Int32
    content: Literal[0, 1] = 0
    sequence_number: Int64 = 0
    added_snapshot_id: Int64 | None = None
    added_files: Int32 | None = None
    existing_files: Int32 | None = None
    partitions: tuple[FieldSummary, ...] | None = None
    first_row_id: Int64 | None = None


class _EntryRecord(msgspec.Struct, frozen=True):
    status: Literal[0, 1, 2]
    data_file: dict[str, Any]
    snapshot_id: Int64 | None = None
    sequence_number: Int64 | None = None


class _FileRecord(msgspec.Struct, frozen=True):
    file_path: str
    file_format: str
    record_count: Int64
    file_size_in_bytes: Int64
    content: Literal[0, 1, 2] = 0
    column_sizes: dict[int, int] | None = None
    value_counts: dict[int, int] | None = None
    null_value_counts: dict[int, int] | None = None
    nan_value_counts: dict[int, int] | None = None
    lower_bounds: dict[int, bytes] | None = None
    upper_bounds: dict[int, bytes] | None = None
    key_metadata: bytes | None = None
    split_offsets: tuple[int, ...] | None = None
    equality_ids: tuple[int, ...] | None = None
    sort_order_id: Int32 | None = None
    first_row_id: Int64 | None = None
    referenced_data_file: str | None = None
    content_offset: Int64 | None = None
    content_size_in_bytes: Int64 | None = None


def manifests_of(files: Files, snapshot: Snapshot) -> tuple[ManifestFile, ...]:
    """Return the manifests of a snapshot, from its manifest list or (version 1) its own list.

    PlanningFailure if the list cannot be read.
    """
    location = snapshot.manifest_list
    if location is None:
        return tuple(
            ManifestFile(path, added_snapshot_id=None) for path in snapshot.manifests or ()
        )
    avro = _read(files, location)
    summaries = avro.layout.within(_PARTITIONS_ID)
    found: list[ManifestFile] = []
    for record in avro.records:
        selected = avro.layout.select(record, _MANIFEST_IDS)
        if isinstance(selected.get("partitions"), list):
            selected["partitions"] = [
                {"contains_nan": None, "lower_bound": None, "upper_bound": None}
                | summaries.select(summary, _SUMMARY_IDS)
                for summary in selected["partitions"]
            ]
        manifest = _converted(selected, _ManifestRecord, location)
        found.append(
            ManifestFile(
                path=manifest.path,
                spec_id=manifest.spec_id,
                holds_deletes=manifest.content == 1,
                sequence_number=manifest.sequence_number,
                added_snapshot_id=manifest.added_snapshot_id,
                added_files=manifest.added_files,
                existing_files=manifest.existing_files,
                partitions=manifest.partitions,
                first_row_id=manifest.first_row_id,
            )
        )
    return tuple(found)


def live_files(
    files: Files, manifest: ManifestFile, specs: Mapping[int, BoundPartitionSpec]
) -> Iterator[ContentFile]:
    """Yield the files that a manifest lists and that are not deleted, in its order.

    An entry inherits the members that it leaves out: sequence numbers and the snapshot from the
    manifest's entry in the list, row ids counted on from the manifest's first one. PlanningFailure
    if the manifest cannot be read.
    """
    avro = _read(files, manifest.path)
    spec = specs.get(_spec_id(manifest, avro))
    if spec is None:
        raise PlanningFailure.unreadable(manifest.path, "its partition spec does not exist")
    layout = avro.layout.within(_DATA_FILE_ID)
    partition_names = tuple(
        layout.within(_PARTITION_ID).names.get(column.field_id, "") for column in spec.columns
    )
    partition_key = layout.names.get(_PARTITION_ID, "")
    next_row_id = manifest.first_row_id
    for record in avro.records:
        entry = _converted(avro.layout.select(record, _ENTRY_IDS), _EntryRecord, manifest.path)
        if entry.status == _DELETED:
            continue
        selected = layout.select(entry.data_file, _FILE_IDS)
        maps = layout.select(entry.data_file, _FILE_MAP_IDS)
        selected |= {name: _map(value, manifest.path) for name, value in maps.items()}
        file = _converted(selected, _FileRecord, manifest.path)
        first_row_id = None if next_row_id is None else file.first_row_id
        if next_row_id is not None and first_row_id is None:
            first_row_id, next_row_id = next_row_id, next_row_id + file.record_count
        partition = entry.data_file.get(partition_key) or {}
        yield ContentFile(
            content=_CONTENTS[file.content],
            file_format=_format(file, manifest.path),
            spec_id=spec.spec_id,
            partition=_partition(partition, partition_names, spec, manifest.path),
            snapshot_id=_inherited(entry.snapshot_id, manifest.added_snapshot_id),
            is_added=entry.status == _ADDED,
            sequence_number=_sequence_number(entry, manifest),
            first_row_id=first_row_id,
            **{
                name: getattr(file, name)
                for name in _FileRecord.__struct_fields__
                if name not in {"content", "file_format", "first_row_id"}
            },
        )


def _read(files: Files, location: str) -> AvroFile:
    try:
        content = files.read(location)
    except OSError as error:
        raise PlanningFailure.missing(location, error) from error
    return read_avro(content, location)


def _converted(selected: dict[str, Any], shape: type[T], location: str) -> T:
    try:
        return msgspec.convert(selected, shape)
    except msgspec.ValidationError as error:
        raise PlanningFailure.unreadable(location, error) from error


def _format(file: _FileRecord, location: str) -> str:
    name = file.file_format.lower()
    if name not in _FORMATS:
        raise PlanningFailure.unreadable(location, f"unknown file format {name[:40]!r}")
    return name


def _map(items: Any, location: str) -> dict[Any, Any]:
    """Return a map whose keys are no strings: Avro writes it as an array of pairs."""
    try:
        return {item["key"]: item["value"] for item in items}
    except (LookupError, TypeError) as error:
        raise PlanningFailure.unreadable(location, "a map is not one") from error


def _spec_id(manifest: ManifestFile, avro: AvroFile) -> int:
    if manifest.spec_id is not None:
        return manifest.spec_id
    text = avro.metadata.get("partition-spec-id", "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def _inherited(own: int | None, manifest: int | None) -> int | None:
    return manifest if own is None else own


def _sequence_number(entry: _EntryRecord, manifest: ManifestFile) -> int:
    if entry.sequence_number is not None:
        return entry.sequence_number
    if entry.status == _ADDED or manifest.sequence_number == 0:
        return manifest.sequence_number
    raise PlanningFailure.unreadable(manifest.path, "an existing entry has no sequence number")


def _partition(
    record: Any, names: tuple[str, ...], spec: BoundPartitionSpec, location: str
) -> tuple[Value | None, ...]:
    try:
        return tuple(
            value_of_avro(column.transform.result_type, record.get(name))
            for column, name in zip(spec.columns, names, strict=True)
        )
    except (AttributeError, ValueError) as error:
        raise PlanningFailure.unreadable(location, error) from error
