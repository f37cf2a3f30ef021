"""Data files and delete files as manifests list them, with inherited values filled in."""

from typing import Literal, TypeAlias

from msgspec import Struct

from icecheck.mock_server.planning.filters.single_values import Value

Counts: TypeAlias = dict[int, int]
Bounds: TypeAlias = dict[int, bytes]


class FieldSummary(Struct, frozen=True, gc=False):
    """A manifest list's summary of one partition field of a manifest; bounds are single values."""

    contains_null: bool
    contains_nan: bool | None
    lower_bound: bytes | None
    upper_bound: bytes | None


class ManifestFile(Struct, frozen=True):
    """A manifest in a manifest list. Without a list (version 1), only the path is known.

    If `spec_id` is None, the manifest itself has it. Counts are None where the writer did not
    count.
    """

    path: str
    spec_id: int | None = None
    holds_deletes: bool = False
    sequence_number: int = 0
    added_snapshot_id: int | None = None
    added_files: int | None = None
    existing_files: int | None = None
    partitions: tuple[FieldSummary, ...] | None = None
    first_row_id: int | None = None


class ContentFile(Struct, frozen=True, kw_only=True):
    """One live file (table format, Data File Fields). Maps go by column id; sizes in bytes.

    `content` is spelled as in the protocol. `snapshot_id` is the snapshot that added the file;
    `is_added`: this manifest's snapshot added it; the sequence number is that of the data.
    """

    content: Literal["data", "position-deletes", "equality-deletes"]
    file_path: str
    file_format: str
    spec_id: int
    partition: tuple[Value | None, ...]
    record_count: int
    file_size_in_bytes: int
    snapshot_id: int | None
    is_added: bool
    sequence_number: int
    column_sizes: Counts | None = None
    value_counts: Counts | None = None
    null_value_counts: Counts | None = None
    nan_value_counts: Counts | None = None
    lower_bounds: Bounds | None = None
    upper_bounds: Bounds | None = None
    key_metadata: bytes | None = None
    split_offsets: tuple[int, ...] | None = None
    equality_ids: tuple[int, ...] | None = None
    sort_order_id: int | None = None
    first_row_id: int | None = None
    referenced_data_file: str | None = None
    content_offset: int | None = None
    content_size_in_bytes: int | None = None

    @property
    def is_deletion_vector(self) -> bool:
        """Whether the deletes are a vector in a Puffin file."""
        return self.content == "position-deletes" and self.file_format == "puffin"
