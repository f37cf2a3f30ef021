"""Reads the bodies of requests as text: whether they are compressed, and what JSON they are."""

import json
import zlib
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from icecheck.mock_server.protocol.wire import Request

_GZIP = frozenset({"gzip", "x-gzip"})
_DECODED_BYTES_MAX = 64 << 20


def decoded(request: Request) -> Request:
    """Return a request whose body is not compressed, if it can be (RFC 9110, 8.4)."""
    if (request.headers.get("content-encoding") or "").strip().lower() not in _GZIP:
        return request
    try:
        body = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(request.body, _DECODED_BYTES_MAX)
    except zlib.error:
        return request
    kept = {k: v for k, v in request.headers.items() if k.lower() != "content-encoding"}
    return replace(request, headers=kept, body=body)


def is_coded(request: Request) -> bool:
    """Return whether a body is coded in a way that is not read here."""
    coding = (request.headers.get("content-encoding") or "identity").strip().lower()
    return coding != "identity"


def text_flaws(request: Request) -> Iterator[str]:
    """Yield what RFC 8259 says against a body that is JSON otherwise."""
    if "json" not in (request.headers.get("content-type") or "json"):
        return
    found: dict[str, None] = {}

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        read = dict(pairs)
        if len(read) < len(pairs):
            found["a member of an object stands there twice"] = None
        return read

    def constant(name: str) -> float:
        found["NaN and Infinity are no numbers of JSON"] = None
        return float(name)

    try:
        json.loads(request.body, object_pairs_hook=members, parse_constant=constant)
    except (ValueError, RecursionError):
        return  # the validator says so in its own words
    yield from found


def can_be_read(request: Request) -> bool:
    """Return whether a body is text that is not nested too deeply for any reader."""
    if not request.body or "json" not in (request.headers.get("content-type") or "json"):
        return True
    if is_coded(request):
        return True
    try:
        json.loads(request.body.decode())
    except (UnicodeDecodeError, RecursionError):
        return False
    except ValueError:
        pass  # the validator says so in its own words
    return True
