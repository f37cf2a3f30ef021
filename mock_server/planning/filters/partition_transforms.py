"""Transforms column values to partition values: results, their types and their order.

`icecheck.mock_server.metadata.transforms` has the grammar; this module transforms values.
"""

import re
from decimal import Decimal
from typing import Literal, TypeAlias

from msgspec import Struct

from icecheck.mock_server.metadata.column_types import FieldType, decimal_shape, primitive_kind
from icecheck.mock_server.metadata.transforms import applies_to, canonical_transform
from icecheck.mock_server.planning.filters.civil_time import civil_from_days
from icecheck.mock_server.planning.filters.murmur3 import murmur3_32
from icecheck.mock_server.planning.filters.single_values import Value

TransformKind: TypeAlias = Literal[
    "identity", "bucket", "truncate", "year", "month", "day", "hour", "void", "unknown"
]

_KINDS: dict[str, TransformKind] = {
    "identity": "identity", "year": "year", "month": "month", "day": "day", "hour": "hour",
    "void": "void", "bucket[]": "bucket", "truncate[]": "truncate",
}  # fmt: skip
_PARAMETRISED = re.compile(r"(bucket|truncate)\[([0-9]+)\]", re.ASCII)
_ORDERED = frozenset({"identity", "truncate", "year", "month", "day", "hour"})
_UNITS_PER_HOUR = {
    "timestamp": 3_600_000_000,
    "timestamptz": 3_600_000_000,
    "timestamp_ns": 3_600_000_000_000,
    "timestamptz_ns": 3_600_000_000_000,
}
_JAVA_INT_MASK = 0x7FFFFFFF


class Transform(Struct, frozen=True):
    """A transform of one source type.

    `width` is the number of buckets or the length to truncate to, else 0. `source` is None for
    nested types. `result_type` is None if it cannot be known; `applies` is False if the transform
    cannot take values of the source.
    """

    kind: TransformKind
    width: int
    source: str | None
    result_type: str | None
    applies: bool

    @property
    def preserves_order(self) -> bool:
        """Whether a greater value never has a smaller result, and only null has a null result."""
        return self.applies and self.kind in _ORDERED

    def same_as(self, other: "Transform") -> bool:
        """Return whether both give the same result for the same value."""
        return (self.kind, self.width) == (other.kind, other.width) and self.kind != "unknown"


def transform_of(text: str, source: FieldType | None) -> Transform:
    """Return the transform of this name for a source type (None: a column that is gone).

    Problem 400 for a width that is no positive integer.
    """
    canonical = canonical_transform(text)
    parametrised = _PARAMETRISED.fullmatch(canonical)
    kind = _KINDS.get(canonical if parametrised is None else f"{parametrised[1]}[]", "unknown")
    plain = source if isinstance(source, str) else None
    applies = plain is not None and kind != "unknown" and applies_to(canonical, plain)
    return Transform(
        kind,
        0 if parametrised is None else int(parametrised[2]),
        plain,
        _result_type(kind, plain),
        applies,
    )


def _result_type(kind: TransformKind, source: str | None) -> str | None:
    match kind:
        case "bucket" | "year" | "month" | "hour":
            return "int"
        case "day":
            return "date"  # all libraries write the result as a date; it counts days like an int
        case "unknown":
            return None
        case _:
            return source


def transformed(transform: Transform, value: Value | None) -> Value | None:
    """Return the result for one value of the transform's source type; null gives null.

    ValueError for a decimal that its type cannot hold, and for a transform that does not apply.
    """
    if value is None or transform.kind == "void":
        return None
    if not transform.applies or transform.source is None:
        raise ValueError(f"{transform.kind} cannot be computed")
    match transform.kind:
        case "identity":
            return value
        case "bucket":
            hashed = murmur3_32(_hashed_bytes(transform.source, value))
            return (hashed & _JAVA_INT_MASK) % transform.width
        case "truncate":
            return _truncated(transform, value)
        case _:
            return _calendar_part(transform.kind, transform.source, int(value))


def _hashed_bytes(source: str, value: Value) -> bytes:
    match value:
        case str():
            return value.encode()
        case bytes():
            return value
        case Decimal():
            unscaled = _unscaled(source, value)
            length = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
            return unscaled.to_bytes(length, "big", signed=True)
        case _:
            whole = int(value)
            if primitive_kind(source) in {"timestamp_ns", "timestamptz_ns"}:
                whole //= 1000  # in the same bucket as the timestamp in microseconds
            return whole.to_bytes(8, "little", signed=True)


def _truncated(transform: Transform, value: Value) -> Value:
    width = transform.width
    match value:
        case str() | bytes():
            return value[:width]
        case Decimal():
            source = transform.source or ""
            unscaled = _unscaled(source, value)
            return _decimal(source, unscaled - unscaled % width)
        case _:
            return int(value) - int(value) % width


def _calendar_part(kind: TransformKind, source: str, value: int) -> int:
    units_per_hour = _UNITS_PER_HOUR.get(source)
    if kind == "hour" and units_per_hour is not None:
        return value // units_per_hour
    days = value if units_per_hour is None else value // (24 * units_per_hour)
    if kind == "day":
        return days
    year, month, _ = civil_from_days(days)
    return year - 1970 if kind == "year" else (year - 1970) * 12 + month - 1


def neighbour(source: str, value: Value, step: Literal[1, -1]) -> Value | None:
    """Return the next greater or smaller value of a countable type; None for other types.

    ValueError for a decimal that its type cannot hold.
    """
    match value:
        case Decimal():
            return _decimal(source, _unscaled(source, value) + step)
        case bool() | float() | str() | bytes():
            return None
        case _:
            return value + step


def _unscaled(source: str, value: Decimal) -> int:
    _, scale = decimal_shape(source)
    sign, digits, exponent = value.as_tuple()
    if exponent != -scale:
        raise ValueError(f"{value} has more digits than {source}")
    magnitude = int("".join(map(str, digits)))
    return -magnitude if sign else magnitude


def _decimal(source: str, unscaled: int) -> Decimal:
    _, scale = decimal_shape(source)
    digits = tuple(int(digit) for digit in str(abs(unscaled)))
    return Decimal((int(unscaled < 0), digits, -scale))
