"""Avro schemas of manifests and manifest lists, of format version 2 and later.

They have the members that the suite's own manifests need, and partitions of every type.
"""

from collections.abc import Sequence
from typing import Any

EXISTING, ADDED, REMOVED = 0, 1, 2
"""The values of a manifest entry's status."""

Json = Any


def manifest_entry_schema(partition_fields: Sequence[tuple[int, str, Json]]) -> Json:
    """Return the schema of a manifest's entries.

    A partition has an optional value for each field, given as (id, name, Avro type).
    """
    partition = [_optional(*field) for field in partition_fields]
    file_fields = [
        _required(134, "content", "int"),
        _required(100, "file_path", "string"),
        _required(101, "file_format", "string"),
        _required(102, "partition", {"type": "record", "name": "r102", "fields": partition}),
        _required(103, "record_count", "long"),
        _required(104, "file_size_in_bytes", "long"),
        _optional(108, "column_sizes", _by_column(117, 118, "long")),
        _optional(109, "value_counts", _by_column(119, 120, "long")),
        _optional(110, "null_value_counts", _by_column(121, 122, "long")),
        _optional(137, "nan_value_counts", _by_column(138, 139, "long")),
        _optional(125, "lower_bounds", _by_column(126, 127, "bytes")),
        _optional(128, "upper_bounds", _by_column(129, 130, "bytes")),
        _optional(131, "key_metadata", "bytes"),
        _optional(132, "split_offsets", {"type": "array", "items": "long", "element-id": 133}),
        _optional(140, "sort_order_id", "int"),
        _optional(135, "equality_ids", {"type": "array", "items": "int", "element-id": 136}),
        _optional(143, "referenced_data_file", "string"),
        _optional(144, "content_offset", "long"),
        _optional(145, "content_size_in_bytes", "long"),
    ]
    return {
        "type": "record",
        "name": "manifest_entry",
        "fields": [
            _required(0, "status", "int"),
            _optional(1, "snapshot_id", "long"),
            _optional(3, "sequence_number", "long"),
            _optional(4, "file_sequence_number", "long"),
            _required(2, "data_file", {"type": "record", "name": "r2", "fields": file_fields}),
        ],
    }


def manifest_list_schema() -> Json:
    """Return the schema of a manifest list's entries."""
    summary = {
        "type": "record",
        "name": "r508",
        "fields": [
            _required(509, "contains_null", "boolean"),
            _optional(518, "contains_nan", "boolean"),
            _optional(510, "lower_bound", "bytes"),
            _optional(511, "upper_bound", "bytes"),
        ],
    }
    return {
        "type": "record",
        "name": "manifest_file",
        "fields": [
            _required(500, "manifest_path", "string"),
            _required(501, "manifest_length", "long"),
            _required(502, "partition_spec_id", "int"),
            _required(517, "content", "int"),
            _required(515, "sequence_number", "long"),
            _required(516, "min_sequence_number", "long"),
            _required(503, "added_snapshot_id", "long"),
            _required(504, "added_files_count", "int"),
            _required(505, "existing_files_count", "int"),
            _required(506, "deleted_files_count", "int"),
            _required(512, "added_rows_count", "long"),
            _required(513, "existing_rows_count", "long"),
            _required(514, "deleted_rows_count", "long"),
            _optional(507, "partitions", {"type": "array", "items": summary, "element-id": 508}),
        ],
    }


def _required(field_id: int, name: str, avro_type: Json) -> Json:
    return {"name": name, "type": avro_type, "field-id": field_id}


def _optional(field_id: int, name: str, avro_type: Json) -> Json:
    return {"name": name, "type": ["null", avro_type], "default": None, "field-id": field_id}


def _by_column(key_id: int, value_id: int, value: str) -> Json:
    """Return the schema of a map by column id.

    It is an array of pairs, because Avro maps have string keys only.
    """
    entry = {
        "type": "record",
        "name": f"k{key_id}_v{value_id}",
        "fields": [_required(key_id, "key", "int"), _required(value_id, "value", value)],
    }
    return {"type": "array", "logicalType": "map", "items": entry}
