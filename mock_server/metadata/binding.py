"""Binds partition specs and sort orders to a schema: sources, transforms and ids."""

from collections.abc import Iterable, Mapping

from msgspec import structs

from icecheck.mock_server.metadata.column_types import is_primitive
from icecheck.mock_server.metadata.model import PartitionField, PartitionSpec, SortField, SortOrder
from icecheck.mock_server.metadata.requested import (
    RequestedPartitionField,
    RequestedPartitionSpec,
    RequestedSortOrder,
)
from icecheck.mock_server.metadata.schemas import Column
from icecheck.mock_server.metadata.transforms import VOID, applies_to, canonical_transform
from icecheck.mock_server.protocol.problem import bad_request

PARTITION_FIELD_ID_MIN = 1000
UNPARTITIONED_LAST_ID = PARTITION_FIELD_ID_MIN - 1
UNSORTED_ORDER_ID = 0
_INT32_MAX = 2**31 - 1


def bound_spec(
    requested: RequestedPartitionSpec,
    columns: Mapping[int, Column],
    *,
    format_version: int,
    last_partition_id: int,
    specs: Iterable[PartitionSpec] = (),
) -> PartitionSpec:
    """Bind a spec to the columns and give its fields ids; its own id stays 0.

    Ids that were sent are kept. Otherwise a field that another spec has with the same source and
    transform keeps that id, and the rest continue after `last_partition_id`; version 1 demands
    1000, 1001, ... in every spec. Every fault of the spec is a 400 Problem.
    """
    sent = tuple(
        structs.replace(field, transform=canonical_transform(field.transform))
        for field in requested.fields
    )
    _check_partition_names(sent, columns)
    given = [field.field_id for field in sent if field.field_id is not None]
    if given and len(given) != len(sent):
        raise bad_request("Give partition field ids for all fields or for none")
    ids = given or _assigned_ids(
        sent, format_version=format_version, last_partition_id=last_partition_id, specs=specs
    )
    if len(set(ids)) != len(ids):
        raise bad_request(f"Invalid partition spec: field ids are not unique: {ids}")
    if format_version == 1 and ids != _sequential_ids(len(ids)):
        raise bad_request(f"Version 1 needs partition field ids 1000, 1001, ... not {ids}")
    spec = PartitionSpec(
        spec_id=0,
        fields=tuple(
            PartitionField(
                name=field.name,
                transform=field.transform,
                source_id=field.source_id,
                field_id=field_id,
            )
            for field, field_id in zip(sent, ids, strict=True)
        ),
    )
    check_spec_resolves(spec, columns)
    return spec


def _sequential_ids(length: int) -> list[int]:
    return list(range(PARTITION_FIELD_ID_MIN, PARTITION_FIELD_ID_MIN + length))


def _assigned_ids(
    sent: tuple[RequestedPartitionField, ...],
    *,
    format_version: int,
    last_partition_id: int,
    specs: Iterable[PartitionSpec],
) -> list[int]:
    if format_version == 1:
        return _sequential_ids(len(sent))
    known = {
        (field.source_id, field.transform): field.field_id
        for spec in specs
        for field in spec.fields
    }
    last = max(last_partition_id, UNPARTITIONED_LAST_ID)
    ids: list[int] = []
    for field in sent:
        field_id = known.pop((field.source_id, field.transform), None)
        if field_id is None or field_id in ids:
            last += 1
            field_id = last
        ids.append(field_id)
    if last > _INT32_MAX:
        raise bad_request("Cannot assign partition field ids: no id is left")
    return ids


def _check_partition_names(
    fields: tuple[RequestedPartitionField, ...], columns: Mapping[int, Column]
) -> None:
    column_ids = {column.name: column.id for column in columns.values()} if fields else {}
    names: set[str] = set()
    for field in fields:
        if not field.name:
            raise bad_request("A partition field has no name")
        if field.name in names:
            raise bad_request(f"Two partition fields are named {field.name}")
        if column_ids.get(field.name, field.source_id) != field.source_id:
            raise bad_request(
                f"Partition field {field.name} has the name of a column that is not its source"
            )
        names.add(field.name)


def check_spec_resolves(spec: PartitionSpec, columns: Mapping[int, Column]) -> None:
    """Refuse (400) a spec whose sources are missing, not plain values or of an unfit type."""
    for field in spec.fields:
        if field.transform == VOID:
            continue  # a void field stays when its column is dropped
        column = columns.get(field.source_id)
        if column is None:
            raise bad_request(
                f"Partition field {field.name} has no source: no column {field.source_id}"
            )
        if not is_primitive(column.type):
            raise bad_request(f"Partition source {column.name} is no plain value")
        if not applies_to(field.transform, column.type):
            raise bad_request(f"Transform {field.transform} does not apply to type {column.type}")
        if column.in_collection:
            raise bad_request(f"Partition source {column.name} is in a list or map")


def same_spec(one: PartitionSpec, other: PartitionSpec) -> bool:
    """Return whether two specs have the same names, sources and transforms in the same order."""
    return [(f.source_id, f.transform, f.name) for f in one.fields] == [
        (f.source_id, f.transform, f.name) for f in other.fields
    ]


def highest_partition_field_id(spec: PartitionSpec) -> int:
    """Return the highest field id of a spec, 999 when it has no fields."""
    return max((field.field_id for field in spec.fields), default=UNPARTITIONED_LAST_ID)


def bound_sort_order(
    requested: RequestedSortOrder, columns: Mapping[int, Column], order_id: int
) -> SortOrder:
    """Bind a sort order to the columns; only the order without fields has id 0."""
    if requested.order_id is not None:
        check_order_id(requested.order_id, requested.fields)
    order = SortOrder(
        order_id=order_id if requested.fields else UNSORTED_ORDER_ID,
        fields=tuple(
            structs.replace(field, transform=canonical_transform(field.transform))
            for field in requested.fields
        ),
    )
    check_order_resolves(order, columns)
    return order


def check_order_id(order_id: int, fields: tuple[SortField, ...]) -> None:
    """Refuse (400) id 0 for a sorted order and any other id for the unsorted one."""
    if order_id == UNSORTED_ORDER_ID and fields:
        raise bad_request("Sort order id 0 cannot have fields")
    if order_id != UNSORTED_ORDER_ID and not fields:
        raise bad_request("A sort order without fields has id 0")


def check_order_resolves(order: SortOrder, columns: Mapping[int, Column]) -> None:
    """Refuse (400) a sort order whose sources are missing, not plain values or of an unfit type.

    Unlike a spec, an order keeps no void field of a column that is gone: Java clients cannot read
    it.
    """
    for field in order.fields:
        column = columns.get(field.source_id)
        if column is None:
            raise bad_request(f"A sort field has no source: no column {field.source_id}")
        if not is_primitive(column.type):
            raise bad_request(f"Sort source {column.name} is no plain value")
        if not applies_to(field.transform, column.type):
            raise bad_request(f"Transform {field.transform} does not apply to type {column.type}")
