"""Reads JSON from the wire, within the limits that clients can handle."""

import json
from typing import Any

import msgspec

__all__ = ["read_json"]

_DEPTH_MAX = 200
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def read_json(body: bytes) -> Any:
    """Return the value of a JSON body, in builtins.

    Raises ValueError for text that is no JSON, NaN included, which some libraries accept. Raises it
    also for numbers out of any range (1e400, thousands of digits), half of a surrogate pair, which
    cannot be encoded again, and more than 200 levels, at which programs fail.
    """
    if body.startswith(_BYTE_ORDER_MARKS) or b"\0" in body[:4]:
        body = body.decode(json.detect_encoding(body)).encode()
    try:
        value = msgspec.json.decode(body)
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None
    if _is_too_deep(body, value):
        raise ValueError("the JSON is nested too deep")
    return value


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
