"""Reads the values of target options: text of a command line or an ini file, values of TOML."""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from icecheck.targets.options import Kind, TargetOption
from icecheck.targets.target import Given, Principal, SigV4, UsageError, read_headers

Facts = dict[str, Any]
"""Keyword arguments of Target; facts that a source does not give are absent."""

_GIVEN = frozenset({"namespace", "table", "view"})


def facts_from(
    table: Iterable[TargetOption],
    said: Callable[[TargetOption], Any],
    spelled: Callable[[TargetOption], str],
) -> Facts:
    """Return what the options of a table say of a target.

    ``said`` gives an option's text, texts or truth, None for nothing; ``spelled`` the name by which
    the user knows it. Raises UsageError for a value that cannot be read.
    """
    facts: Facts = {}
    for option in table:
        value = said(option) if option.fact else None
        if value is not None:
            value = _TEXT_READERS.get(option.kind, _as_it_is)(value, spelled(option))
        if value is not None:
            facts[option.fact] = value
    return with_parts(facts)


def with_parts(facts: Facts) -> Facts:
    """Return the facts, with those that have a dot, as ``second.token``, put together."""
    whole = {name: value for name, value in facts.items() if "." not in name}
    for name, read in _WHOLES.items():
        parts = {
            fact.partition(".")[2]: value
            for fact, value in facts.items()
            if fact.startswith(f"{name}.")
        }
        if parts:
            whole[name] = read(parts)
    return whole


def value_in_toml(option: TargetOption, value: Any) -> Any:
    """Read an option's value in a TOML file.

    Raises TypeError or UsageError that says what it must be.
    """
    read: Callable[[Any], Any] = _TOML_READERS.get(option.kind, _text)
    return read(value)


def given_from(names: Mapping[str, Any]) -> Given | None:
    """Read the objects that the user names, levels joined by dots or in a list; None for none.

    Raises UsageError for a name without a namespace, or an unknown kind.
    """
    found: dict[str, Any] = {}
    for kind, value in names.items():
        if value is None:
            continue
        if kind not in _GIVEN:
            raise UsageError(f"[given] has no key {kind!r}{hint(kind, _GIVEN)}")
        try:
            levels = _levels(value)
        except TypeError as error:
            raise UsageError(f"the given {kind} {error}") from None
        if not all(levels) or (kind != "namespace" and len(levels) < 2):
            raise UsageError(f"the given {kind} {value!r} needs a namespace: write A.B.NAME")
        found[kind] = levels if kind == "namespace" else (levels[:-1], levels[-1])
    return Given(**found) if found else None


def hint(name: str, known: Iterable[str]) -> str:
    """Return words that name the nearest known name, or all of them."""
    every = sorted(known)
    close = get_close_matches(name, every, n=1)
    return f": did you mean {close[0]!r}?" if close else f": there are {', '.join(every)}"


def _principal_from(parts: Mapping[str, str]) -> Principal:
    return Principal(**parts)


_WHOLES: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "second": _principal_from,
    "reader": _principal_from,
    "given": given_from,
}
"""Keywords of Target that are built from several options."""


# Text


def _as_it_is(said: Any, _spelled: str) -> Any:
    return said


def _number_of(said: float | str, spelled: str) -> float:
    """Read a number that may come from the ini file, where everything is text."""
    try:
        return float(said)
    except ValueError:
        raise UsageError(f"{spelled}: {said!r} is no number") from None


def _whole_number_of(said: int | str, spelled: str) -> int:
    try:
        return int(said)
    except ValueError:
        raise UsageError(f"{spelled}: {said!r} is no whole number") from None


def _names_of(said: list[str], _spelled: str) -> tuple[str, ...] | None:
    return tuple(said) or None


def _headers_of(said: list[str], spelled: str) -> dict[str, str] | None:
    return read_headers(said, spelled) or None


def _levels_of(said: list[str], spelled: str) -> tuple[str, ...] | None:
    """Return the levels: one option is split at its dots, several are one level each."""
    levels = tuple(said[0].split(".")) if len(said) == 1 else tuple(said)
    if any(not level for level in levels):
        raise UsageError(f"{spelled} has an empty level: write A.B, or one option per level")
    return levels or None


def _signature_of(said: str, _spelled: str) -> SigV4:
    return SigV4.read(said)


_TEXT_READERS: Mapping[Kind, Callable[[Any, str], Any]] = {
    Kind.NUMBER: _number_of,
    Kind.WHOLE_NUMBER: _whole_number_of,
    Kind.NAMES: _names_of,
    Kind.HEADERS: _headers_of,
    Kind.LEVELS: _levels_of,
    Kind.SIGNING: _signature_of,
}
"""Kinds whose value differs from their text."""


# TOML


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("must be a string")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("must be a number")
    return float(value)


def _whole_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("must be a whole number")
    return value


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError("must be a list of strings")
    return tuple(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("must be true or false")
    return value


def _levels(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split("."))
    if isinstance(value, list) and all(isinstance(level, str) for level in value):
        return tuple(value)
    raise TypeError('must be "a.b" or ["a", "b"]')


def _signature(value: Any) -> SigV4:
    return SigV4.read(_text(value))


def _headers(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise TypeError("must be a table of strings")
    return dict(value)


_TOML_READERS: Mapping[Kind, Callable[[Any], Any]] = {
    Kind.NUMBER: _number,
    Kind.WHOLE_NUMBER: _whole_number,
    Kind.FLAG: _flag,
    Kind.NAMES: _names,
    Kind.HEADERS: _headers,
    Kind.LEVELS: _levels,
    Kind.SIGNING: _signature,
}
"""Kinds that are not always a string in a TOML file."""
