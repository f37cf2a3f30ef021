"""The grammar of column types: primitives as text, structs, lists and maps as values."""

import re
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from icecheck.mock_server.protocol.problem import bad_request

Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
JsonScalar: TypeAlias = bool | int | float | str


class StructField(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename="kebab"):
    """One named column or nested field (document schema `StructField`)."""

    id: Int32
    name: str
    required: bool
    type: "str | StructType | ListType | MapType"
    doc: str | None = None
    initial_default: JsonScalar | None = None
    write_default: JsonScalar | None = None


class StructType(
    Struct, frozen=True, gc=False, kw_only=True, tag="struct", tag_field="type", rename="kebab"
):
    """A nested struct (document schema `StructType`)."""

    fields: tuple[StructField, ...]


class ListType(
    Struct, frozen=True, gc=False, kw_only=True, tag="list", tag_field="type", rename="kebab"
):
    """A list (document schema `ListType`)."""

    element_id: Int32
    element: "str | StructType | ListType | MapType"
    element_required: bool


class MapType(
    Struct, frozen=True, gc=False, kw_only=True, tag="map", tag_field="type", rename="kebab"
):
    """A map (document schema `MapType`)."""

    key_id: Int32
    key: "str | StructType | ListType | MapType"
    value_id: Int32
    value: "str | StructType | ListType | MapType"
    value_required: bool


FieldType: TypeAlias = str | StructType | ListType | MapType

_PLAIN = frozenset(
    {
        "boolean", "int", "long", "float", "double", "date", "time", "timestamp", "timestamptz",
        "string", "uuid", "binary", "timestamp_ns", "timestamptz_ns", "unknown", "variant",
    }
)  # fmt: skip
_VERSION_3 = frozenset(
    {"timestamp_ns", "timestamptz_ns", "unknown", "variant", "geometry", "geography"}
)
OF_EVERY_VERSION = _PLAIN - _VERSION_3
"""Primitive types without parameters in their one spelling that every format version has."""
_DECIMAL = re.compile(r"decimal\(\s*([0-9]{1,4})\s*,\s*([0-9]{1,4})\s*\)")
_FIXED = re.compile(r"fixed\[\s*([0-9]{1,9})\s*\]")
_GEOMETRY = re.compile(r"geometry\(\s*([^(),\s][^(),]*?)\s*\)", re.IGNORECASE | re.ASCII)
_GEOGRAPHY = re.compile(
    r"geography\(\s*([^(),\s][^(),]*?)\s*(?:,\s*([a-z]+)\s*)?\)", re.IGNORECASE | re.ASCII
)
_EDGE_ALGORITHMS = frozenset({"spherical", "vincenty", "thomas", "andoyer", "karney"})
_DECIMAL_PRECISION_MAX = 38


def canonical_primitive(text: str) -> str:
    """Return the one spelling of a primitive type, as the Java library writes it; else a Problem.

    Names are read in any case, as Java does; the parameters in parentheses keep their case.
    """
    name = text.lower()
    if name in _PLAIN or name in {"geometry", "geography"}:
        return name
    if match := _DECIMAL.fullmatch(name):
        precision, scale = int(match[1]), int(match[2])
        if not 1 <= precision <= _DECIMAL_PRECISION_MAX or scale > precision:
            raise bad_request(f"Invalid decimal type: {text}")
        return f"decimal({precision}, {scale})"
    if match := _FIXED.fullmatch(name):
        return f"fixed[{int(match[1])}]"
    if match := _GEOMETRY.fullmatch(text):
        return f"geometry({match[1]})"
    if match := _GEOGRAPHY.fullmatch(text):
        if match[2] is None:
            return f"geography({match[1]})"
        algorithm = match[2].lower()
        if algorithm in _EDGE_ALGORITHMS:
            return f"geography({match[1]}, {algorithm})"
    raise bad_request(f"Unknown primitive type: {text[:100]!r}")


def primitive_kind(text: str) -> str:
    """Return the name of a canonical primitive type without parameters: `decimal`, `fixed`, ..."""
    return text.partition("(")[0].partition("[")[0]


def minimum_format_version(text: str) -> int:
    """Return the first format version that has a canonical primitive type."""
    return 3 if primitive_kind(text) in _VERSION_3 else 1


def is_primitive(field_type: FieldType) -> bool:
    """Return whether the type holds one plain value; nested types and `variant` do not."""
    return isinstance(field_type, str) and field_type != "variant"


def decimal_shape(text: str) -> tuple[int, int]:
    """Return precision and scale of a canonical decimal type."""
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise bad_request(f"Not a decimal type: {text}")
    return int(match[1]), int(match[2])


def fixed_length(text: str) -> int:
    """Return the length in bytes of a canonical fixed type."""
    match = _FIXED.fullmatch(text)
    if match is None:
        raise bad_request(f"Not a fixed type: {text}")
    return int(match[1])
