"""The values of table metadata: frozen, independent of the format version."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from icecheck.mock_server.metadata.column_types import Int32, Int64, StructField

MAIN_BRANCH = "main"
"""The branch whose snapshot is the table's current one."""


class Schema(
    Struct,
    frozen=True,
    gc=False,
    kw_only=True,
    omit_defaults=True,
    tag="struct",
    tag_field="type",
    rename="kebab",
):
    """A table schema; written as type, schema-id, identifier-field-ids when any, fields."""

    schema_id: Int32
    identifier_field_ids: tuple[Int32, ...] = ()
    fields: tuple[StructField, ...]


class PartitionField(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """One partition field of a bound spec."""

    name: str
    transform: str
    source_id: Int32
    field_id: Int32


class PartitionSpec(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """A partition spec; unpartitioned when it has no fields."""

    spec_id: Int32
    fields: tuple[PartitionField, ...]


class SortField(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """One field of a sort order."""

    transform: str
    source_id: Int32
    direction: Literal["asc", "desc"]
    null_order: Literal["nulls-first", "nulls-last"]


class SortOrder(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """A sort order; id 0 is the unsorted one, without fields."""

    order_id: Int32
    fields: tuple[SortField, ...]


class Snapshot(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename="kebab"):
    """A snapshot; a sequence number of 0 is not written, like every optional member left out.

    `summary` may be left out, but not be null: Java clients cannot read a null.
    """

    sequence_number: Int64 = 0
    snapshot_id: Int64
    parent_snapshot_id: Int64 | None = None
    timestamp_ms: Int64
    summary: dict[str, str] | UnsetType = UNSET
    manifest_list: str | None = None
    manifests: tuple[str, ...] | None = None
    schema_id: Int32 | None = None
    first_row_id: Int64 | None = None
    added_rows: Int64 | None = None
    key_id: str | None = None


class SnapshotRef(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename="kebab"):
    """A branch or tag (document schema `SnapshotReference`); ages in milliseconds."""

    snapshot_id: Int64
    type: Literal["branch", "tag"]
    min_snapshots_to_keep: Int32 | None = None
    max_snapshot_age_ms: Int64 | None = None
    max_ref_age_ms: Int64 | None = None


class BlobMetadata(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename="kebab"):
    """One blob of a statistics file; `properties` is never null, as above."""

    type: str
    snapshot_id: Int64
    sequence_number: Int64
    fields: tuple[Int32, ...]
    properties: dict[str, str] | UnsetType = UNSET


class StatisticsFile(
    Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename="kebab"
):
    """A statistics file of one snapshot; sizes in bytes."""

    snapshot_id: Int64
    statistics_path: str
    file_size_in_bytes: Int64
    file_footer_size_in_bytes: Int64
    key_metadata: str | None = None
    blob_metadata: tuple[BlobMetadata, ...]


class PartitionStatisticsFile(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """A partition statistics file of one snapshot; size in bytes."""

    snapshot_id: Int64
    statistics_path: str
    file_size_in_bytes: Int64


class EncryptedKey(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename="kebab"):
    """A wrapped encryption key; the metadata is base64 text, `properties` never null, as above."""

    key_id: str
    encrypted_key_metadata: str
    encrypted_by_id: str | None = None
    properties: dict[str, str] | UnsetType = UNSET


class SnapshotLogEntry(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """The time at which a snapshot became that of `main`."""

    timestamp_ms: Int64
    snapshot_id: Int64


class MetadataLogEntry(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """An earlier metadata file and the last-updated-ms it had."""

    timestamp_ms: Int64
    metadata_file: str


class TableMetadata(Struct, frozen=True, gc=False, kw_only=True):
    """The whole metadata of a table, for every format version.

    Version 1 tables have `last_sequence_number` 0 and tables below version 3 `next_row_id` 0;
    neither is written for them. `current_snapshot_id` is None when there is no current snapshot.
    """

    format_version: int
    table_uuid: str
    location: str
    last_sequence_number: int = 0
    last_updated_ms: int
    last_column_id: int
    current_schema_id: int
    schemas: tuple[Schema, ...]
    default_spec_id: int
    partition_specs: tuple[PartitionSpec, ...]
    last_partition_id: int
    default_sort_order_id: int
    sort_orders: tuple[SortOrder, ...]
    properties: dict[str, str] = {}
    current_snapshot_id: int | None = None
    next_row_id: int = 0
    encryption_keys: tuple[EncryptedKey, ...] = ()
    refs: dict[str, SnapshotRef] = {}
    snapshots: tuple[Snapshot, ...] = ()
    statistics: tuple[StatisticsFile, ...] = ()
    partition_statistics: tuple[PartitionStatisticsFile, ...] = ()
    snapshot_log: tuple[SnapshotLogEntry, ...] = ()
    metadata_log: tuple[MetadataLogEntry, ...] = ()
