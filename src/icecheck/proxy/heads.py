"""The heads of messages as they are handed on: without the fields that are of one connection."""

import re
from collections.abc import Callable, Iterable

# Of one connection, not of a message (RFC 9110, 7.6.1); the length is written anew.
_OF_A_CONNECTION = frozenset(
    {
        b"connection", b"content-length", b"expect", b"host", b"http2-settings", b"keep-alive",
        b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te", b"trailer",
        b"transfer-encoding", b"upgrade",
    }
)  # fmt: skip
_GZIP = frozenset({b"gzip", b"x-gzip"})
_NOTHING = re.compile(rb"q=0(\.0*)?")
# What no HTTP server writes: clients could take the rest for another field.
_UNWRITABLE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_STATUSES = range(200, 600)

RawFields = list[tuple[bytes, bytes]]


def for_catalog(headers: RawFields) -> RawFields:
    """Return the fields of a request for the catalog, their names in lower case."""
    return [
        (name, _encodings(value) if name == b"accept-encoding" else value)
        for name, value in _of_the_message(headers)
    ]


def for_client(headers: RawFields, at_proxy: Callable[[str], str | None]) -> RawFields:
    """Return the fields of an answer for the client; a redirection leads to the proxy again.

    Fields that cannot be written are left out.
    """
    kept = []
    for name, value in _of_the_message(headers):
        if _UNWRITABLE.search(value):
            continue
        if name.lower() == b"location":
            url = value.decode("latin-1")
            kept.append((name, (at_proxy(url) or url).encode("latin-1")))
        else:
            kept.append((name, value))
    return kept


def length_of(headers: RawFields) -> int | None:
    """Return the length of the body that an answer declares."""
    declared = value_of(headers, b"content-length").partition(b",")[0].strip()
    return int(declared) if declared.isdigit() else None


def value_of(headers: RawFields, name: bytes) -> bytes:
    """Return the value of a field, all its lines; empty if there is none."""
    return b",".join(value for each, value in headers if each.lower() == name)


def can_be_written(status: int) -> bool:
    """Return whether an answer with this status can be handed on at all."""
    return status in _STATUSES


def _of_the_message(headers: RawFields) -> Iterable[tuple[bytes, bytes]]:
    named = value_of(headers, b"connection").lower().split(b",")
    left_out = _OF_A_CONNECTION.union(name.strip() for name in named)
    return [(name, value) for name, value in headers if name.lower() not in left_out]


def _encodings(accepted: bytes) -> bytes:
    """Return which encoding to ask for: one that the client reads, and that can be read here."""
    for each in accepted.lower().split(b","):
        name, *parameters = (part.strip() for part in each.split(b";"))
        if name in _GZIP and not any(_NOTHING.fullmatch(p) for p in parameters):
            return b"gzip"
    return b"identity"
