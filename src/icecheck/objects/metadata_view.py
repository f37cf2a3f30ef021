"""Reads table metadata without the parts that a server may choose or change."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from icecheck.contract import SPEC_VERSIONS, load
from icecheck.contract.document import resolve
from icecheck.replies.expect import Blocked, Reply
from icecheck.replies.matching import Matcher

Json = Mapping[str, Any]

_SCHEME_ALIASES = {"s3a": "s3", "s3n": "s3"}
_LISTS = (
    ("schemas", "schema-id"), ("partition-specs", "spec-id"), ("sort-orders", "order-id"),
    ("snapshots", "snapshot-id"),
)  # fmt: skip
_TOLD_FIRST = (
    "format-version", "current-schema-id", "default-spec-id", "default-sort-order-id",
    "last-column-id", "last-partition-id", "last-sequence-number", "next-row-id",
)  # fmt: skip
"""Of several members that differ, the first one names the finding."""
_UNORDERED = ("statistics", "partition-statistics", "encryption-keys")
_IN_ONE_SPELLING = ("table-uuid", "view-uuid", "location", "current-snapshot-id")
"""Single values that a server may spell in several ways, so that each is compared by itself."""
_CHANGES_WITH_TIME = "two loads of one version may differ in it, and a refused commit may move it"
NOT_COMPARED: Mapping[str, str] = dict.fromkeys(
    ("last-updated-ms", "metadata-log", "snapshot-log", "version-log"), _CHANGES_WITH_TIME
)
"""The members of table and view metadata that comparisons leave out, each with the reason."""


def metadata_in(reply: Reply) -> dict[str, Any]:
    """Return the table metadata of an answer; raise Blocked when it is no object."""
    metadata = reply.member("metadata")
    if not isinstance(metadata, dict):
        by = f"schema.{reply.exchange.operation}.{reply.status}"
        why = "the answer has no usable table metadata"
        raise Blocked(by, why, exchange=reply.exchange.ordinal)
    return metadata


def settled(metadata: Json, *property_keys: str) -> dict[str, Any]:
    """Return the parts that only a commit may change; they are equal for equal tables.

    Times, logs, properties that are not named and empty members (null, an empty list) are left out:
    two loads of one version may differ in them.
    """
    properties = metadata.get("properties")
    kept: dict[str, Any] = {
        member: metadata.get(member) for member in single_values("TableMetadata")
    }
    kept["table-uuid"] = str(metadata.get("table-uuid")).lower()
    kept["location"] = place(metadata.get("location"))
    for member, id_member in _LISTS:
        kept[member] = {str(o.get(id_member, 0)): _said(o) for o in _objects(metadata, member)}
    snapshot = metadata.get("current-snapshot-id")
    kept["current-snapshot-id"] = None if snapshot == -1 else snapshot
    for member in _UNORDERED:
        kept[member] = sorted((_said(o) for o in _objects(metadata, member)), key=repr)
    refs = metadata.get("refs")
    kept["refs"] = _said(refs) if isinstance(refs, dict) else {}
    known = properties if isinstance(properties, dict) else {}
    kept["properties"] = {key: known.get(key) for key in property_keys}
    return kept


@cache
def single_values(schema: str) -> tuple[str, ...]:
    """Return the members of a schema of metadata that hold one value, to be compared as they are.

    They are those of every loaded document, so that what a new one adds is compared too.
    """
    found = dict.fromkeys(_TOLD_FIRST if schema == "TableMetadata" else ())
    for version in SPEC_VERSIONS:
        document = load(version).raw
        members = document["components"]["schemas"][schema]["properties"]
        for name, declared in members.items():
            type_ = resolve(document, declared).get("type")
            if type_ not in {None, "array", "object"}:
                found.setdefault(name)
    return tuple(name for name in found if name not in {*_IN_ONE_SPELLING, *NOT_COMPARED})


def but_for_snapshots(metadata: Json, *keys: str) -> dict[str, Any]:
    """Return the metadata without snapshots and their files, which a load may leave out."""
    about = {"snapshots", "statistics", "partition-statistics"}
    return {k: v for k, v in settled(metadata, *keys).items() if k not in about}


def same_uuid(uuid: str) -> Matcher:
    """Match a uuid regardless of letter case."""
    return Matcher(f'"{uuid}"', lambda v: isinstance(v, str) and v.lower() == uuid.lower())


def place(location: Any) -> str:
    """Return a location with normalized scheme aliases and without superfluous slashes."""
    text = re.sub("/+", "/", str(location or "")).rstrip("/")
    scheme, colon, path = text.partition(":/")
    if not colon:
        return text
    return f"{_SCHEME_ALIASES.get(scheme.lower(), scheme.lower())}:/{path}"


def _said(value: Any) -> Any:
    if isinstance(value, dict):
        inner = {key: _said(item) for key, item in value.items()}
        return {key: item for key, item in inner.items() if item not in (None, [], {})}
    return [_said(item) for item in value] if isinstance(value, list) else value


def _objects(metadata: Json, member: str) -> list[Json]:
    listed = metadata.get(member)
    return [o for o in listed if isinstance(o, dict)] if isinstance(listed, list) else []


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
    found = [m for m in _objects(metadata, members) if m.get(id_member, 0) == wanted]
    return found[0] if found else {}


def next_id(metadata: Json, members: str, id_member: str) -> int:
    """Return the id after the highest that a schema, spec or order of the metadata has."""
    ids = (each.get(id_member) for each in _objects(metadata, members))
    return 1 + max((id_ for id_ in ids if isinstance(id_, int)), default=0)


def shape(type_: Any) -> Any:
    """Return a type without its ids: names, types, required and doc, in order.

    Spaces in primitive types are removed: ``decimal(9, 2)`` becomes ``decimal(9,2)``.
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
    """Yield every field id in a type, including those of list elements, map keys and values."""
    if not isinstance(type_, Mapping):
        return
    match type_.get("type"):
        case "struct":
            for field in type_.get("fields", []):
                yield field.get("id", 0)
                yield from field_ids(field.get("type"))
        case "list":
            yield type_.get("element-id", 0)
            yield from field_ids(type_.get("element"))
        case "map":
            yield type_.get("key-id", 0)
            yield type_.get("value-id", 0)
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
