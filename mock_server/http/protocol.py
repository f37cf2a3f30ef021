"""uvicorn's protocols with bounds, and with the catalog's own answers to malformed HTTP."""

import sys
from collections.abc import Sequence
from functools import cache
from http import HTTPStatus
from typing import Any, Protocol, TypeAlias

import msgspec

from icecheck.mock_server.core.context import Answer, Reply, Request
from icecheck.mock_server.protocol import replies

URL_BYTES_MAX = 65_535
"""A longer request target is answered 414; httptools could not parse it."""

HEADERS_BYTES_MAX = 64 * 1024
"""More than this in all header names and values together is 431."""

HEAD_BYTES_MAX = URL_BYTES_MAX + HEADERS_BYTES_MAX
"""The number of bytes of an unfinished head that are read at most."""

BODILESS_STATUSES = frozenset({204, 304})
"""Answers with these have no body, and say of none how long it is (RFC 9110, 8.6)."""

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]

_LINGER_SECONDS = 2.0
_SPELLED = {"etag": "ETag"}
"""Names of headers as Java's client (1.11) looks for them: it keeps no answer with another."""
NO_REQUEST = replies.error_reply(400, "BadRequestException", "This is no HTTP/1.1 request")
LONG_URL = replies.error_reply(
    414, "RequestURITooLongException", f"The URL is longer than {URL_BYTES_MAX} bytes"
)
LARGE_HEADERS = replies.error_reply(
    431,
    "RequestHeaderFieldsTooLargeException",
    f"The headers are larger than {HEADERS_BYTES_MAX} bytes",
)


class AsWritten(bytes):
    """The name of a header that uvicorn, which writes names in lower case, is to leave as it is."""

    def lower(self) -> "AsWritten":
        """Return the name."""
        return self


class Head(msgspec.Struct, frozen=True):
    """The head of a request; header names are in lower case, `headers_bytes` is their `bytes_of`.

    `raw_path` has its percent escapes and no query, `query` no question mark.
    """

    method: str
    raw_path: bytes
    query: bytes
    headers: Headers
    headers_bytes: int


class Direct(Protocol):
    """Answers whole requests at once, in the thread of the event loop."""

    def request(self, head: Head, body: bytes) -> Request | None:
        """Return a request that can be answered so; None: by its head it is refused, or slow."""

    def holds(self) -> bool:
        """Return whether a request may have to wait now."""

    def answer(self, request: Request) -> Answer:
        """Answer a request."""

    def app(self, answer: Answer) -> Any:
        """Return an ASGI application that gives this answer, and carries out its effects."""


def head_refusal(head: Head) -> Reply | None:
    """Return the refusal of a request with too large a URL or headers, or None."""
    if len(head.raw_path) + len(head.query) > URL_BYTES_MAX:
        return LONG_URL
    return LARGE_HEADERS if head.headers_bytes > HEADERS_BYTES_MAX else None


def bytes_of(headers: Headers) -> int:
    """Return how many bytes the headers of a request have."""
    return sum([len(name) + len(value) for name, value in headers])


def written_headers(reply: Reply) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer for an ASGI server, in the spelling of `answer_bytes`."""
    return [
        (
            AsWritten(_SPELLED[name], "ascii") if name in _SPELLED else name.encode("latin-1"),
            value.encode("latin-1"),
        )
        for name, value in reply.headers
    ]


def answer_bytes(method: str, reply: Reply) -> bytes | None:
    """Return an answer as it is written, of a connection that stays open.

    None for one that is written otherwise: that closes the connection, or has a header that no
    answer can have.
    """
    lines = [_status_line(reply.status)]
    for name, value in reply.headers:
        if name == "connection" or not value.isprintable():
            return None
        lines.append(f"{_SPELLED.get(name, name)}: {value}")
    body = b""
    if method != "HEAD" and reply.status not in BODILESS_STATUSES:
        body = reply.body
        lines.append(f"content-length: {len(body)}")
    lines += ("", "")
    return "\r\n".join(lines).encode("latin-1", "replace") + body


@cache
def _status_line(status: int) -> str:
    """Return the first line of an answer; a status need not have a phrase: 419 has none."""
    known = status in HTTPStatus.__members__.values()
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase if known else ''}"


def protocol_on_h11() -> Any:
    """Return the protocol on h11, which itself bounds a head that does not end."""
    from h11 import SERVER, EndOfMessage, RemoteProtocolError
    from h11 import Connection as HttpConnection
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class H11Connection(HttpConnection):
        """Bounds the trailers of a request too; h11 does so only while they are incomplete."""

        def next_event(self) -> Any:
            event = super().next_event()
            if isinstance(event, EndOfMessage) and bytes_of(event.headers) > HEAD_BYTES_MAX:
                raise RemoteProtocolError("the trailers are too large", error_status_hint=431)
            return event

    class H11Door(H11Protocol):
        """Answers what is no HTTP with the catalog's own errors."""

        refused = False

        def connection_made(self, transport: Any) -> None:
            self.conn = H11Connection(SERVER, HEAD_BYTES_MAX)
            super().connection_made(transport)

        def data_received(self, data: bytes) -> None:
            if not self.refused:
                super().data_received(data)

        def _unsupported_upgrade_warning(self) -> None:
            """Say nothing: a client that asks for another protocol does not need it."""

        def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's signature
            self.refused = True
            hint = getattr(sys.exc_info()[1], "error_status_hint", 400)
            refuse(self, LARGE_HEADERS if hint == 431 else NO_REQUEST)

    return H11Door


def refuse(protocol: Any, reply: Reply) -> None:
    """Answer a request that could not be read, and close after the client had time to read that.

    To close at once while the client still sends would reset the connection, and the answer with
    it.
    """
    lines = [_status_line(reply.status)]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    lines += [f"content-length: {len(reply.body)}", "connection: close", "", ""]
    protocol.transport.write("\r\n".join(lines).encode() + reply.body)
    if protocol.transport.can_write_eof():
        protocol.transport.write_eof()
    protocol.loop.call_later(_LINGER_SECONDS, protocol.transport.close)
