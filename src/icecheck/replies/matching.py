"""Matchers of JSON values, and the first difference between a value and what it must be."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Matcher:
    """A named predicate on a JSON value; the name is what a report prints as *expected*."""

    name: str
    accepts: Callable[[Any], bool]

    def __repr__(self) -> str:
        return self.name


class _Absent:
    """The value of a missing member."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()
ANY_STRING = Matcher("a string", lambda v: isinstance(v, str))
ANY_INTEGER = Matcher("an integer", lambda v: isinstance(v, int) and not isinstance(v, bool))
ANY_OBJECT = Matcher("an object", lambda v: isinstance(v, dict))
ABSENT_OR_NULL = Matcher("absent or null", lambda v: v is ABSENT or v is None)


def containing(*items: Any) -> Matcher:
    """Return a matcher of lists that have each of the items (each may be a subset of an object)."""

    def accepts(value: Any) -> bool:
        return isinstance(value, list) and all(
            any(_mismatch(item, v, "") is None for v in value) for item in items
        )

    return Matcher(f"a list with {', '.join(map(show, items))}", accepts)


def lacking(*items: Any) -> Matcher:
    """Return a matcher of lists that have none of the items."""

    def accepts(value: Any) -> bool:
        return isinstance(value, list) and not any(
            _mismatch(item, v, "") is None for item in items for v in value
        )

    return Matcher(f"a list without {', '.join(map(show, items))}", accepts)


def one_of(*values: Any) -> Matcher:
    """Return a matcher of any of the values (the document leaves the choice open)."""

    def accepts(value: Any) -> bool:
        return any(_mismatch(each, value, "", exact=True) is None for each in values)

    return Matcher(" or ".join(map(show, values)), accepts)


def show(value: Any, limit: int = 160) -> str:
    """Return a value as JSON, shortened for a report."""
    if isinstance(value, Matcher | _Absent):
        return repr(value)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=repr)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def difference(expected: Any, actual: Any, *, exact: bool) -> tuple[str, Any, Any] | None:
    """Return the first difference as (pointer, expected, actual), or None.

    Unless ``exact``, only the expected members of an object are compared; it may have more.
    """
    return _mismatch(expected, actual, "", exact=exact)


def find(value: Any, path: tuple[str | int, ...]) -> Any:
    """Return the value at a path in a JSON value, or ABSENT."""
    for part in path:
        match value, part:
            case dict(), str() if part in value:
                value = value[part]
            case list(), int() if -len(value) <= part < len(value):
                value = value[part]
            case _:
                return ABSENT
    return value


def _mismatch(
    expected: Any, actual: Any, pointer: str, *, exact: bool = False
) -> tuple[str, Any, Any] | None:
    """Return the first difference as (pointer, expected, actual), or None."""
    if isinstance(expected, Matcher):
        return None if expected.accepts(actual) else (pointer, expected, actual)
    if expected is ABSENT or actual is ABSENT:
        return None if expected is actual else (pointer, expected, actual)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        if exact and set(actual) - set(expected):
            return (pointer, expected, actual)
        for key, wanted in expected.items():
            found = _mismatch(wanted, actual.get(key, ABSENT), f"{pointer}/{key}", exact=exact)
            if found is not None:
                return found
        return None
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return _list_mismatch(expected, actual, pointer, exact=exact)
    return None if _same(expected, actual) else (pointer, expected, actual)


def _list_mismatch(
    expected: Sequence[Any], actual: Sequence[Any], pointer: str, *, exact: bool
) -> tuple[str, Any, Any] | None:
    if len(expected) != len(actual):
        return (pointer, list(expected), list(actual))
    pairs = enumerate(zip(expected, actual, strict=True))
    found = (_mismatch(e, a, f"{pointer}/{i}", exact=exact) for i, (e, a) in pairs)
    return next((f for f in found if f is not None), None)


def _same(expected: Any, actual: Any) -> bool:
    """Return whether scalars are equal as in JSON: in Python, 1, 1.0 and true are equal too."""
    alike = all(isinstance(expected, t) == isinstance(actual, t) for t in (bool, int))
    return bool(expected == actual) and alike
