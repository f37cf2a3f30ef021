"""Reads what checks need out of table metadata, without ids where a server may assign its own."""

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = [
    "column_names",
    "current_schema",
    "default_sort_order",
    "default_spec",
    "field_ids",
    "partition_fields",
    "shape",
    "sort_fields",
]

Json = Mapping[str, Any]


def current_schema(metadata: Json) -> Json:
    """Return the schema that ``current-schema-id`` names, or an empty one."""
    return _by_id(metadata, "schemas", "schema-id", "current-schema-id")


def default_spec(metadata: Json) -> Json:
    """Return the partition spec that ``default-spec-id`` names, or an empty one."""
    return _by_id(metadata, "partition-specs", "spec-id", "default-spec-id")


def default_sort_order(metadata: Json) -> Json:
    """Return the sort order that ``default-sort-order-id`` names, or an empty one."""
    return _by_id(metadata, "sort-orders", "order-id", "default-sort-order-id")


def _by_id(metadata: Json, members: str, id_member: str, pointer: str) -> Json:
    wanted = metadata.get(pointer, 0)
    found = [m for m in metadata.get(members) or [] if m.get(id_member, 0) == wanted]
    return found[0] if found else {}


def shape(type_: Any) -> Any:
    """Return a type without its ids: names, types, required and doc, in order.

    Primitive types are compared without spaces: ``decimal(9, 2)`` is ``decimal(9,2)``.
    """
    if not isinstance(type_, Mapping):
        return str(type_).replace(" ", "")
    match type_.get("type"):
        case "struct":
            return [
                {
                    "name": f.get("name"),
                    "type": shape(f.get("type")),
                    "required": f.get("required"),
                    "doc": f.get("doc"),
                }
                for f in type_.get("fields", [])
            ]
        case "list":
            return {"list": shape(type_.get("element")), "required": type_.get("element-required")}
        case "map":
            return {
                "key": shape(type_.get("key")),
                "value": shape(type_.get("value")),
                "required": type_.get("value-required"),
            }
        case other:
            return other


def field_ids(type_: Any) -> Iterator[int]:
    """Yield every field id in a type, those of list elements, map keys and values included."""
    if not isinstance(type_, Mapping):
        return
    match type_.get("type"):
        case "struct":
            for field in type_.get("fields", []):
                yield field.get("id")
                yield from field_ids(field.get("type"))
        case "list":
            yield type_["element-id"]
            yield from field_ids(type_.get("element"))
        case "map":
            yield type_["key-id"]
            yield type_["value-id"]
            yield from field_ids(type_.get("key"))
            yield from field_ids(type_.get("value"))


def column_names(metadata: Json) -> dict[int, str]:
    """Return the top-level columns of the current schema: id -> name."""
    fields = current_schema(metadata).get("fields", [])
    return {f.get("id"): f.get("name") for f in fields}


def partition_fields(metadata: Json) -> list[tuple[Any, Any, Any]]:
    """Return the default spec as (source column, transform, partition name)."""
    columns = column_names(metadata)
    return [
        (columns.get(f.get("source-id")), f.get("transform"), f.get("name"))
        for f in default_spec(metadata).get("fields", [])
    ]


def sort_fields(metadata: Json) -> list[tuple[Any, Any, Any, Any]]:
    """Return the default sort order as (source column, transform, direction, null order)."""
    columns = column_names(metadata)
    return [
        (
            columns.get(f.get("source-id")),
            *(f.get(k) for k in ("transform", "direction")),
            f.get("null-order"),
        )
        for f in default_sort_order(metadata).get("fields", [])
    ]
