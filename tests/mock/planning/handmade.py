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
from pyiceberg.types import IcebergType, PrimitiveType

from tests.mock.planning.avro_schemas import (
    avro_value,
    manifest_list_schema,
    manifest_schema,
    with_header,
    without_logical_types,
)

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
