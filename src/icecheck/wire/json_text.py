"""Reads JSON from the wire, and tells what of it does not travel between systems (RFC 8259).

Text that breaks a rule of RFC 8259 and whose meaning is plain is read all the same, so that what
is wrong with it is told once and its content is judged as any other.
"""

import json
import math
import re
import sys
from enum import Enum
from typing import Any, TypeAlias

import msgspec

_DEPTH_MAX = 200
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_INTEGER_DIGITS_MAX = 308  # of a number that a double can hold for certain
_LARGE_NUMBER = re.compile(rb"\d[eE]|\d{309}")
_LITERAL = re.compile(rb"NaN|Infinity")


class JsonFlaw(Enum):
    """What RFC 8259 says against a text: not in UTF-8, no number, one name twice, or too large."""

    ENCODING = "encoding"
    NO_NUMBER = "no-number"
    REPEATED = "repeated"
    RANGE = "range"


Flaws: TypeAlias = tuple[tuple[JsonFlaw, str], ...]
"""What is wrong with a text, each flaw with a word for it that quotes nothing of the text."""


def read_json(body: bytes, *, not_a_number: float = math.nan) -> Any:
    """Return the value of a JSON body, in builtins.

    UTF-16, UTF-32 and a byte order mark are read. NaN is ``not_a_number``, and Infinity, like every
    other number out of a double's range, the largest double of its sign. The last of several
    members of one name counts. Raises ValueError for text that is no JSON even so, half of a
    surrogate pair, which cannot be encoded again, and more than 200 levels, at which programs fail.
    """
    body = _in_utf8(body)
    try:
        value = msgspec.json.decode(body)
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None
    except msgspec.DecodeError:
        value = _read_with_odd_numbers(body, not_a_number)
    if _is_too_deep(body, value):
        raise ValueError("the JSON is nested too deep")
    return value


def flaws_of(body: bytes) -> Flaws:
    """Return what is wrong with a JSON body as text.

    A body that ``read_json`` cannot read has none: it is no JSON at all.
    """
    found: dict[JsonFlaw, str] = {}
    try:
        if encoding := _foreign_encoding(body):
            found[JsonFlaw.ENCODING] = encoding
            body = _in_utf8(body)
        json.loads(body, **_noting(found, body))
    except (ValueError, RecursionError):
        return ()
    return tuple(found.items())


def _noting(found: dict[JsonFlaw, str], body: bytes) -> dict[str, Any]:
    """Return hooks of a parser that note what is wrong; only those that a body needs."""

    def members(pairs: list[tuple[str, Any]]) -> None:
        if len({name for name, _ in pairs}) != len(pairs):
            found[JsonFlaw.REPEATED] = "one of them again"

    def no_number(text: str) -> None:
        found.setdefault(JsonFlaw.NO_NUMBER, text)

    def number(text: str) -> None:
        if math.isinf(float(text)):
            found[JsonFlaw.RANGE] = "a larger one"

    hooks: dict[str, Any] = {"object_pairs_hook": members}
    if _LITERAL.search(body):
        hooks["parse_constant"] = no_number
    if _LARGE_NUMBER.search(body):
        hooks |= {"parse_int": number, "parse_float": number}
    return hooks


def _foreign_encoding(body: bytes) -> str:
    """Return the encoding of a text that is not in UTF-8, or that has a byte order mark; or ""."""
    if body.startswith(b"\xef\xbb\xbf"):
        return "a byte order mark"
    if body.startswith(_BYTE_ORDER_MARKS) or b"\0" in body[:4]:
        return json.detect_encoding(body).upper()
    return ""


def _in_utf8(body: bytes) -> bytes:
    if not _foreign_encoding(body):
        return body
    return body.decode(json.detect_encoding(body)).encode()


def _read_with_odd_numbers(body: bytes, not_a_number: float) -> Any:
    """Return the value of JSON in which a number is no double; ValueError for any other text."""

    def constant(text: str) -> float:
        return not_a_number if text == "NaN" else _in_range(text)

    def integer(text: str) -> int | float:
        return int(text) if len(text) <= _INTEGER_DIGITS_MAX else _in_range(text)

    try:
        value = json.loads(body, parse_constant=constant, parse_int=integer, parse_float=_in_range)
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None
    # Half of a surrogate pair would be read, and raises ValueError here.
    json.dumps(value, ensure_ascii=False).encode()
    return value


def _in_range(text: str) -> float:
    number = float(text)
    return math.copysign(sys.float_info.max, number) if math.isinf(number) else number


def _is_too_deep(body: bytes, value: Any) -> bool:
    """Return whether JSON has too many levels; the value is walked from the outside."""
    if body.count(b"[") + body.count(b"{") <= _DEPTH_MAX:
        return False
    level = [value]
    for _ in range(_DEPTH_MAX):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True
