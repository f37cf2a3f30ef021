"""HTTP requests and answers as values, not decoded."""

from collections.abc import Collection, Mapping

import msgspec


class Request(msgspec.Struct, frozen=True):
    """One HTTP request as it was received: nothing is decoded yet.

    `raw_path` still carries its percent escapes and has no query; `query_string` has no question
    mark; header names are lower case, and the lines of a repeated header are one value with commas
    between them (RFC 9110, 5.2). `headers_bytes` is how long the headers are together, where
    the HTTP layer has measured that.
    """

    method: str
    raw_path: str
    query_string: str = ""
    headers: Mapping[str, str] = {}
    body: bytes = b""
    headers_bytes: int = 0


def by_name(lines: Collection[tuple[str, str]]) -> dict[str, str]:
    """Return the headers of a request from their lines, as a `Request` has them."""
    found = dict(lines)
    if len(found) == len(lines):
        return found
    values: dict[str, list[str]] = {name: [] for name in found}
    for name, value in lines:
        values[name].append(value)
    return {name: ", ".join(each) for name, each in values.items()}


class Reply(msgspec.Struct, frozen=True):
    """One HTTP answer; the HTTP layer adds `content-length` and leaves out parts HTTP forbids."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
