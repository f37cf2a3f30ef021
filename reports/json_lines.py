"""JSON text in lines that a person can read, and what differs between two texts."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

_LINE_CHARACTERS_MAX = 88
_COMPARED_CHARACTERS_MAX = 2_000
_ALIKE_MIN = 0.3
"""Texts that have less in common than this are not marked part by part."""
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


class _Number(str):
    """A number as it was written: 1.0 and 1e0 are not the same to a reader."""

    __slots__ = ()


class _Members(list[tuple[str, Any]]):
    """The members of an object in their order; one that stands there twice is shown twice."""

    __slots__ = ()


def in_lines(text: str) -> str:
    """Return JSON with a line for each member that would not fit; any other text as it is.

    Nothing is lost: numbers are written as they were, and members are neither sorted nor merged.
    """
    if text[:1] not in {"{", "["}:
        return text
    try:
        value = json.loads(text, object_pairs_hook=_Members, parse_int=_Number, parse_float=_Number)
    except (ValueError, RecursionError):
        return text
    return "\n".join(_lines(value, "", ""))


def _lines(value: Any, before: str, after: str, depth: int = 0) -> Iterator[str]:
    """Yield the lines of a value; ``before`` and ``after`` stand in its first and last line."""
    indent = "  " * depth
    whole = f"{indent}{before}{_in_one(value)}{after}"
    if len(whole) <= _LINE_CHARACTERS_MAX or not value or not isinstance(value, list):
        yield whole
        return
    start, end = "{}" if isinstance(value, _Members) else "[]"
    yield f"{indent}{before}{start}"
    for at, each in enumerate(value):
        comma = "," if at + 1 < len(value) else ""
        name, inner = (f"{_quoted(each[0])}: ", each[1]) if start == "{" else ("", each)
        yield from _lines(inner, name, comma, depth + 1)
    yield f"{indent}{end}{after}"


def _in_one(value: Any) -> str:
    if isinstance(value, _Members):
        return "{" + ", ".join(f"{_quoted(k)}: {_in_one(v)}" for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_in_one, value)) + "]"
    return str(value) if isinstance(value, _Number) else _quoted(value)


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text, and whether the text beside it says something else there."""

    text: str
    differs: bool


def compared(one: str, other: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return both texts in parts; where they have little in common, each is one part."""
    whole = (Part(one, differs=False),), (Part(other, differs=False),)
    if not one or not other or len(one) + len(other) > _COMPARED_CHARACTERS_MAX:
        return whole
    mine, theirs = _WORDS.findall(one), _WORDS.findall(other)
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    if one == other or matcher.ratio() < _ALIKE_MIN:
        return whole
    left: list[Part] = []
    right: list[Part] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        _add(left, mine[a:b], differs=kind != "equal")
        _add(right, theirs[c:d], differs=kind != "equal")
    return tuple(left), tuple(right)


def _add(parts: list[Part], words: Sequence[str], *, differs: bool) -> None:
    if words:
        parts.append(Part("".join(words), differs))
