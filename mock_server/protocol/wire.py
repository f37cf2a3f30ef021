"""What comes in and what goes out over HTTP, undecoded and as values."""

from collections.abc import Mapping

import msgspec


class Request(msgspec.Struct, frozen=True):
    """One HTTP request as it came: nothing is decoded yet.

    `raw_path` still carries its percent escapes and has no query; `query_string` has no
    question mark; header names are lower case, and the lines of a repeated header are
    one value with commas between them (RFC 9110, 5.2).
    """

    method: str
    raw_path: str
    query_string: str = ""
    headers: Mapping[str, str] = {}
    body: bytes = b""


class Reply(msgspec.Struct, frozen=True):
    """One HTTP answer; the door adds `content-length` and leaves out what HTTP forbids."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
