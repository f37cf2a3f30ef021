"""uvicorn's protocol on httptools: with bounds, and most answers without ASGI."""

import contextlib
import logging
import sys
from collections.abc import Sequence

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from icecheck.mock_server.core.context import Answer, Request
from icecheck.mock_server.http.protocol import (
    HEAD_BYTES_MAX,
    LARGE_HEADERS,
    LONG_URL,
    NO_REQUEST,
    URL_BYTES_MAX,
    Direct,
    Head,
    answer_bytes,
    bytes_of,
    refuse,
)
from icecheck.mock_server.protocol import replies

_UNUSUAL = frozenset({b"transfer-encoding", b"upgrade"})
# A longer body is read by the application, which makes a client wait that sends too fast.
_LENGTH_DIGITS_MAX = 6

# Of longer requests, the bytes are not kept to be compared with.
_COMPARED_BYTES_MAX = 4096

_log = logging.getLogger(__name__)


class HttptoolsDoor(HttpToolsProtocol):
    """Bounds what httptools does not: heads and trailers without end. Answers at once if it can.

    An ASGI application costs a task, two dictionaries and an event for each request: for most
    requests more than the answer itself. `direct` answers without; None: the application does.

    httptools ends a request that asks for another protocol behind its head: what follows would be
    of that protocol. There is none here, so its head is read again without this wish, and its body
    behind it. Java's own HTTP client asks so in its first request on a connection.

    It gives the trailers of a body in chunks as it gives headers, and they must not become any (RFC
    9110, 6.5.1): nobody here knows what to do with them, so they are read and forgotten.

    Clients ask for the same again and again. A request that comes byte for byte as the one before
    on its connection is not parsed again: that costs as much as most answers.
    """

    direct: Direct | None = None
    parts: list[bytes] | None = None
    refused = False
    reading_head = False
    reading_trailers = False  # or the data of a chunk, as long as none of it has come
    began_to_read = False
    head_bytes = 0
    headers_bytes = 0
    trailer_bytes = 0
    chunk = b""
    again = b""
    wishes: Sequence[tuple[bytes, bytes]] = ()
    heard_at = 0.0  # in the loop's seconds
    is_between_requests = True
    requests_in_piece = 0
    answered: Request | None = None  # in the latest piece, which has no body
    piece = b""

    def data_received(self, data: bytes) -> None:
        """Take in bytes of the connection."""
        self.heard_at = self.loop.time()
        if data == self.piece and self.answered is not None and self._answered_again(self.answered):
            return
        self.piece, self.answered, self.requests_in_piece = b"", None, 0
        is_whole = self.is_between_requests and len(data) <= _COMPARED_BYTES_MAX
        self._take_in(data)
        if is_whole and self.requests_in_piece == 1 and not self.refused:
            self.piece = data

    def _take_in(self, data: bytes) -> None:
        self.began_to_read, length = False, len(data)
        while data and not self.refused:
            self.chunk, self.again = data, b""
            self._feed(data)
            data = self.again
        # What came with the beginning of a head may hold the end of a body too.
        unended = (self.reading_head or self.reading_trailers) and not self.began_to_read
        self.head_bytes = self.head_bytes + length if unended else 0
        if self.head_bytes > HEAD_BYTES_MAX and not self.refused:
            self.refused = True
            refuse(self, LARGE_HEADERS if self.headers or not self.url else LONG_URL)

    def _feed(self, data: bytes) -> None:
        """Have bytes parsed as uvicorn does, which ends a timer with each of them, too."""
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            self.logger.warning("Invalid HTTP request received.")
            self.send_400_response("")
        except httptools.HttpParserUpgrade:
            self._unsupported_upgrade_warning()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take in the end of the connection."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection if nothing came on it for long; otherwise look again later.

        To look costs less than to end a timer and to start one with each request.
        """
        left = self.heard_at + self.timeout_keep_alive - self.loop.time()
        if self._is_answering() or not self.is_between_requests:
            self._look_later(self.timeout_keep_alive)
        elif left > 0:
            self._look_later(left)
        else:
            super().timeout_keep_alive_handler()

    def _look_later(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(
            seconds, self.timeout_keep_alive_handler
        )

    def on_message_begin(self) -> None:
        """Begin a request."""
        self.reading_head = self.began_to_read = True
        self.is_between_requests = False
        self.requests_in_piece += 1
        self.headers_bytes = self.trailer_bytes = 0
        # What else uvicorn makes here is for ASGI: see `_to_application`.
        self.url, self.headers, self.expect_100_continue = b"", [], False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take in a header, or forget a trailer; raises ValueError for too many of these."""
        if self.reading_head:
            name = name.lower()
            self.headers_bytes += len(name) + len(value)
            if name == b"expect" and value.lower() == b"100-continue":
                self.expect_100_continue = True
            self.headers.append((name, value))
            return
        self.trailer_bytes += len(name) + len(value)
        if self.trailer_bytes > HEAD_BYTES_MAX:
            raise ValueError("the trailers are too large")  # httptools ends, and we refuse

    def on_headers_complete(self) -> None:
        """Take in the end of a head: the request goes to the application, or waits for its end."""
        self.reading_head = False
        if self._is_cut_off():
            return
        if self.wishes:
            self.headers.extend(self.wishes)
            self.headers_bytes += bytes_of(self.wishes)
            self.wishes = ()
        if self.direct is not None and self._may_be_direct():
            self.parts = []
        else:
            self._to_application()

    def on_chunk_header(self) -> None:
        """Take in the size of a chunk: behind that of the last one come trailers."""
        self.reading_trailers = self.began_to_read = True

    def on_body(self, body: bytes) -> None:
        """Take in a part of a body."""
        self.reading_trailers = False
        if self.parts is None:
            super().on_body(body)
        else:
            self.parts.append(body)

    def on_message_complete(self) -> None:
        """Take in the end of a request, and answer it unless the application has it."""
        self.reading_trailers = False
        if self._is_cut_off():
            return
        self.is_between_requests = True
        parts, self.parts = self.parts, None
        if parts is None or self.direct is None:
            super().on_message_complete()
            return
        app, body = self.app, b"".join(parts)
        if self._answered(self.direct, body):
            return
        self._to_application()
        self.app = app
        if body:
            super().on_body(body)
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's signature
        """Answer what is no HTTP."""
        self.refused = True
        if self.trailer_bytes > HEAD_BYTES_MAX:
            refuse(self, LARGE_HEADERS)
            return
        too_long = len(getattr(self, "url", b"")) > URL_BYTES_MAX
        refuse(self, LONG_URL if too_long else NO_REQUEST)

    def _unsupported_upgrade_warning(self) -> None:
        """Read the head at which httptools stopped again, without `Upgrade`, and what came after.

        Behind a CONNECT comes nothing that could be read.
        """
        self.wishes = [header for header in self.headers if header[0] == b"upgrade"]
        if not self._is_cut_off():
            return
        (behind,) = getattr(sys.exc_info()[1], "args", (0,))
        version = self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, version)]
        lines += [b"%b: %b" % header for header in self.headers if header[0] != b"upgrade"]
        self.again = b"\r\n".join([*lines, b"", self.chunk[behind:]])
        # Behind a request that closes the connection, the parser it had reads nothing more.
        self.parser = httptools.HttpRequestParser(self)
        with contextlib.suppress(AttributeError):  # httptools before 0.6.3
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)

    def _to_application(self) -> None:
        """Give the application the head that was read."""
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expects
        self.headers.extend(headers)
        super().on_headers_complete()

    def _is_cut_off(self) -> bool:
        """Return whether httptools ends this request behind its head, for what was asked there."""
        return bool(self.parser.should_upgrade()) and self.parser.get_method() != b"CONNECT"

    def _waits(self) -> bool:
        """Return whether a request waits until the one before is answered, or the client reads."""
        return self._is_answering() or self.flow.write_paused

    def _is_answering(self) -> bool:
        """Return whether the application has a request that it has not answered yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _may_be_direct(self) -> bool:
        """Return whether nothing is unusual about a request, as far as its head tells."""
        if self._waits() or self.expect_100_continue:
            return False
        if not self.url.startswith(b"/") or b"#" in self.url or len(self.url) > URL_BYTES_MAX:
            return False
        for name, value in self.headers:
            if name in _UNUSUAL or (name == b"content-length" and len(value) > _LENGTH_DIGITS_MAX):
                return False
        # A connection that ends with its answer is ended by uvicorn.
        return self.parser.get_http_version() == "1.1" and self.parser.should_keep_alive()

    def _answered(self, direct: Direct, body: bytes) -> bool:
        """Answer a request; False if the application has to, which then knows the answer."""
        method = self.parser.get_method().decode("ascii")
        raw_path, _, query = self.url.partition(b"?")
        head = Head(method, raw_path, query, self.headers, self.headers_bytes)
        request = None if direct.holds() else direct.request(head, body)
        if request is None:
            return False
        unwritten = self._written(direct, request)
        if unwritten is not None:
            self.app = direct.app(unwritten)
            return False
        if not body:
            self.answered = request
        if self.timeout_keep_alive_task is None:
            self._look_later(self.timeout_keep_alive)
        return True

    def _answered_again(self, request: Request) -> bool:
        """Answer the latest piece again as `_answered`; False if it has to be parsed.

        Where the application has to give the answer that there is, it wants the request parsed, and
        `direct` must not answer that again.
        """
        direct, app = self.direct, self.app
        if direct is None or self._waits() or direct.holds():
            return False
        unwritten = self._written(direct, request)
        if unwritten is not None:
            self.direct, self.app = None, direct.app(unwritten)
            try:
                self._take_in(self.piece)
            finally:
                self.direct, self.app = direct, app
        return True

    def _written(self, direct: Direct, request: Request) -> Answer | None:
        """Answer and write that; an answer that the application has to give is returned instead."""
        try:
            answer = direct.answer(request)
            written = None if answer.effects else answer_bytes(request.method, answer.reply)
        except Exception:  # noqa: BLE001 - httptools would blame the client, and log nothing
            _log.exception("%s %s failed", request.method, request.raw_path)
            answer, written = Answer(replies.FAILED), answer_bytes(request.method, replies.FAILED)
        if written is None:
            return answer
        self.transport.write(written)
        return None
