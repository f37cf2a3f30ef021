"""Schemas, partition specs and sort orders as clients send them, before the server assigns ids."""

from typing import Literal

from msgspec import Struct

from icecheck.mock_server.metadata.column_types import Int32, StructField
from icecheck.mock_server.metadata.model import SortField


class RequestedSchema(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """A schema as sent; its `schema-id` is read and ignored: the server decides it."""

    type: Literal["struct"]
    fields: tuple[StructField, ...]
    schema_id: Int32 | None = None
    identifier_field_ids: tuple[Int32, ...] | None = None


class RequestedPartitionField(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """A partition field as sent, with or without an id."""

    name: str
    transform: str
    source_id: Int32
    field_id: Int32 | None = None


class RequestedPartitionSpec(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """A partition spec as sent; its `spec-id` is read and ignored."""

    fields: tuple[RequestedPartitionField, ...]
    spec_id: Int32 | None = None


class RequestedSortOrder(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """A sort order as sent; `order-id` only tells sorted (not 0) from unsorted (0)."""

    fields: tuple[SortField, ...]
    order_id: Int32 | None = None
