"""Avro as Iceberg writes it: the schemas of manifests and lists, and values as they are stored."""

import io
from typing import Any

import fastavro
from pyiceberg.types import (
    BinaryType,
    DateType,
    DecimalType,
    FixedType,
    IcebergType,
    IntegerType,
    LongType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)
from pyiceberg.utils.decimal import decimal_required_bytes


def avro_value(type_: IcebergType, value: Any) -> Any:
    if value is None:
        return None
    match type_:
        case DecimalType():
            size = decimal_required_bytes(type_.precision)
            return int(value.scaleb(type_.scale)).to_bytes(size, "big", signed=True)
        case UUIDType():
            return value.bytes
        case _:
            return value


AVRO_TYPES: dict[type[IcebergType], tuple[Any, str | None]] = {
    DateType: ("int", "date"),
    IntegerType: ("int", None),
    LongType: ("long", None),
    TimestampType: ("long", "timestamp-micros"),
    TimestamptzType: ("long", "timestamp-micros"),
    BinaryType: ("bytes", None),
}


def avro_type(type_: IcebergType, name: str, *, logical_types: bool) -> Any:
    match type_:
        case FixedType():
            return {"type": "fixed", "name": f"f_{name}", "size": len(type_)}
        case UUIDType():
            return {"type": "fixed", "name": f"u_{name}", "size": 16, "logicalType": "uuid"}
        case DecimalType():
            scale = {"precision": type_.precision, "scale": type_.scale}
            size = decimal_required_bytes(type_.precision)
            fixed = {"type": "fixed", "name": f"d_{name}", "size": size}
            return {**fixed, "logicalType": "decimal", **scale}
        case _:
            plain, logical = AVRO_TYPES.get(type(type_), (str(type_), None))
            if logical is None or not logical_types:
                return plain
            return {"type": plain, "logicalType": logical}


def manifest_schema(version: int, types: list[Any], *, logical_types: bool) -> dict[str, Any]:
    partition = [
        optional(field_id, name, avro_type(type_, name, logical_types=logical_types))
        for field_id, name, type_ in types
    ]
    fields = [
        *([required(134, "content", "int")] if version > 1 else []),
        required(100, "file_path", "string"),
        required(101, "file_format", "string"),
        required(102, "partition", {"type": "record", "name": "r102", "fields": partition}),
        required(103, "record_count", "long"),
        required(104, "file_size_in_bytes", "long"),
        *([required(105, "block_size_in_bytes", "long")] if version == 1 else []),
        optional(108, "column_sizes", counted(117, 118, "long")),
        optional(109, "value_counts", counted(119, 120, "long")),
        optional(110, "null_value_counts", counted(121, 122, "long")),
        optional(137, "nan_value_counts", counted(138, 139, "long")),
        optional(125, "lower_bounds", counted(126, 127, "bytes")),
        optional(128, "upper_bounds", counted(129, 130, "bytes")),
        optional(131, "key_metadata", "bytes"),
        optional(132, "split_offsets", {"type": "array", "items": "long", "element-id": 133}),
        optional(140, "sort_order_id", "int"),
    ]
    if version > 1:
        ids = {"type": "array", "items": "int", "element-id": 136}
        fields += [
            optional(135, "equality_ids", ids),
            optional(143, "referenced_data_file", "string"),
        ]
    if version > 2:
        fields += [
            optional(142, "first_row_id", "long"),
            optional(144, "content_offset", "long"),
            optional(145, "content_size_in_bytes", "long"),
        ]
    entry = [
        required(0, "status", "int"),
        (required if version == 1 else optional)(1, "snapshot_id", "long"),
        *([optional(3, "sequence_number", "long")] if version > 1 else []),
        *([optional(4, "file_sequence_number", "long")] if version > 1 else []),
        required(2, "data_file", {"type": "record", "name": "r2", "fields": fields}),
    ]
    return {"type": "record", "name": "manifest_entry", "fields": entry}


def manifest_list_schema(version: int) -> dict[str, Any]:
    summaries = {
        "type": "array",
        "element-id": 508,
        "items": {
            "type": "record",
            "name": "r508",
            "fields": [
                required(509, "contains_null", "boolean"),
                optional(518, "contains_nan", "boolean"),
                optional(510, "lower_bound", "bytes"),
                optional(511, "upper_bound", "bytes"),
            ],
        },
    }
    later = [
        required(517, "content", "int"),
        required(515, "sequence_number", "long"),
        required(516, "min_sequence_number", "long"),
    ]
    return {
        "type": "record",
        "name": "manifest_file",
        "fields": [
            required(500, "manifest_path", "string"),
            required(501, "manifest_length", "long"),
            required(502, "partition_spec_id", "int"),
            *(later if version > 1 else []),
            required(503, "added_snapshot_id", "long"),
            optional(504, "added_files_count", "int"),
            optional(505, "existing_files_count", "int"),
            optional(506, "deleted_files_count", "int"),
            optional(512, "added_rows_count", "long"),
            optional(513, "existing_rows_count", "long"),
            optional(514, "deleted_rows_count", "long"),
            optional(507, "partitions", summaries),
            *([optional(520, "first_row_id", "long")] if version > 2 else []),
        ],
    }


def required(field_id: int, name: str, type_: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, "field-id": field_id}


HEADER = {
    "type": "record",
    "name": "header",
    "fields": [
        {"name": "magic", "type": {"type": "fixed", "name": "m", "size": 4}},
        {"name": "meta", "type": {"type": "map", "values": "bytes"}},
        {"name": "sync", "type": {"type": "fixed", "name": "s", "size": 16}},
    ],
}


def with_header(content: bytes, metadata: dict[str, str]) -> bytes:
    """An Avro file with other metadata: so values are written as they are stored."""
    source, changed = io.BytesIO(content), io.BytesIO()
    header = fastavro.schemaless_reader(source, HEADER, None)
    assert isinstance(header, dict)
    header["meta"] |= {name: value.encode() for name, value in metadata.items()}
    fastavro.schemaless_writer(changed, HEADER, header)
    return changed.getvalue() + source.read()


def without_logical_types(schema: Any) -> Any:
    match schema:
        case dict():
            kept = {key: value for key, value in schema.items() if key != "logicalType"}
            return {key: without_logical_types(value) for key, value in kept.items()}
        case list():
            return [without_logical_types(each) for each in schema]
        case _:
            return schema


def optional(field_id: int, name: str, type_: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", type_], "default": None, "field-id": field_id}


def counted(key_id: int, value_id: int, value: str) -> dict[str, Any]:
    return {
        "type": "array",
        "logicalType": "map",
        "items": {
            "type": "record",
            "name": f"k{key_id}_v{value_id}",
            "fields": [required(key_id, "key", "int"), required(value_id, "value", value)],
        },
    }
