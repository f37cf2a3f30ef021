"""Bounds and counts of many values, and whether one of them could pass a test."""

import operator
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from icecheck.mock_server.planning.filters.expressions import Operation
from icecheck.mock_server.planning.filters.partition_transforms import Transform, transformed
from icecheck.mock_server.planning.filters.single_values import Value, is_nan

_LOWER_TESTS: dict[str, Callable[[Any, Any], Any]] = {"lt": operator.lt, "lt-eq": operator.le}
_UPPER_TESTS: dict[str, Callable[[Any, Any], Any]] = {"gt": operator.gt, "gt-eq": operator.ge}
_HALF = 8


class ValueRange(Struct, frozen=True):
    """Bounds and counts of some values of one type.

    `lower` and `upper` include every value that is neither null nor NaN; None is unknown. If
    nothing is known, `may_` is True and `only_` False. `comparable` is False if all values are
    known to be null or NaN.
    """

    type: str | None
    lower: Value | None
    upper: Value | None
    may_be_null: bool
    may_be_nan: bool
    only_null: bool
    only_nan: bool
    comparable: bool


def through(transform: Transform, values: ValueRange) -> ValueRange:
    """Return the range of a transform's results for the values of a range."""
    if transform.kind == "identity":
        return values
    lower, upper = values.lower, values.upper
    ordered = transform.preserves_order
    return ValueRange(
        type=transform.result_type,
        lower=transformed(transform, lower) if ordered else None,
        upper=transformed(transform, upper) if ordered else None,
        may_be_null=values.may_be_null if ordered else True,
        may_be_nan=values.may_be_nan,
        only_null=values.only_null,
        only_nan=False,
        comparable=values.comparable,
    )


def could_hold(operation: Operation, literals: tuple[Value, ...], values: ValueRange) -> bool:
    """Return whether one of the values could pass this test; False only if it is certain."""
    match operation:
        case "is-null":
            return values.may_be_null
        case "not-null":
            return not values.only_null
        case "is-nan":
            return values.may_be_nan and not values.only_null
        case "not-nan":
            return not values.only_nan
        case "not-eq" | "not-in":
            return True  # a bound need not be one of the values
        case "not-starts-with":
            return _could_start_otherwise(str(literals[0]), values)
    return values.comparable and _could_compare(operation, literals, values)


def _could_compare(operation: Operation, literals: tuple[Value, ...], values: ValueRange) -> bool:
    # Some writers give NaN as a bound if there was a NaN: such a bound excludes nothing.
    lower = None if is_nan(values.lower) else values.lower
    upper = None if is_nan(values.upper) else values.upper
    if values.type == "uuid":
        return operation not in {"eq", "in"} or _uuid_between(literals, lower, upper)
    if operation in _LOWER_TESTS:
        return lower is None or bool(_LOWER_TESTS[operation](lower, literals[0]))
    if operation in _UPPER_TESTS:
        return upper is None or bool(_UPPER_TESTS[operation](upper, literals[0]))
    if operation == "starts-with":
        return _could_start(str(literals[0]), lower, upper)
    return _any_between(literals, lower, upper)


def _any_between(literals: tuple[Value, ...], lower: Value | None, upper: Value | None) -> bool:
    first = 0 if lower is None else bisect_left(literals, lower)
    return first < len(literals) and (
        upper is None or literals[first] <= upper  # type: ignore[operator]
    )


def _uuid_between(literals: tuple[Value, ...], lower: Value | None, upper: Value | None) -> bool:
    """Return whether a UUID lies between the bounds, in one of the two orders that writers use.

    Most writers compare UUIDs as bytes, Java compares their halves as signed numbers.
    """
    if not isinstance(lower, bytes) or not isinstance(upper, bytes):
        return True
    if _any_between(literals, lower, upper):
        return True
    signed = (_signed_halves(literal) for literal in literals if isinstance(literal, bytes))
    return any(_signed_halves(lower) <= each <= _signed_halves(upper) for each in signed)


def _signed_halves(value: bytes) -> tuple[int, int]:
    high, low = value[:_HALF], value[_HALF:]
    return int.from_bytes(high, "big", signed=True), int.from_bytes(low, "big", signed=True)


def _could_start(prefix: str, lower: Value | None, upper: Value | None) -> bool:
    length = len(prefix)
    return not (
        (isinstance(lower, str) and lower[:length] > prefix)
        or (isinstance(upper, str) and upper[:length] < prefix)
    )


def _could_start_otherwise(prefix: str, values: ValueRange) -> bool:
    lower, upper = values.lower, values.upper
    if values.may_be_null or not isinstance(lower, str) or not isinstance(upper, str):
        return True
    return not (lower.startswith(prefix) and upper.startswith(prefix))
