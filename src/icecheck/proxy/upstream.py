"""The connections to the catalog: requests are sent as they come, to the host of the target."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpcore

from icecheck.mock_server.http.protocol import BODILESS_STATUSES
from icecheck.mock_server.protocol.wire import Request
from icecheck.proxy.heads import RawFields, for_catalog, length_of, value_of
from icecheck.targets.target import Target
from icecheck.wire.transport import tls_context

_CONNECTIONS_MAX = 512
# Servers keep theirs for five seconds and more: a request must not meet the end of one.
_KEPT_SECONDS = 2.0
_READING = frozenset({"GET", "HEAD"})
# How long an answer takes, the client decides.
_SECONDS_MAX = {"connect": 30.0, "pool": 30.0}
_LEFT_BYTES_MAX = 64 * 1024
_LEFT_SECONDS_MAX = 0.5


class Upstream:
    """Sends requests to the catalog, over connections that are kept for the next ones."""

    def __init__(self, target: Target) -> None:
        self._url = httpcore.URL(target.base_url)
        self._tls = tls_context(target)
        self._pool: httpcore.AsyncConnectionPool | None = None

    @contextlib.asynccontextmanager
    async def answer(
        self, request: Request, target: bytes, headers: RawFields
    ) -> AsyncIterator[httpcore.Response]:
        """Send a request; yields the answer, whose body is not read yet.

        ``target`` is path and query as they came, ``headers`` the fields as they came. A GET or
        HEAD is sent once more if a kept connection ends without an answer: the client, which may
        have opened one of its own, cannot know of that (RFC 9110, 9.2.2).
        """
        if self._pool is None:
            self._pool = httpcore.AsyncConnectionPool(
                ssl_context=self._tls,
                max_connections=_CONNECTIONS_MAX,
                max_keepalive_connections=_CONNECTIONS_MAX,
                keepalive_expiry=_KEPT_SECONDS,
            )
        url = httpcore.URL(
            scheme=self._url.scheme, host=self._url.host, port=self._url.port, target=target
        )
        sent = [(b"host", _authority(self._url)), *for_catalog(headers)]
        if request.body or request.method in ("POST", "PUT", "PATCH"):
            sent.append((b"content-length", b"%d" % len(request.body)))
        answer = await self._answer(self._pool, request, url, sent)
        try:
            yield answer
        finally:
            await answer.aclose()

    async def _answer(
        self,
        pool: httpcore.AsyncConnectionPool,
        request: Request,
        url: httpcore.URL,
        headers: RawFields,
    ) -> httpcore.Response:
        opened = []

        async def trace(event: str, _: Mapping[str, Any]) -> None:
            if event.startswith("connection.connect"):
                opened.append(event)

        extensions = {"timeout": _SECONDS_MAX, "trace": trace}
        asked = httpcore.Request(
            request.method,
            url,
            headers=headers,
            content=request.body or None,
            extensions=extensions,
        )
        try:
            return await pool.handle_async_request(asked)
        except (httpcore.NetworkError, httpcore.RemoteProtocolError):
            if opened or request.method not in _READING:
                raise
            return await pool.handle_async_request(asked)


async def left_behind(answer: httpcore.Response) -> bytes:
    """Return the body that came with a status that has none; to be called at the answer's end.

    A connection with bytes behind the end of an answer is not used again: the next answer on it
    could not be read.
    """
    # httpcore does not tell: its connection keeps these bytes for the next answer.
    stream: Any = answer.stream
    protocol = stream._stream._connection._h11_state  # noqa: SLF001
    left = bytes(protocol.trailing_data[0])
    if answer.status not in BODILESS_STATUSES:
        if left:
            protocol.send_failed()
        return b""
    fields = list(answer.headers)
    is_chunked = value_of(fields, b"transfer-encoding").lower().endswith(b"chunked")
    # The length with 304 is that of the body that is left out (RFC 9110, 8.6).
    declared = (length_of(fields) or 0) if answer.status == 204 else 0
    if left or is_chunked or declared:
        protocol.send_failed()  # so that it is closed
    due = min(max(declared, int(is_chunked)), _LEFT_BYTES_MAX)
    network = answer.extensions["network_stream"]
    with contextlib.suppress(httpcore.NetworkError, httpcore.TimeoutException):
        while len(left) < due:
            part = await network.read(_LEFT_BYTES_MAX, timeout=_LEFT_SECONDS_MAX)
            if not part:
                break
            left += part
    return _unchunked(left) if is_chunked else left


def _unchunked(raw: bytes) -> bytes:
    """Return the content of a chunked body as far as it is there."""
    content, size = b"", 1
    while raw and size:
        line, _, raw = raw.partition(b"\r\n")
        try:
            size = int(line.partition(b";")[0], 16)
        except ValueError:
            return content + line + raw
        content, raw = content + raw[:size], raw[size + 2 :]
    return content


def _authority(url: httpcore.URL) -> bytes:
    host = b"[%b]" % url.host if b":" in url.host else url.host
    usual = {b"http": 80, b"https": 443}.get(url.scheme)
    return host if url.port in (None, usual) else b"%b:%d" % (host, url.port)
