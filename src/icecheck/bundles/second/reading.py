"""Reads recorded bodies with the standard library alone, and says what is odd about them."""

import json
import math
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

_DEPTH_MAX = 200
_DIGITS_MAX = 308
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Body:
    """A body as JSON: its value if it is any, and the passive checks that its text breaks."""

    is_json: bool
    value: Any = None
    flaws: frozenset[str] = field(default_factory=frozenset)


@lru_cache(maxsize=64)
def read_body(content: bytes) -> Body:
    """Return a body read as clients read it, NaN as 0 and what no double holds as the largest."""
    encoding = json.detect_encoding(content)
    try:
        text = content.decode(encoding).removeprefix("\ufeff")
        seen: set[str] = set()
        value = json.loads(text, **_hooks(seen))
        json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is no text
    except (ValueError, RecursionError):
        return Body(is_json=False)
    if _depth_of(value) > _DEPTH_MAX:
        return Body(is_json=False, flaws=frozenset(seen))
    if content.startswith(_MARKS) or not encoding.startswith("utf-8"):
        seen.add("http.json-in-utf-8")
    return Body(is_json=True, value=value, flaws=frozenset(seen))


def _hooks(seen: set[str]) -> dict[str, Any]:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            seen.add("http.json-members-once")
        return dict(pairs)

    def constant(text: str) -> float:
        seen.add("http.json-has-no-nan")
        return 0.0 if text == "NaN" else _bounded(float(text))

    def decimal(text: str) -> float:
        if math.isinf(float(text)):
            seen.add("http.json-numbers-fit-doubles")
        return _bounded(float(text))

    def integer(text: str) -> int | float:
        return int(text) if len(text) <= _DIGITS_MAX else decimal(text)

    return {
        "object_pairs_hook": members,
        "parse_constant": constant,
        "parse_float": decimal,
        "parse_int": integer,
    }


def _bounded(number: float) -> float:
    return math.copysign(sys.float_info.max, number) if math.isinf(number) else number


def _depth_of(value: Any) -> int:
    """Return how many levels a value has; parsers of the standard library bound them."""
    depth, level = 0, [value]
    while level := [
        inner
        for outer in level
        if isinstance(outer, dict | list)
        for inner in (outer.values() if isinstance(outer, dict) else outer)
    ] + [None] * any(isinstance(outer, dict | list) and not outer for outer in level):
        depth += 1
    return depth
