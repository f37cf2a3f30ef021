"""Reads and writes table metadata as the JSON of the Java library."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from icecheck.mock_server.metadata.invariants import current_schema
from icecheck.mock_server.metadata.model import (
    MAIN_BRANCH,
    BlobMetadata,
    EncryptedKey,
    MetadataLogEntry,
    PartitionField,
    PartitionSpec,
    PartitionStatisticsFile,
    Schema,
    Snapshot,
    SnapshotLogEntry,
    SnapshotRef,
    SortField,
    SortOrder,
    StatisticsFile,
    TableMetadata,
)
from icecheck.mock_server.metadata.reading import read_metadata

__all__ = [
    "MAIN_BRANCH",
    "BlobMetadata",
    "EncryptedKey",
    "Grown",
    "MetadataLogEntry",
    "PartitionField",
    "PartitionSpec",
    "PartitionStatisticsFile",
    "Schema",
    "Snapshot",
    "SnapshotLogEntry",
    "SnapshotRef",
    "SortField",
    "SortOrder",
    "StatisticsFile",
    "TableMetadata",
    "decode",
    "encode",
    "encode_grown",
    "encode_with_snapshots",
    "to_builtins",
]


_V2, _V3 = 2, 3
_NO_SNAPSHOT_ID = -1
_GROWING = ("snapshots", "snapshot_log")
"""The lists that grow with each append, in the order in which they are written."""
_BEGINNING = 100
_LONG = 64
"""A shorter list is encoded as quickly as it is found again."""


class Grown(NamedTuple):
    """A long list of some metadata, and its JSON: the next version is written from that."""

    items: tuple[Any, ...]
    json: memoryview


class _Document(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """Table metadata as written, in the order of the Java library; unset members are left out."""

    format_version: int
    table_uuid: str
    location: str
    last_sequence_number: int | UnsetType = UNSET
    last_updated_ms: int
    last_column_id: int
    schema: Schema | UnsetType = UNSET
    current_schema_id: int
    schemas: tuple[Schema, ...]
    partition_spec: tuple[PartitionField, ...] | UnsetType = UNSET
    default_spec_id: int
    partition_specs: tuple[PartitionSpec, ...]
    last_partition_id: int
    default_sort_order_id: int
    sort_orders: tuple[SortOrder, ...]
    properties: dict[str, str]
    current_snapshot_id: int | None
    next_row_id: int | UnsetType = UNSET
    encryption_keys: tuple[EncryptedKey, ...] | UnsetType = UNSET
    refs: dict[str, SnapshotRef]
    snapshots: tuple[Snapshot, ...] | msgspec.Raw
    statistics: tuple[StatisticsFile, ...]
    partition_statistics: tuple[PartitionStatisticsFile, ...]
    snapshot_log: tuple[SnapshotLogEntry, ...] | msgspec.Raw
    metadata_log: tuple[MetadataLogEntry, ...]


_ENCODER = msgspec.json.Encoder()


def encode(metadata: TableMetadata) -> bytes:
    """Write metadata as compact JSON, for a metadata file or a part of an answer.

    Version 1 also carries its current schema and default spec at their old places; no current
    snapshot is -1 below version 3 and null from there on.
    """
    return _ENCODER.encode(_document(metadata, metadata.snapshots))


def encode_grown(
    metadata: TableMetadata, before: Mapping[str, Grown]
) -> tuple[bytes, dict[str, slice]]:
    """Write metadata like `encode`, and say where its long lists stand in that, by their member.

    A list that only grew is written from what it was `before`: what a version costs does not grow
    with the table's history.
    """
    lists = {name: getattr(metadata, name) for name in _GROWING}
    raw = {
        name: _extended(items, before.get(name))
        for name, items in lists.items()
        if len(items) >= _LONG
    }
    known = {name: msgspec.Raw(json) for name, json in raw.items()}
    document = _document(metadata, metadata.snapshots)
    content = _ENCODER.encode(structs.replace(document, **known) if known else document)
    places, end = {}, 0
    for name, json in raw.items():
        places[name] = _place_of(json, content, end)
        end = places[name].stop
    return content, places


def _place_of(json: bytes, content: bytes, begin: int) -> slice:
    """Return where a list stands in the JSON that has it; to search for all of it takes longer."""
    start = begin - 1
    while True:
        start = content.index(json[:_BEGINNING], start + 1)
        if content.startswith(json, start):
            return slice(start, start + len(json))


def _extended(items: tuple[Any, ...], before: Grown | None) -> bytes:
    """Return a list as JSON, written from what it was before if it only grew."""
    size = 0 if before is None else len(before.items)
    if before is None or items[:size] != before.items:
        return _ENCODER.encode(items)
    if len(items) == size:
        return bytes(before.json)
    return b"".join((before.json[:-1], b",", _ENCODER.encode(items[size:])[1:]))


def encode_with_snapshots(metadata: TableMetadata, refs_only: bool) -> bytes:
    """Write metadata like `encode`; `refs_only` keeps only the snapshots that refs name."""
    if not refs_only:
        return encode(metadata)
    named = {ref.snapshot_id for ref in metadata.refs.values()}
    kept = tuple(s for s in metadata.snapshots if s.snapshot_id in named)
    return _ENCODER.encode(_document(metadata, kept))


def to_builtins(metadata: TableMetadata) -> dict[str, Any]:
    """Return the JSON document of `encode` as dictionaries and lists."""
    return msgspec.json.decode(encode(metadata), type=dict[str, Any])


def decode(data: bytes) -> TableMetadata:
    """Read a metadata file of any supported format version; any fault in it is a 400 Problem."""
    return read_metadata(data)


def _document(metadata: TableMetadata, snapshots: tuple[Snapshot, ...]) -> _Document:
    version = metadata.format_version
    schema: Schema | UnsetType = UNSET
    partition_spec: tuple[PartitionField, ...] | UnsetType = UNSET
    if version < _V2:
        schema = current_schema(metadata)
        default = (s for s in metadata.partition_specs if s.spec_id == metadata.default_spec_id)
        partition_spec = next(default).fields
    current = metadata.current_snapshot_id
    if current is None and version < _V3:
        current = _NO_SNAPSHOT_ID
    return _Document(
        format_version=version,
        table_uuid=metadata.table_uuid,
        location=metadata.location,
        last_sequence_number=metadata.last_sequence_number if version >= _V2 else UNSET,
        last_updated_ms=metadata.last_updated_ms,
        last_column_id=metadata.last_column_id,
        schema=schema,
        current_schema_id=metadata.current_schema_id,
        schemas=metadata.schemas,
        partition_spec=partition_spec,
        default_spec_id=metadata.default_spec_id,
        partition_specs=metadata.partition_specs,
        last_partition_id=metadata.last_partition_id,
        default_sort_order_id=metadata.default_sort_order_id,
        sort_orders=metadata.sort_orders,
        properties=metadata.properties,
        current_snapshot_id=current,
        next_row_id=metadata.next_row_id if version >= _V3 else UNSET,
        encryption_keys=metadata.encryption_keys or UNSET,
        refs=metadata.refs,
        snapshots=snapshots,
        statistics=metadata.statistics,
        partition_statistics=metadata.partition_statistics,
        snapshot_log=metadata.snapshot_log,
        metadata_log=metadata.metadata_log,
    )
