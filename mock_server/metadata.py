"""Table metadata to and from the JSON that the Java library writes and reads."""

from typing import Any

from icecheck.mock_server.model import (
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

__all__ = [
    "MAIN_BRANCH",
    "BlobMetadata",
    "EncryptedKey",
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
    "encode_with_snapshots",
    "to_builtins",
]


def encode(metadata: TableMetadata) -> bytes:
    """Write metadata as compact JSON."""
    raise NotImplementedError


def encode_with_snapshots(metadata: TableMetadata, refs_only: bool) -> bytes:
    """Like `encode`; with `refs_only` only snapshots that a branch or tag names are written."""
    raise NotImplementedError


def to_builtins(metadata: TableMetadata) -> dict[str, Any]:
    """Give the JSON document as dictionaries and lists."""
    raise NotImplementedError


def decode(data: bytes) -> TableMetadata:
    """Read a metadata file of any supported format version; any defect is a 400 Problem."""
    raise NotImplementedError
