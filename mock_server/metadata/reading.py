"""Reads table metadata from a file of any supported format version, older forms included."""

from typing import Any
from uuid import NAMESPACE_URL, uuid5

from msgspec import Struct, structs

from icecheck.mock_server.metadata.binding import (
    PARTITION_FIELD_ID_MIN,
    UNPARTITIONED_LAST_ID,
    UNSORTED_ORDER_ID,
    check_order_id,
    highest_partition_field_id,
)
from icecheck.mock_server.metadata.builder import canonical_location
from icecheck.mock_server.metadata.column_types import Int32, Int64
from icecheck.mock_server.metadata.invariants import check_format_version, check_metadata, check_ref
from icecheck.mock_server.metadata.model import (
    MAIN_BRANCH,
    EncryptedKey,
    MetadataLogEntry,
    PartitionField,
    PartitionSpec,
    PartitionStatisticsFile,
    Schema,
    Snapshot,
    SnapshotLogEntry,
    SnapshotRef,
    SortOrder,
    StatisticsFile,
    TableMetadata,
)
from icecheck.mock_server.metadata.requested import RequestedPartitionField, RequestedSchema
from icecheck.mock_server.metadata.schemas import valid_schema
from icecheck.mock_server.metadata.transforms import canonical_transform
from icecheck.mock_server.protocol.json_input import decode_json
from icecheck.mock_server.protocol.problem import bad_request

_NO_SNAPSHOT_ID = -1


class _SpecInFile(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    spec_id: Int32
    fields: tuple[RequestedPartitionField, ...]


class _MetadataInFile(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """All members that a file may have; the required ones depend on the version."""

    format_version: Int32
    table_uuid: str | None = None
    location: str
    last_sequence_number: Int64 | None = None
    last_updated_ms: Int64
    last_column_id: Int32
    schema: RequestedSchema | None = None
    schemas: tuple[RequestedSchema, ...] | None = None
    current_schema_id: Int32 | None = None
    partition_spec: tuple[RequestedPartitionField, ...] | None = None
    partition_specs: tuple[_SpecInFile, ...] | None = None
    default_spec_id: Int32 | None = None
    last_partition_id: Int32 | None = None
    sort_orders: tuple[SortOrder, ...] | None = None
    default_sort_order_id: Int32 | None = None
    properties: dict[str, str] | None = None
    current_snapshot_id: Int64 | None = None
    next_row_id: Int64 | None = None
    encryption_keys: tuple[EncryptedKey, ...] | None = None
    refs: dict[str, SnapshotRef] | None = None
    snapshots: tuple[Snapshot, ...] | None = None
    statistics: tuple[StatisticsFile, ...] | None = None
    partition_statistics: tuple[PartitionStatisticsFile, ...] | None = None
    snapshot_log: tuple[SnapshotLogEntry, ...] | None = None
    metadata_log: tuple[MetadataLogEntry, ...] | None = None


_REQUIRED_SINCE = {
    "table_uuid": 2,
    "last_sequence_number": 2,
    "schemas": 2,
    "current_schema_id": 2,
    "partition_specs": 2,
    "default_spec_id": 2,
    "last_partition_id": 2,
    "sort_orders": 2,
    "default_sort_order_id": 2,
    "next_row_id": 3,
}


def read_metadata(data: bytes) -> TableMetadata:
    """Read a metadata file; any fault in it is a 400 Problem.

    A version 1 table without a uuid gets one that follows from its location, so that reading the
    file again gives the same table. Members that are not in the document, also those of a snapshot,
    are left in the file, as Java's clients leave them.
    """
    try:
        data.decode()  # all parts have to be text, decoded or not: engines read the file
    except UnicodeDecodeError as error:
        raise bad_request(f"Malformed metadata file: {error}") from error
    file = decode_json(_MetadataInFile, data)
    check_format_version(file.format_version)
    _check_required_members(file)
    location = canonical_location(file.location)
    metadata = TableMetadata(
        format_version=file.format_version,
        table_uuid=file.table_uuid or str(uuid5(NAMESPACE_URL, location)),
        location=location,
        last_sequence_number=file.last_sequence_number or 0,
        last_updated_ms=file.last_updated_ms,
        last_column_id=file.last_column_id,
        properties=file.properties or {},
        next_row_id=(file.next_row_id or 0) if file.format_version >= 3 else 0,
        encryption_keys=file.encryption_keys or (),
        snapshots=_snapshots(file),
        statistics=file.statistics or (),
        partition_statistics=file.partition_statistics or (),
        snapshot_log=file.snapshot_log or (),
        metadata_log=file.metadata_log or (),
        **_schemas(file),
        **_partition_specs(file),
        **_sort_orders(file),
        **_refs(file),
    )
    check_metadata(metadata)
    return metadata


def _check_required_members(file: _MetadataInFile) -> None:
    for member, since in _REQUIRED_SINCE.items():
        if file.format_version >= since and getattr(file, member) is None:
            name = member.replace("_", "-")
            raise bad_request(f"Cannot parse missing {name} in a v{file.format_version} table")
    if file.table_uuid is not None and not file.table_uuid:
        raise bad_request("Cannot parse table-uuid: empty")


def _schemas(file: _MetadataInFile) -> dict[str, Any]:
    if file.schemas is not None:
        if file.current_schema_id is None:
            raise bad_request("Cannot parse missing current-schema-id")
        schemas = tuple(
            _schema(schema, schema.schema_id, file.format_version) for schema in file.schemas
        )
        return {"schemas": schemas, "current_schema_id": file.current_schema_id}
    if file.schema is None:
        raise bad_request("Cannot parse missing schema")
    schema = _schema(file.schema, file.schema.schema_id or 0, file.format_version)
    return {"schemas": (schema,), "current_schema_id": schema.schema_id}


def _schema(schema: RequestedSchema, schema_id: int | None, format_version: int) -> Schema:
    if schema_id is None:
        raise bad_request("Cannot parse missing schema-id")
    return valid_schema(schema, schema_id, format_version)


def _partition_specs(file: _MetadataInFile) -> dict[str, Any]:
    if file.partition_specs is not None:
        if file.default_spec_id is None:
            raise bad_request("Cannot parse missing default-spec-id")
        specs = tuple(_spec(spec.spec_id, spec.fields) for spec in file.partition_specs)
        default_spec_id = file.default_spec_id
    elif file.partition_spec is not None:
        specs, default_spec_id = (_spec(0, file.partition_spec),), 0
    else:
        raise bad_request("Cannot parse missing partition-spec")
    last = file.last_partition_id
    if last is None:
        last = max(map(highest_partition_field_id, specs), default=UNPARTITIONED_LAST_ID)
    return {"partition_specs": specs, "default_spec_id": default_spec_id, "last_partition_id": last}


def _spec(spec_id: int, fields: tuple[RequestedPartitionField, ...]) -> PartitionSpec:
    if any(field.field_id is None for field in fields) and any(
        field.field_id is not None for field in fields
    ):
        raise bad_request("Give partition field ids for all fields or for none")
    return PartitionSpec(
        spec_id=spec_id,
        fields=tuple(
            PartitionField(
                name=field.name,
                transform=canonical_transform(field.transform),
                source_id=field.source_id,
                field_id=position if field.field_id is None else field.field_id,
            )
            for position, field in enumerate(fields, PARTITION_FIELD_ID_MIN)
        ),
    )


def _sort_orders(file: _MetadataInFile) -> dict[str, Any]:
    if file.sort_orders is None:
        unsorted = SortOrder(order_id=UNSORTED_ORDER_ID, fields=())
        return {"sort_orders": (unsorted,), "default_sort_order_id": UNSORTED_ORDER_ID}
    if file.default_sort_order_id is None:
        raise bad_request("Cannot parse missing default-sort-order-id")
    for order in file.sort_orders:
        check_order_id(order.order_id, order.fields)
    orders = tuple(
        structs.replace(
            order,
            fields=tuple(
                structs.replace(field, transform=canonical_transform(field.transform))
                for field in order.fields
            ),
        )
        for order in file.sort_orders
    )
    return {"sort_orders": orders, "default_sort_order_id": file.default_sort_order_id}


def _refs(file: _MetadataInFile) -> dict[str, Any]:
    current = file.current_snapshot_id
    if current == _NO_SNAPSHOT_ID:
        current = None
    refs = file.refs
    for name, ref in (refs or {}).items():
        check_ref(name, ref)
    if refs is None:
        refs = {}
        if current is not None:
            refs = {MAIN_BRANCH: SnapshotRef(snapshot_id=current, type="branch")}
    return {"refs": refs, "current_snapshot_id": current}


def _snapshots(file: _MetadataInFile) -> tuple[Snapshot, ...]:
    for snapshot in file.snapshots or ():
        if snapshot.manifest_list is None and snapshot.manifests is None:
            raise bad_request(
                f"Cannot parse snapshot {snapshot.snapshot_id}: neither manifest-list nor manifests"
            )
    return file.snapshots or ()
