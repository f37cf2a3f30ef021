"""Partition and sort transforms: their grammar and the source types that they apply to."""

import re

from icecheck.mock_server.metadata.column_types import FieldType, is_primitive, primitive_kind
from icecheck.mock_server.protocol.problem import bad_request

VOID = "void"

_PARAMETRISED = re.compile(r"(bucket|truncate)\[([0-9]+)\]", re.IGNORECASE | re.ASCII)
_WIDTH_MAX = 2**31 - 1
_TIMESTAMPS = frozenset({"timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})
_DATES = _TIMESTAMPS | {"date"}
_NOT_COMPARABLE = frozenset({"geometry", "geography"})
_SOURCES = {
    "year": _DATES,
    "month": _DATES,
    "day": _DATES,
    "hour": _TIMESTAMPS,
    "truncate": frozenset({"int", "long", "decimal", "string", "binary"}),
    "bucket": _DATES | {"int", "long", "decimal", "time", "string", "uuid", "fixed", "binary"},
}
_NEEDS_WIDTH = frozenset({"truncate", "bucket"})


def canonical_transform(text: str) -> str:
    """Return the one spelling of a known transform; an unknown one is kept as it is.

    A width that is not a positive 32-bit integer is a 400 Problem.
    """
    if match := _PARAMETRISED.fullmatch(text):
        digits = match[2].lstrip("0")
        if not digits or len(digits) > len(str(_WIDTH_MAX)) or int(digits) > _WIDTH_MAX:
            raise bad_request(f"Invalid transform {text[:100]}: the width must be positive")
        return f"{match[1].lower()}[{digits}]"
    lower = text.lower()
    return lower if lower in {"identity", VOID, "year", "month", "day", "hour"} else text


def applies_to(transform: str, source: FieldType) -> bool:
    """Return whether a canonical transform can be computed from a source of this type.

    Transforms of a newer format are taken to apply to any primitive.
    """
    if transform == VOID:
        return True
    if not isinstance(source, str) or not is_primitive(source):
        return False
    kind = primitive_kind(source)
    if transform == "identity":
        return kind not in _NOT_COMPARABLE
    parametrised = _PARAMETRISED.fullmatch(transform)
    if parametrised is None and transform in _NEEDS_WIDTH:
        return True
    sources = _SOURCES.get(parametrised[1] if parametrised else transform)
    return sources is None or kind in sources
