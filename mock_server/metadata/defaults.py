"""Default values of columns: the JSON values that each type allows."""

import re
from collections.abc import Callable
from datetime import date, datetime, time

from icecheck.mock_server.metadata.column_types import (
    FieldType,
    JsonScalar,
    decimal_shape,
    fixed_length,
    primitive_kind,
)
from icecheck.mock_server.protocol.problem import bad_request

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
_CLOCK_NS = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
_TIME = re.compile(_CLOCK)
_UTC = r"(?:\+00:00|Z)"
_TIMESTAMPS = {
    "timestamp": re.compile(rf"{_DATE.pattern}T{_CLOCK}"),
    "timestamptz": re.compile(rf"{_DATE.pattern}T{_CLOCK}{_UTC}"),
    "timestamp_ns": re.compile(rf"{_DATE.pattern}T{_CLOCK_NS}"),
    "timestamptz_ns": re.compile(rf"{_DATE.pattern}T{_CLOCK_NS}{_UTC}"),
}
_DECIMAL = re.compile(r"-?([0-9]+)(?:\.([0-9]+))?")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")
_FRACTION = re.compile(r"\.[0-9]+")


def canonical_default(field_type: FieldType, value: JsonScalar) -> JsonScalar:
    """Return the value in the JSON form of its type; else a 400 Problem.

    Floats come out as floats, uuids in lower case and bytes in upper case (L4137, L4175-L4185).
    """
    if isinstance(field_type, str):
        match primitive_kind(field_type), value:
            case "boolean", bool():
                return value
            case "int", int() if not isinstance(value, bool) and _fits(value, 31):
                return value
            case "long", int() if not isinstance(value, bool) and _fits(value, 63):
                return value
            case "float" | "double", int() | float() if not isinstance(value, bool):
                return _as_float(value)
            case kind, str() if kind in _TEXT_FORMS and _TEXT_FORMS[kind](field_type, value):
                return _in_its_case(kind, value)
    shown = field_type if isinstance(field_type, str) else "a nested type"
    raise bad_request(f"Invalid default value for {shown}: {str(value)[:100]}")


def _in_its_case(kind: str, text: str) -> str:
    match kind:
        case "uuid":
            return text.lower()
        case "fixed" | "binary":
            return text.upper()
        case _:
            return text


def _fits(value: int, bits: int) -> bool:
    return -(1 << bits) <= value < (1 << bits)


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise bad_request("Invalid default value: the number is out of range") from error


def _is_decimal(field_type: str, text: str) -> bool:
    precision, scale = decimal_shape(field_type)
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return False
    whole, fraction = match[1].lstrip("0"), match[2] or ""
    return len(fraction) == scale and len(whole) + scale <= precision


def _parses(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _is_timestamp(field_type: str, text: str) -> bool:
    # The pattern checks the form; the parser, which stops at microseconds, checks the date only.
    matches = _TIMESTAMPS[field_type].fullmatch(text) is not None
    return matches and _parses(datetime.fromisoformat, _FRACTION.sub("", text))


_TEXT_FORMS: dict[str, Callable[[str, str], bool]] = {
    "string": lambda _type, _text: True,
    "decimal": _is_decimal,
    "date": lambda _type, text: bool(_DATE.fullmatch(text)) and _parses(date.fromisoformat, text),
    "time": lambda _type, text: bool(_TIME.fullmatch(text)) and _parses(time.fromisoformat, text),
    "timestamp": _is_timestamp,
    "timestamptz": _is_timestamp,
    "timestamp_ns": _is_timestamp,
    "timestamptz_ns": _is_timestamp,
    "uuid": lambda _type, text: bool(_UUID.fullmatch(text)),
    "fixed": lambda kind, text: bool(_HEX.fullmatch(text)) and len(text) == 2 * fixed_length(kind),
    "binary": lambda _type, text: bool(_HEX.fullmatch(text)),
}
