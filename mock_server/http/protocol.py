"""uvicorn's protocols with bounds, and with the catalog's own answers to malformed HTTP."""

import sys
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from icecheck.mock_server.core.context import Reply
from icecheck.mock_server.protocol import replies

URL_BYTES_MAX = 65_535
"""A longer request target is answered 414; httptools could not parse it."""

HEADERS_BYTES_MAX = 64 * 1024
"""More than this in all header names and values together is 431."""

HEAD_BYTES_MAX = URL_BYTES_MAX + HEADERS_BYTES_MAX
"""The number of bytes of an unfinished head that are read at most."""

_Header = tuple[bytes, bytes]
_LINGER_SECONDS = 2.0
_NO_REQUEST = replies.error_reply(400, "BadRequestException", "This is no HTTP/1.1 request")
_LONG_URL = replies.error_reply(
    414, "RequestURITooLongException", f"The URL is longer than {URL_BYTES_MAX} bytes"
)
_LARGE_HEADERS = replies.error_reply(
    431,
    "RequestHeaderFieldsTooLargeException",
    f"The headers are larger than {HEADERS_BYTES_MAX} bytes",
)


def head_refusal(scope: Any, headers_bytes: int) -> Reply | None:
    """Return the refusal of a request (an ASGI scope) with too large a URL or headers, or None.

    `headers_bytes` is how long its headers are together.
    """
    if len(scope["raw_path"]) + len(scope["query_string"]) > URL_BYTES_MAX:
        return _LONG_URL
    return _LARGE_HEADERS if headers_bytes > HEADERS_BYTES_MAX else None


def headers_bytes_of(scope: Any) -> int:
    """Return how many bytes the headers of a request (an ASGI scope) have."""
    return sum([len(name) + len(value) for name, value in scope["headers"]])


def protocol_class() -> Any:
    """Return the protocol on httptools if that is installed, otherwise the one on h11."""
    try:
        return _on_httptools()
    except ImportError:
        return _on_h11()


def _on_httptools() -> Any:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class HttptoolsDoor(HttpToolsProtocol):
        """Bounds a head that does not end; httptools has no such bound.

        httptools ends a request that asks for another protocol behind its head: what follows would
        be of that protocol. There is none here, so its head is read again without this wish, and
        its body behind it. Java's own HTTP client asks so in its first request on a connection.
        """

        refused = False
        reading_head = False
        head_bytes = 0
        chunk = b""
        again = b""
        wishes: Sequence[_Header] = ()

        def data_received(self, data: bytes) -> None:
            continues, length = self.reading_head, len(data)
            while data and not self.refused:
                self.chunk, self.again = data, b""
                super().data_received(data)
                data = self.again
            # The chunk in which a head begins may hold the end of a body too.
            self.head_bytes = self.head_bytes + length if continues and self.reading_head else 0
            _refuse_endless_head(self)

        def on_message_begin(self) -> None:
            self.reading_head = True
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self.reading_head = False
            if not _is_cut_off(self.parser):
                self.headers.extend(self.wishes)
                self.wishes = ()
                super().on_headers_complete()

        def on_message_complete(self) -> None:
            if not _is_cut_off(self.parser):
                super().on_message_complete()

        def _unsupported_upgrade_warning(self) -> None:
            self.wishes = [header for header in self.headers if header[0] == b"upgrade"]
            self.again = _read_again(self)

        def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's signature
            self.refused = True
            too_long = len(getattr(self, "url", b"")) > URL_BYTES_MAX
            _refuse(self, _LONG_URL if too_long else _NO_REQUEST)

    return HttptoolsDoor


def _on_h11() -> Any:
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class H11Door(H11Protocol):
        """Answers with the errors of h11, which itself bounds a head that does not end."""

        refused = False

        def data_received(self, data: bytes) -> None:
            if not self.refused:
                super().data_received(data)

        def _unsupported_upgrade_warning(self) -> None:
            """Say nothing: a client that asks for another protocol does not need it."""

        def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's signature
            self.refused = True
            hint = getattr(sys.exc_info()[1], "error_status_hint", 400)
            _refuse(self, _LARGE_HEADERS if hint == 431 else _NO_REQUEST)

    return H11Door


def _refuse_endless_head(protocol: Any) -> None:
    if protocol.head_bytes > HEAD_BYTES_MAX and not protocol.refused:
        protocol.refused = True
        is_url = protocol.url and not protocol.headers
        _refuse(protocol, _LONG_URL if is_url else _LARGE_HEADERS)


def _is_cut_off(parser: Any) -> bool:
    """Return whether httptools ends this request behind its head, for what was asked there."""
    return bool(parser.should_upgrade()) and parser.get_method() != b"CONNECT"


def _read_again(protocol: Any) -> bytes:
    """Return the head at which httptools stopped, without `Upgrade`, and what came behind it.

    Behind a CONNECT comes nothing that could be read.
    """
    parser, version = protocol.parser, protocol.parser.get_http_version().encode()
    if not _is_cut_off(parser):
        return b""
    (behind,) = getattr(sys.exc_info()[1], "args", (0,))
    lines = [b"%b %b HTTP/%b" % (parser.get_method(), protocol.url, version)]
    lines += [b"%b: %b" % header for header in protocol.headers if header[0] != b"upgrade"]
    return b"\r\n".join([*lines, b"", protocol.chunk[behind:]])


def _refuse(protocol: Any, reply: Reply) -> None:
    """Answer a request that could not be read, and close after the client had time to read that.

    To close at once while the client still sends would reset the connection, and the answer with
    it.
    """
    lines = [f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    lines += [f"content-length: {len(reply.body)}", "connection: close", "", ""]
    protocol.transport.write("\r\n".join(lines).encode() + reply.body)
    if protocol.transport.can_write_eof():
        protocol.transport.write_eof()
    protocol.loop.call_later(_LINGER_SECONDS, protocol.transport.close)
