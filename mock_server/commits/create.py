"""Turns a createTable request into the first metadata of a table."""

import re

from msgspec import Struct, structs

from icecheck.mock_server.metadata.binding import (
    bound_sort_order,
    bound_spec,
    highest_partition_field_id,
)
from icecheck.mock_server.metadata.builder import canonical_location, previous_versions_max
from icecheck.mock_server.metadata.invariants import check_format_version, check_metadata
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.metadata.requested import (
    RequestedPartitionSpec,
    RequestedSchema,
    RequestedSortOrder,
)
from icecheck.mock_server.metadata.schemas import Column, new_schema
from icecheck.mock_server.protocol.json_input import decode_json
from icecheck.mock_server.protocol.problem import bad_request

_FORMAT_VERSION_PROPERTY = "format-version"
_FORMAT_VERSION_DEFAULT = 2
_RESERVED_PROPERTIES = frozenset(
    {
        _FORMAT_VERSION_PROPERTY,
        "uuid",
        "snapshot-count",
        "current-snapshot-id",
        "current-snapshot-summary",
        "current-snapshot-timestamp-ms",
        "current-schema",
        "default-partition-spec",
        "default-sort-order",
    }
)
_DEFAULT_PROPERTIES = {"write.parquet.compression-codec": "zstd"}
_METRICS_COLUMN_PREFIX = "write.metadata.metrics.column."
_RETRY_PROPERTIES = (
    "commit.retry.num-retries",
    "commit.retry.min-wait-ms",
    "commit.retry.max-wait-ms",
    "commit.retry.total-timeout-ms",
)
_NATURAL_NUMBER = re.compile(r"\+?[0-9]{1,10}")
_INT32_MAX = 2**31 - 1


class CreateTableRequest(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """The body of createTable; every optional member may also be an explicit null."""

    name: str
    schema: RequestedSchema
    location: str | None = None
    partition_spec: RequestedPartitionSpec | None = None
    write_order: RequestedSortOrder | None = None
    stage_create: bool | None = None
    properties: dict[str, str] | None = None


def decode_create_table(body: bytes) -> CreateTableRequest:
    """Read a request body; anything malformed is a 400 Problem."""
    return decode_json(CreateTableRequest, body)


def new_table_metadata(
    request: CreateTableRequest, *, uuid: str, location: str, now_ms: int
) -> TableMetadata:
    """Build the first metadata; `location` is the default, used when the request names none.

    The server assigns all ids: columns from 1, partition fields from 1000, a sorted order 1. The
    ids in the request only identify the columns. Every fault of the request is a 400 Problem.
    """
    properties = request.properties or {}
    format_version = _format_version(properties)
    schema, columns, renumbered = new_schema(request.schema, format_version)
    spec = bound_spec(
        _renumbered_spec(request.partition_spec, renumbered),
        columns,
        format_version=format_version,
        last_partition_id=0,
    )
    order = bound_sort_order(_renumbered_order(request.write_order, renumbered), columns, 1)
    _check_properties(properties, columns)
    metadata = TableMetadata(
        format_version=format_version,
        table_uuid=uuid,
        location=canonical_location(location if request.location is None else request.location),
        last_updated_ms=now_ms,
        last_column_id=max(columns, default=0),
        current_schema_id=schema.schema_id,
        schemas=(schema,),
        default_spec_id=spec.spec_id,
        partition_specs=(spec,),
        last_partition_id=highest_partition_field_id(spec),
        default_sort_order_id=order.order_id,
        sort_orders=(order,),
        properties=_DEFAULT_PROPERTIES
        | {key: value for key, value in properties.items() if key not in _RESERVED_PROPERTIES},
    )
    check_metadata(metadata, columns=columns)
    return metadata


def _format_version(properties: dict[str, str]) -> int:
    text = properties.get(_FORMAT_VERSION_PROPERTY)
    if text is None:
        return _FORMAT_VERSION_DEFAULT
    if not _NATURAL_NUMBER.fullmatch(text):
        raise bad_request(f"Invalid format version: {text[:100]}")
    check_format_version(int(text))
    return int(text)


def _renumbered_spec(
    sent: RequestedPartitionSpec | None, renumbered: dict[int, int]
) -> RequestedPartitionSpec:
    if sent is None:
        return RequestedPartitionSpec(fields=())
    given = [field.field_id is not None for field in sent.fields]
    if any(given) and not all(given):
        raise bad_request("Give partition field ids for all fields or for none")
    return RequestedPartitionSpec(
        fields=tuple(
            structs.replace(
                field, source_id=_new_source_id(field.source_id, renumbered), field_id=None
            )
            for field in sent.fields
        )
    )


def _renumbered_order(
    sent: RequestedSortOrder | None, renumbered: dict[int, int]
) -> RequestedSortOrder:
    if sent is None:
        return RequestedSortOrder(fields=())
    return RequestedSortOrder(
        order_id=sent.order_id,
        fields=tuple(
            structs.replace(field, source_id=_new_source_id(field.source_id, renumbered))
            for field in sent.fields
        ),
    )


def _new_source_id(sent: int, renumbered: dict[int, int]) -> int:
    if sent not in renumbered:
        raise bad_request(f"Invalid source: no column {sent}")
    return renumbered[sent]


def _check_properties(properties: dict[str, str], columns: dict[int, Column]) -> None:
    for key in properties:
        named = key.removeprefix(_METRICS_COLUMN_PREFIX)
        if named != key and not any(named in (c.name, c.short_name) for c in columns.values()):
            raise bad_request(f"Property {key} names no column")
    for key in _RETRY_PROPERTIES:
        value = properties.get(key)
        if value is not None and not (
            _NATURAL_NUMBER.fullmatch(value) and int(value) <= _INT32_MAX
        ):
            raise bad_request(f"Property {key} must be a natural number: {value[:100]}")
    previous_versions_max(properties)
