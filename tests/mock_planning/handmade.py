"""Tables whose manifests are written here, byte by byte as the format says, with fastavro.

No library writes what is needed: wrong counts, deletes of every kind, three format versions.
Values are encoded by pyiceberg, which shares nothing with the server.
"""

import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fastavro
import httpx
from pyiceberg.conversions import to_bytes
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    DateType,
    DecimalType,
    FixedType,
    IcebergType,
    IntegerType,
    LongType,
    PrimitiveType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)
from pyiceberg.utils.decimal import decimal_required_bytes

PATH_ID = 2147483546
POSITION_DELETES, EQUALITY_DELETES = 1, 2


@dataclass
class File:
    """One entry of a manifest; partition values and bounds as pyiceberg counts them."""

    path: str
    partition: tuple[Any, ...] = ()
    content: int = 0
    records: int = 10
    format: str = "PARQUET"
    status: int = 1
    snapshot_id: int | None = None
    sequence_number: int | None = None
    column_sizes: dict[int, int] | None = None
    values: dict[int, int] | None = None
    nulls: dict[int, int] | None = None
    nans: dict[int, int] | None = None
    lower: dict[int, bytes] | None = None
    upper: dict[int, bytes] | None = None
    key_metadata: bytes | None = None
    split_offsets: list[int] | None = None
    equality_ids: list[int] | None = None
    sort_order_id: int | None = None
    first_row_id: int | None = None
    referenced: str | None = None
    offset: int | None = None
    size: int | None = None


@dataclass
class Manifest:
    """One manifest; `summaries` False leaves the partition summaries out."""

    files: list[File]
    deletes: bool = False
    spec_id: int = 0
    summaries: bool = True
    codec: str = "deflate"
    logical_types: bool = True


@dataclass
class Handmade:
    """A table of the server, and the manifests of its current snapshot."""

    http: httpx.Client
    root: Path
    name: str
    version: int
    manifests: list[dict[str, Any]] = field(default_factory=list)
    snapshot_id: int | None = None
    count: int = 0
    rows: int = 0

    @property
    def path(self) -> str:
        return f"/namespaces/ns/tables/{self.name}"

    def metadata(self) -> dict[str, Any]:
        found = self.http.get(self.path).json()["metadata"]
        assert isinstance(found, dict)
        return found

    def metadata_location(self) -> str:
        return str(self.http.get(self.path).json()["metadata-location"])

    def partition_types(self, spec_id: int) -> list[tuple[int, str, IcebergType]]:
        """Field id, name and result type of each partition field, by pyiceberg."""
        metadata = self.metadata()
        schemas = {each["schema-id"]: each for each in metadata["schemas"]}
        schema = Schema.model_validate(schemas[metadata["current-schema-id"]])
        specs = {each["spec-id"]: each for each in metadata["partition-specs"]}
        type_ = PartitionSpec.model_validate(specs[spec_id]).partition_type(schema)
        return [(each.field_id, each.name, each.field_type) for each in type_.fields]

    def commit(
        self,
        *manifests: Manifest,
        operation: str = "append",
        keep: bool = True,
        v1_list: bool = False,
    ) -> int:
        """Add manifests in a new snapshot; its sequence number is the count of the commits."""
        self.count += 1
        snapshot_id = 1000 + self.count
        kept = list(self.manifests) if keep else []
        added = [self._written(each, snapshot_id, index) for index, each in enumerate(manifests)]
        first_row = self.rows
        if self.version >= 3:
            for entry in added:
                if entry["content"] == 0:
                    entry["first_row_id"] = self.rows
                    self.rows += entry["added_rows_count"] + entry["existing_rows_count"]
        self.manifests = [*added, *kept]
        snapshot: dict[str, Any] = {
            "snapshot-id": snapshot_id,
            "sequence-number": self.count if self.version > 1 else 0,
            "timestamp-ms": 1_700_000_000_000 + self.count,
            "summary": {"operation": operation},
            "schema-id": self.metadata()["current-schema-id"],
        }
        if self.snapshot_id is not None:
            snapshot["parent-snapshot-id"] = self.snapshot_id
        if self.version >= 3:
            snapshot |= {"first-row-id": first_row, "added-rows": self.rows - first_row}
        if v1_list:
            snapshot["manifests"] = [entry["manifest_path"] for entry in self.manifests]
        else:
            snapshot["manifest-list"] = self._manifest_list(snapshot_id)
        self._update(
            {"action": "add-snapshot", "snapshot": snapshot},
            {
                "action": "set-snapshot-ref",
                "ref-name": "main",
                "type": "branch",
                "snapshot-id": snapshot_id,
            },
        )
        self.snapshot_id = snapshot_id
        return snapshot_id

    def _update(self, *updates: dict[str, Any]) -> None:
        answer = self.http.post(self.path, json={"requirements": [], "updates": list(updates)})
        assert answer.status_code == 200, answer.text

    update = _update

    def _write(
        self, name: str, schema: Any, records: list[Any], codec: str, metadata: dict[str, str]
    ) -> str:
        buffer = io.BytesIO()
        fastavro.writer(buffer, without_logical_types(schema), records, codec=codec)
        content = with_header(buffer.getvalue(), {**metadata, "avro.schema": json.dumps(schema)})
        directory = self.root / self.name
        directory.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)
        return f"file://{directory / name}"

    def _manifest_list(self, snapshot_id: int) -> str:
        schema = manifest_list_schema(self.version)
        known = [each["name"] for each in schema["fields"]]
        records = [{name: each.get(name) for name in known} for each in self.manifests]
        return self._write(f"snap-{snapshot_id}.avro", schema, records, "deflate", {})

    def _written(self, manifest: Manifest, snapshot_id: int, index: int) -> dict[str, Any]:
        types = self.partition_types(manifest.spec_id)
        schema = manifest_schema(self.version, types, logical_types=manifest.logical_types)
        records = [entry_record(each, snapshot_id, types, self.version) for each in manifest.files]
        path = self._write(
            f"manifest-{snapshot_id}-{index}.avro",
            schema,
            records,
            manifest.codec,
            self._manifest_metadata(manifest),
        )
        counts = {
            name: [each.records for each in manifest.files if each.status == status]
            for name, status in (("added", 1), ("existing", 0), ("deleted", 2))
        }
        written = {f"{name}_files_count": len(rows) for name, rows in counts.items()}
        written |= {f"{name}_rows_count": sum(rows) for name, rows in counts.items()}
        summaries = [
            summary([each.partition[at] for each in manifest.files], type_)
            for at, (_, _, type_) in enumerate(types)
        ]
        return {
            **written,
            "manifest_path": path,
            "manifest_length": 100,
            "partition_spec_id": manifest.spec_id,
            "content": int(manifest.deletes),
            "sequence_number": self.count,
            "min_sequence_number": 0,
            "added_snapshot_id": snapshot_id,
            "partitions": summaries if manifest.summaries else None,
            "first_row_id": None,
        }

    def _manifest_metadata(self, manifest: Manifest) -> dict[str, str]:
        metadata = self.metadata()
        schemas = {each["schema-id"]: each for each in metadata["schemas"]}
        specs = {each["spec-id"]: each for each in metadata["partition-specs"]}
        return {
            "schema": json.dumps(schemas[metadata["current-schema-id"]]),
            "partition-spec": json.dumps(specs[manifest.spec_id]["fields"]),
            "partition-spec-id": str(manifest.spec_id),
            "format-version": str(self.version),
            "content": "deletes" if manifest.deletes else "data",
        }


def make_table(
    http: httpx.Client,
    root: Path,
    name: str,
    schema: dict[str, Any],
    spec: list[dict[str, Any]] | None = None,
    version: int = 2,
) -> Handmade:
    body: dict[str, Any] = {
        "name": name,
        "schema": schema,
        "properties": {"format-version": str(version)},
    }
    if spec:
        body["partition-spec"] = {"spec-id": 0, "fields": spec}
    answer = http.post("/namespaces/ns/tables", json=body)
    assert answer.status_code == 200, answer.text
    return Handmade(http, root, name, version)


def encoded(type_: PrimitiveType, value: Any) -> bytes:
    return bytes(to_bytes(type_, value))


def summary(values: list[Any], type_: IcebergType) -> dict[str, Any]:
    """The field summary of a partition field, with the bounds that a writer would give."""
    assert isinstance(type_, PrimitiveType)
    known = [each for each in values if each is not None and each == each]  # noqa: PLR0124
    return {
        "contains_null": None in values,
        "contains_nan": any(each != each for each in values),  # noqa: PLR0124
        "lower_bound": encoded(type_, min(known)) if known else None,
        "upper_bound": encoded(type_, max(known)) if known else None,
    }


def entry_record(file: File, snapshot_id: int, types: list[Any], version: int) -> dict[str, Any]:
    partition = {
        name: avro_value(type_, value)
        for (_, name, type_), value in zip(types, file.partition, strict=True)
    }
    data_file = {
        "content": file.content,
        "file_path": file.path,
        "file_format": file.format,
        "partition": partition,
        "record_count": file.records,
        "file_size_in_bytes": 1000,
        "block_size_in_bytes": 1,
        "column_sizes": pairs(file.column_sizes),
        "value_counts": pairs(file.values),
        "null_value_counts": pairs(file.nulls),
        "nan_value_counts": pairs(file.nans),
        "lower_bounds": pairs(file.lower),
        "upper_bounds": pairs(file.upper),
        "key_metadata": file.key_metadata,
        "split_offsets": file.split_offsets,
        "equality_ids": file.equality_ids,
        "sort_order_id": file.sort_order_id,
        "first_row_id": file.first_row_id,
        "referenced_data_file": file.referenced,
        "content_offset": file.offset,
        "content_size_in_bytes": file.size,
    }
    own_snapshot = snapshot_id if version == 1 else None
    return {
        "status": file.status,
        "snapshot_id": file.snapshot_id or own_snapshot,
        "sequence_number": file.sequence_number,
        "file_sequence_number": file.sequence_number,
        "data_file": data_file,
    }


def pairs(values: dict[int, Any] | None) -> list[dict[str, Any]] | None:
    return None if values is None else [{"key": k, "value": v} for k, v in values.items()]


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
