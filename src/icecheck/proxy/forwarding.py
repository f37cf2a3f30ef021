"""Hands requests on to a catalog and its answers back, unchanged but for addresses."""

import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import httpcore

from icecheck.mock_server.http.asgi import (
    Message,
    RawHeaders,
    Receive,
    Send,
    cut_connection,
    read_body,
    send_reply,
)
from icecheck.mock_server.http.hosts import Hosts
from icecheck.mock_server.http.protocol import bytes_of, head_refusal
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.wire import Request
from icecheck.proxy.addresses import Addresses
from icecheck.targets.target import Target
from icecheck.wire.answers import UnusableAnswer, decoded_body
from icecheck.wire.transport import tls_context

BODY_BYTES_MAX = 256 << 20
"""A longer request is refused; a longer answer is handed on and not judged."""

_CONNECTIONS_MAX = 512
_KEPT_SECONDS = 5.0
_CONNECT_SECONDS = 30.0
# Of one connection, not of a message (RFC 9110, 7.6.1); the length is written anew.
_OF_A_CONNECTION = frozenset(
    {
        b"connection", b"content-length", b"host", b"keep-alive", b"proxy-authenticate",
        b"proxy-authorization", b"proxy-connection", b"te", b"trailer", b"transfer-encoding",
        b"upgrade",
    }
)  # fmt: skip
_BODILESS = frozenset({204, 304})
_SIGNED = "aws4-hmac-sha256"
_UNSIGNED = (
    "A signature covers the host that a request is sent to, so that none can be handed on: "
    "icecheck run --sigv4 REGION/SERVICE judges a catalog that wants signed requests"
)


@dataclass(frozen=True, slots=True)
class Passed:
    """A request that was handed on, and its answer; ``status`` is None where none came.

    The body is decoded; it is None if it was too long to be kept, or could not be decoded.
    """

    request: Request
    status: int | None
    headers: tuple[tuple[str, str], ...]
    body: bytes | None
    error: str
    elapsed_ms: float


class Forwarder:
    """An ASGI application that is the proxy: requests go to the host of the target only.

    ``on_passed`` gets each exchange once it is over, ``on_leading_past`` the addresses of a config
    by which clients leave the proxy. ``proxy_uri`` is asked for when the first config passes.
    """

    def __init__(
        self,
        target: Target,
        proxy_uri: Callable[[], str],
        on_passed: Callable[[Passed], object],
        on_leading_past: Callable[[str], object],
        hosts: Hosts | None = None,
    ) -> None:
        self._target = target
        self._url = httpcore.URL(target.base_url)
        self._proxy_uri = proxy_uri
        self._on_passed = on_passed
        self._on_leading_past = on_leading_past
        self._hosts = hosts
        self._tls = tls_context(target)
        self._pool: httpcore.AsyncConnectionPool | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            raise ValueError(f"only http is served, not {scope['type']}")
        url_bytes = len(scope["raw_path"]) + len(scope["query_string"])
        refusal = head_refusal(url_bytes, bytes_of(scope["headers"])) or (
            None if self._hosts is None else self._hosts.refusal(scope["headers"])
        )
        if refusal is not None:
            await send_reply(send, scope["method"], refusal)
            return
        body = await read_body(receive, BODY_BYTES_MAX)
        if body is None:
            return  # the client went away before its request was complete: it is not handed on
        if len(body) > BODY_BYTES_MAX:
            words = f"The body is longer than {BODY_BYTES_MAX} bytes"
            too_long = replies.error_reply(413, "PayloadTooLargeException", words)
            await send_reply(send, scope["method"], too_long)
            return
        request = Request(
            scope["method"],
            scope["raw_path"].decode("latin-1"),
            scope["query_string"].decode("latin-1"),
            RawHeaders(scope["headers"]),
            body,
        )
        signed = (request.headers.get("authorization") or "").lower().startswith(_SIGNED)
        if signed:
            refused = replies.error_reply(400, "BadRequestException", _UNSIGNED)
            await send_reply(send, request.method, refused)
            return
        await self._pass_on(request, scope, receive, send)

    async def _pass_on(
        self, request: Request, scope: Message, receive: Receive, send: Send
    ) -> None:
        started = time.perf_counter()

        def passed(
            status: int | None, headers: Any = (), body: bytes | None = b"", error: str = ""
        ) -> Passed:
            texts = tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in headers)
            elapsed_ms = (time.perf_counter() - started) * 1000
            return Passed(request, status, texts, body, error, elapsed_ms)

        try:
            async with self._answer(request, scope["headers"]) as answer:
                told = await self._hand_back(request, answer, send)
            self._on_passed(passed(answer.status, answer.headers, told))
        except (httpcore.ConnectError, httpcore.ConnectTimeout, OSError) as error:
            self._on_passed(passed(None, error=f"ConnectError: {error}"))
            words = f"The catalog at {self._target.base_url} cannot be reached: {error}"
            unreachable = replies.error_reply(502, "BadGatewayException", words)
            await send_reply(send, request.method, unreachable)
        except (
            httpcore.NetworkError,
            httpcore.ProtocolError,
            httpcore.TimeoutException,
        ) as error:
            self._on_passed(passed(None, error=f"{type(error).__name__}: {error}"))
            # What the catalog has done to the connection is done to that of the client.
            await cut_connection(scope, receive)

    @contextlib.asynccontextmanager
    async def _answer(
        self, request: Request, headers: list[tuple[bytes, bytes]]
    ) -> AsyncIterator[httpcore.Response]:
        """Send a request to the catalog; yields the answer, whose body is not read yet."""
        if self._pool is None:
            self._pool = httpcore.AsyncConnectionPool(
                ssl_context=self._tls,
                max_connections=_CONNECTIONS_MAX,
                max_keepalive_connections=_CONNECTIONS_MAX,
                keepalive_expiry=_KEPT_SECONDS,
            )
        query = f"?{request.query_string}" if request.query_string else ""
        url = httpcore.URL(
            scheme=self._url.scheme,
            host=self._url.host,
            port=self._url.port,
            target=f"{request.raw_path}{query}".encode("latin-1"),
        )
        sent = [(b"host", _authority(self._url))]
        sent += [
            (name, _encodings(value) if name == b"accept-encoding" else value)
            for name, value in headers
            if name not in _OF_A_CONNECTION
        ]
        if request.body or request.method in ("POST", "PUT", "PATCH"):
            sent.append((b"content-length", b"%d" % len(request.body)))
        async with self._pool.stream(
            request.method,
            url,
            headers=sent,
            content=request.body or None,
            extensions={"timeout": {"connect": _CONNECT_SECONDS}},  # else the client decides
        ) as answer:
            yield answer

    async def _hand_back(
        self, request: Request, answer: httpcore.Response, send: Send
    ) -> bytes | None:
        """Send the answer to the client; return its body decoded, None if that cannot be had."""
        parts, length = [], 0
        stream = answer.aiter_stream()
        async for part in stream:
            parts.append(part)
            length += len(part)
            if length > BODY_BYTES_MAX:
                await _send_head(send, answer.status, self._headers(answer, request.method))
                for each in parts:
                    await send({"type": "http.response.body", "body": each, "more_body": True})
                async for each in stream:
                    await send({"type": "http.response.body", "body": each, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
                return None
        raw = b"".join(parts)
        headers = self._headers(answer, request.method)
        encoding = b",".join(v for n, v in answer.headers if n.lower() == b"content-encoding")
        try:
            body = decoded_body(raw, encoding.decode("latin-1")) if raw else raw
        except UnusableAnswer:
            body = None
        if body is not None and answer.status == 200 and request.raw_path.endswith("/v1/config"):
            here = Addresses(self._target.base_url, self._proxy_uri())
            raw, past = here.config_at_proxy(body)
            headers = [each for each in headers if each[0].lower() != b"content-encoding"]
            for address in past:
                self._on_leading_past(address)
        if request.method != "HEAD" and answer.status not in _BODILESS:
            headers.append((b"content-length", b"%d" % len(raw)))
        await _send_head(send, answer.status, headers)
        await send({"type": "http.response.body", "body": raw})
        return body

    def _headers(self, answer: httpcore.Response, method: str) -> list[tuple[bytes, bytes]]:
        """Return the headers of an answer for the client; a redirection leads here again."""
        kept = []
        for name, value in answer.headers:
            lower = name.lower()
            if lower in _OF_A_CONNECTION and (lower, method) != (b"content-length", "HEAD"):
                continue
            if lower == b"location":
                url = value.decode("latin-1")
                here = Addresses(self._target.base_url, self._proxy_uri()).at_proxy(url)
                kept.append((name, (here or url).encode("latin-1")))
            else:
                kept.append((name, value))
        return kept


def _authority(url: httpcore.URL) -> bytes:
    host = b"[%b]" % url.host if b":" in url.host else url.host
    usual = {b"http": 80, b"https": 443}.get(url.scheme)
    return host if url.port in (None, usual) else b"%b:%d" % (host, url.port)


def _encodings(accepted: bytes) -> bytes:
    """Return which encoding to ask for: one that the client reads, and that can be read here."""
    return b"gzip" if b"gzip" in accepted.lower() else b"identity"


async def _send_head(send: Send, status: int, headers: list[tuple[bytes, bytes]]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
