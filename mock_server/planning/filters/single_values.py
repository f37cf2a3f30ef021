"""Single values of primitive types: from bounds and Avro, from and to JSON (L4086-L4215).

Values are kept in Iceberg's numbers: dates and times as integers, decimals as Decimal at the scale
of their type, a UUID as its 16 bytes; so Python's comparison gives the order of the type.
"""

import math
import re
import struct
from decimal import Decimal
from typing import Any, TypeAlias

from icecheck.mock_server.metadata.column_types import (
    FieldType,
    decimal_shape,
    fixed_length,
    is_primitive,
    primitive_kind,
)
from icecheck.mock_server.planning.filters import civil_time
from icecheck.mock_server.protocol.problem import Problem, bad_request

Value: TypeAlias = bool | int | float | Decimal | str | bytes

_INT_BITS = {"int": 31, "date": 31}
_WHOLE = frozenset({"int", "long", "date", "time"})
_TIMESTAMPS = {
    "timestamp": (civil_time.MICROS_DIGITS, False),
    "timestamptz": (civil_time.MICROS_DIGITS, True),
    "timestamp_ns": (civil_time.NANOS_DIGITS, False),
    "timestamptz_ns": (civil_time.NANOS_DIGITS, True),
}
_LITTLE_ENDIAN = {4: struct.Struct("<i"), 8: struct.Struct("<q")}
_FLOATS = {4: struct.Struct("<f"), 8: struct.Struct("<d")}
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")
_DECIMAL = re.compile(r"([+-]?)([0-9]{1,60})(?:\.([0-9]{1,60}))?(?:[eE]([+-]?[0-9]{1,2}))?")
_UUID_BYTES = 16
_DECIMAL_BYTES_MAX = 64


class OutOfRange(Exception):
    """A literal above or below every value of its type; `above` tells them apart."""

    def __init__(self, *, above: bool) -> None:
        super().__init__("above" if above else "below")
        self.above = above


def is_nan(value: Value | None) -> bool:
    """Return whether a value is a float and not a number."""
    return isinstance(value, float) and math.isnan(value)


def value_of_bound(field_type: FieldType, data: bytes) -> Value | None:
    """Return the value of a bound in a manifest, from Iceberg's single-value bytes.

    A bound written before its column was promoted is shorter than its type. None when the bytes are
    no value of the type, or the type has no such bytes: the bound then excludes nothing.
    """
    if not isinstance(field_type, str):
        return None
    kind = primitive_kind(field_type)
    match kind:
        case "boolean":
            return data != b"\x00" if len(data) == 1 else None
        case "float" | "double":
            shape = _FLOATS.get(len(data))
            return None if shape is None else float(shape.unpack(data)[0])
        case "decimal":
            return _scaled(data, field_type) if 0 < len(data) <= _DECIMAL_BYTES_MAX else None
        case "string":
            return _decoded(data)
        case "uuid":
            return data if len(data) == _UUID_BYTES else None
        case "binary" | "fixed":
            return data
        case _ if kind in _WHOLE or kind in _TIMESTAMPS:
            return _whole_of_bound(kind, data)
        case _:
            return None


def _whole_of_bound(kind: str, data: bytes) -> int | None:
    shape = _LITTLE_ENDIAN.get(len(data))
    if shape is None:
        return None
    value = int(shape.unpack(data)[0])
    if kind in _TIMESTAMPS and len(data) == 4:  # the column had the type date before
        return civil_time.timestamp_of_day(value, _TIMESTAMPS[kind][0])
    return value


def value_of_avro(field_type: FieldType | None, raw: Any) -> Value | None:
    """Return the value of an Avro datum, ignoring logical types; None stays None.

    `field_type` None keeps the value as it is: the result of an unknown transform. ValueError if
    the two do not fit.
    """
    if raw is None or field_type is None:
        return raw  # type: ignore[no-any-return]
    kind = primitive_kind(field_type) if isinstance(field_type, str) else ""
    match kind, raw:
        case "decimal", bytes() if 0 < len(raw) <= _DECIMAL_BYTES_MAX:
            return _scaled(raw, str(field_type))
        case "boolean", bool():
            return raw
        case (("float" | "double"), float() | int()) if not isinstance(raw, bool):
            return float(raw)
        case "string", str():
            return raw
        case (("fixed" | "binary"), bytes()):
            return raw
        case "uuid", bytes() if len(raw) == _UUID_BYTES:
            return raw
        case "uuid", str() if _UUID.fullmatch(raw):
            return bytes.fromhex(raw.replace("-", ""))
        case _, int() if (kind in _WHOLE or kind in _TIMESTAMPS) and not isinstance(raw, bool):
            return raw
        case _:
            raise ValueError(f"a partition value of type {kind or 'nested'} cannot be {raw!r:.40}")


def json_value(field_type: FieldType | None, value: Value | None) -> Any:
    """Return a value as the document's PrimitiveTypeValue; None stays None.

    JSON has no numbers for NaN and the infinities: their names are written.
    """
    if value is None:
        return None
    kind = primitive_kind(field_type) if isinstance(field_type, str) else ""
    match value:
        case bool() | str():
            return value
        case float():
            if math.isfinite(value):
                return value
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case Decimal():
            return f"{value:f}"
        case bytes():
            text = value.hex()
            if kind == "uuid":
                return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
            return text.upper()
        case int():
            return _json_of_whole(kind, value)


def _json_of_whole(kind: str, value: int) -> int | str:
    if kind == "date":
        return civil_time.text_from_days(value)
    if kind == "time":
        return civil_time.text_from_micros_of_day(value)
    if kind in _TIMESTAMPS:
        digits, with_zone = _TIMESTAMPS[kind]
        return civil_time.text_from_timestamp(value, digits, with_zone=with_zone)
    return value


def literal_of(field_type: FieldType, raw: Any) -> Value:
    """Return the value that a literal of a request means for a column of this type.

    Besides the document's forms these are accepted, because clients send them: integers for dates
    (days), times and timestamps (microseconds; Spark), numbers for decimals, timestamps with a zone
    but without an offset, read as UTC, hexadecimal in lower case (PyIceberg). Raises OutOfRange for
    a number beyond the type, Problem 400 for everything else.
    """
    if isinstance(field_type, str) and is_primitive(field_type):
        kind = primitive_kind(field_type)
        try:
            value = _literal(kind, field_type, raw)
        except ValueError as error:
            raise _unfit(field_type, raw) from error
        if value is not None:
            return value
    raise _unfit(field_type, raw)


def _literal(kind: str, field_type: str, raw: Any) -> Value | None:
    match raw:
        case bool():
            return raw if kind == "boolean" else None
        case int():
            return _literal_of_integer(kind, field_type, raw)
        case float():
            return _literal_of_float(kind, field_type, raw)
        case str():
            return _literal_of_text(kind, field_type, raw)
        case _:
            return None


def _literal_of_integer(kind: str, field_type: str, raw: int) -> Value | None:
    if kind == "decimal":
        return _exact(Decimal(raw), field_type)
    if kind in {"float", "double"}:
        return _literal_of_float(kind, field_type, _float_of(raw))
    if kind in _WHOLE or kind in _TIMESTAMPS:
        if kind in {"timestamp_ns", "timestamptz_ns"}:
            raw *= 1000
        limit = 1 << _INT_BITS.get(kind, 63)
        if not -limit <= raw < limit:
            raise OutOfRange(above=raw > 0)
        return raw
    return None


def _float_of(raw: int) -> float:
    try:
        return float(raw)
    except OverflowError as error:
        raise OutOfRange(above=raw > 0) from error


def _literal_of_float(kind: str, field_type: str, raw: float) -> Value | None:
    match kind:
        case "double":
            return raw
        case "float":
            try:
                # The literal is rounded: the column has no values between neighbouring floats.
                return float(_FLOATS[4].unpack(_FLOATS[4].pack(raw))[0])
            except OverflowError as error:
                raise OutOfRange(above=raw > 0) from error
        case "decimal":
            return _exact(Decimal(repr(raw)), field_type)
        case _:
            return None


def _literal_of_text(kind: str, field_type: str, raw: str) -> Value | None:
    match kind:
        case "string":
            return raw
        case "decimal":
            match = _DECIMAL.fullmatch(raw)
            return None if match is None else _exact(Decimal(raw), field_type)
        case "date":
            return _fitting(civil_time.days_from_text(raw), 31)
        case "time":
            return civil_time.micros_of_day_from_text(raw)
        case "uuid":
            return bytes.fromhex(raw.replace("-", "")) if _UUID.fullmatch(raw) else None
        case "binary":
            return bytes.fromhex(raw) if _HEX.fullmatch(raw) else None
        case "fixed":
            fits = len(raw) == 2 * fixed_length(field_type) and _HEX.fullmatch(raw)
            return bytes.fromhex(raw) if fits else None
        case _ if kind in _TIMESTAMPS:
            digits, with_zone = _TIMESTAMPS[kind]
            return _fitting(civil_time.timestamp_from_text(raw, digits, with_zone=with_zone), 63)
        case _:
            return None


def _fitting(value: int, bits: int) -> int:
    if not -(1 << bits) <= value < 1 << bits:
        raise OutOfRange(above=value > 0)
    return value


def _scaled(data: bytes, field_type: str) -> Decimal:
    _, scale = decimal_shape(field_type)
    unscaled = int.from_bytes(data, "big", signed=True)
    digits = tuple(int(digit) for digit in str(abs(unscaled)))
    return Decimal((int(unscaled < 0), digits, -scale))


def _exact(value: Decimal, field_type: str) -> Decimal:
    """Return the value at the scale of its type, if that is exact; else unchanged.

    An unchanged value compares in the same way.
    """
    _, scale = decimal_shape(field_type)
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or abs(exponent) > 400:
        raise ValueError("not a decimal number")
    missing = exponent + scale
    if missing >= 0:
        return Decimal((sign, (*digits, *(0,) * missing), -scale))
    dropped = digits[missing:] if -missing < len(digits) else digits
    if any(dropped):
        return value
    return Decimal((sign, digits[:missing] if -missing < len(digits) else (0,), -scale))


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _unfit(field_type: FieldType, raw: Any) -> Problem:
    shown = field_type if isinstance(field_type, str) else "a nested type"
    return bad_request(f"Invalid value for {shown}: {str(raw)[:100]}")
