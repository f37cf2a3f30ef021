"""uvicorn's protocol on httptools: with bounds, and most answers without ASGI."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from icecheck.mock_server.http.protocol import (
    HEAD_BYTES_MAX,
    LARGE_HEADERS,
    LONG_URL,
    NO_REQUEST,
    URL_BYTES_MAX,
    Direct,
    answer_bytes,
    refuse,
)

_UNUSUAL = frozenset({b"transfer-encoding", b"upgrade"})
# A longer body is read by the application, which makes a client wait that sends too fast.
_LENGTH_DIGITS_MAX = 6


class HttptoolsDoor(HttpToolsProtocol):
    """Bounds a head that does not end, which httptools does not, and answers at once if it can.

    An ASGI application costs a task, two dictionaries and an event for each request: for most
    requests more than the answer itself. `direct` answers without; None: the application does.
    """

    direct: Direct | None = None
    parts: list[bytes] | None = None
    refused = False
    reading_head = False
    head_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Take in bytes of the connection."""
        if self.refused:
            return
        continues = self.reading_head
        super().data_received(data)
        # The chunk in which a head begins may hold the end of a body too.
        self.head_bytes = self.head_bytes + len(data) if continues and self.reading_head else 0
        if self.head_bytes > HEAD_BYTES_MAX and not self.refused:
            self.refused = True
            refuse(self, LARGE_HEADERS if self.headers or not self.url else LONG_URL)

    def on_message_begin(self) -> None:
        """Begin a request."""
        self.reading_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Take in the end of a head: the request goes to the application, or waits for its end."""
        self.reading_head = False
        if self.direct is not None and self._may_be_direct():
            self.parts = []
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take in a part of a body."""
        if self.parts is None:
            super().on_body(body)
        else:
            self.parts.append(body)

    def on_message_complete(self) -> None:
        """Take in the end of a request, and answer it unless the application has it."""
        parts, self.parts = self.parts, None
        if parts is None or self.direct is None:
            super().on_message_complete()
            return
        app, body = self.app, b"".join(parts)
        if self._answered(self.direct, body):
            return
        super().on_headers_complete()
        self.app = app
        if body:
            super().on_body(body)
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's signature
        """Answer what is no HTTP."""
        self.refused = True
        too_long = len(getattr(self, "url", b"")) > URL_BYTES_MAX
        refuse(self, LONG_URL if too_long else NO_REQUEST)

    def _may_be_direct(self) -> bool:
        """Return whether nothing is unusual about a request, as far as its head tells."""
        if self.cycle is not None and not self.cycle.response_complete:
            return False  # it waits for the answer to the one before
        if self.flow.write_paused or self.expect_100_continue:
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
        if not direct.takes(raw_path, query, method):
            return False
        answer = direct.answer(method, raw_path, query, self.headers, body)
        written = None if answer.effects else answer_bytes(method, answer.reply)
        if written is None:
            self.app = direct.app(answer)
            return False
        self.transport.write(written)
        self.on_response_complete()
        return True
