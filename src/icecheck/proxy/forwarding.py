"""Hands requests on to a catalog and its answers back, unchanged but for addresses."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpcore
from msgspec import structs

from icecheck.mock_server.core.context import Reply
from icecheck.mock_server.http.asgi import (
    Message,
    Receive,
    Send,
    cut_connection,
    head_of,
    read_body,
    request_of,
    send_reply,
)
from icecheck.mock_server.http.hosts import Hosts
from icecheck.mock_server.http.protocol import (
    BODILESS_STATUSES,
    AsWritten,
    head_refusal,
)
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.wire import Request
from icecheck.proxy.addresses import Addresses
from icecheck.proxy.heads import RawFields, can_be_written, for_client, length_of, value_of
from icecheck.proxy.upstream import Upstream, left_behind
from icecheck.targets.target import Target
from icecheck.wire.answers import UnusableAnswer, decoded_body

BODY_BYTES_MAX = 256 << 20
"""A longer request is refused; a longer answer is handed on and not judged."""

_SIGNED = "aws4-hmac-sha256"
_UNSIGNED = (
    "A signature covers the host that a request is sent to, so that none can be handed on: "
    "icecheck run --sigv4 REGION/SERVICE judges a catalog that wants signed requests"
)
_GONE = "the client went away"
_KNOWN_CODINGS = frozenset({"", "gzip", "identity", "x-gzip"})
_UNREACHABLE = (httpcore.ConnectError, httpcore.ConnectTimeout, OSError)
_TROUBLES = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    OSError,
)
_TOO_MANY = replies.error_reply(
    503, "ServiceUnavailableException", "Too many requests wait for the catalog already"
)


@dataclass(frozen=True, slots=True)
class Passed:
    """A request that was handed on, and its answer; ``status`` is None where none came whole.

    The body is decoded; it is None if it was too long to be kept, or ``is_coded`` in a way that is
    not known here.
    """

    request: Request
    status: int | None
    headers: tuple[tuple[str, str], ...]
    body: bytes | None
    error: str
    elapsed_ms: float

    @property
    def is_coded(self) -> bool:
        """Whether the answer says that its body is coded otherwise than gzip codes."""
        said = (value for name, value in self.headers if name.lower() == "content-encoding")
        return any({*map(str.strip, value.lower().split(","))} - _KNOWN_CODINGS for value in said)


@dataclass(slots=True)
class _Course:
    """How far a request has come: ``is_begun`` once the head of an answer is sent."""

    request: Request
    target: bytes
    addresses: Addresses
    takes_parts: bool
    started: float = field(default_factory=time.perf_counter)
    is_begun: bool = False
    is_answered: bool = False
    is_recorded: bool = False


class Forwarder:
    """An ASGI application that is the proxy: requests go to the host of the target only.

    ``on_passed`` gets each exchange once it is over, ``on_leading_past`` the addresses of a config
    by which clients leave the proxy, ``on_refused`` why a request was not handed on. ``proxy_uri``
    is where clients find the proxy that do not say in ``Host`` how they call it.
    """

    def __init__(
        self,
        target: Target,
        proxy_uri: Callable[[], str],
        on_passed: Callable[[Passed], object],
        on_leading_past: Callable[[str], object],
        on_refused: Callable[[str], object],
        hosts: Hosts,
    ) -> None:
        self._target = target
        self._proxy_uri = proxy_uri
        self._on_passed = on_passed
        self._on_leading_past = on_leading_past
        self._on_refused = on_refused
        self._hosts = hosts
        self._catalog = Upstream(target)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            raise ValueError(f"only http is served, not {scope['type']}")
        head = head_of(scope)
        if refusal := head_refusal(head):
            await self._refuse(scope, send, refusal, "the URL or the headers are too large")
            return
        if refusal := self._hosts.refusal(scope["headers"]):
            await self._refuse(scope, send, refusal, "for another host, or from a foreign page")
            return
        body = await read_body(receive, BODY_BYTES_MAX)
        if body is None:
            return  # the client went away before its request was complete: it is not handed on
        if len(body) > BODY_BYTES_MAX:
            words = f"The body is longer than {BODY_BYTES_MAX} bytes"
            too_long = replies.error_reply(413, "PayloadTooLargeException", words)
            await self._refuse(scope, send, too_long, "the body is too long")
            return
        request = request_of(structs.replace(head, raw_path=_path(scope)), body)
        signed = (request.headers.get("authorization") or "").lower().startswith(_SIGNED)
        if signed:
            refused = replies.error_reply(400, "BadRequestException", _UNSIGNED)
            await self._refuse(scope, send, refused, "signed for AWS (SigV4)")
            return
        here = Addresses(self._target.base_url, self._address(request))
        # A client of HTTP/1.0 knows no chunks.
        course = _Course(request, _target(scope), here, scope.get("http_version") != "1.0")
        await self._pass_on(course, scope, receive, send)

    async def _refuse(self, scope: Message, send: Send, reply: Reply, why: str) -> None:
        self._on_refused(f"{why}: {reply.status}")
        await send_reply(send, scope["method"], reply)

    def _address(self, request: Request) -> str:
        """Return how the client calls the proxy; ``Host`` was checked."""
        host = str(request.headers.get("host") or "").partition(",")[0].strip().removesuffix(":")
        return f"http://{host}" if host else self._proxy_uri()

    async def _pass_on(self, course: _Course, scope: Message, receive: Receive, send: Send) -> None:
        """Hand a request on unless its client goes away meanwhile."""
        exchange = asyncio.create_task(self._exchange(course, scope["headers"], send))
        gone = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({exchange, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not course.is_answered and not exchange.done():
                exchange.cancel()
            await asyncio.wait({exchange})
        finally:
            exchange.cancel()
            gone.cancel()
            await asyncio.gather(exchange, gone, return_exceptions=True)
        if not exchange.cancelled() and exchange.result():
            await cut_connection(scope, receive)

    async def _exchange(self, course: _Course, headers: RawFields, send: Send) -> bool:
        """Hand a request on and its answer back; return whether the connection is to be cut.

        What the catalog has done to its connection is done to that of the client.
        """
        try:
            async with self._catalog.answer(course.request, course.target, headers) as answer:
                told = await self._hand_back(course, answer, send)
                self._record(course, answer.status, answer.headers, told)
        except asyncio.CancelledError:
            self._record(course, error=_GONE)
            raise
        except _TROUBLES as error:
            unreachable = isinstance(error, _UNREACHABLE)
            kind = "ConnectError" if unreachable else type(error).__name__
            self._record(course, error=f"{kind}: {error}")
            if course.is_begun or not (unreachable or isinstance(error, httpcore.PoolTimeout)):
                return True
            reply = _TOO_MANY
            if unreachable:
                words = f"The catalog at {self._target.base_url} cannot be reached: {error}"
                reply = replies.error_reply(502, "BadGatewayException", words)
            course.is_answered = True
            await send_reply(send, course.request.method, reply)
        finally:
            self._record(course, error="the answer could not be handed on")  # unless it is already
        return False

    def _record(
        self,
        course: _Course,
        status: int | None = None,
        headers: Any = (),
        body: bytes | None = b"",
        error: str = "",
    ) -> None:
        if course.is_recorded:
            return
        course.is_recorded = True
        texts = tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in headers)
        elapsed_ms = (time.perf_counter() - course.started) * 1000
        self._on_passed(Passed(course.request, status, texts, body, error, elapsed_ms))

    async def _hand_back(
        self, course: _Course, answer: httpcore.Response, send: Send
    ) -> bytes | None:
        """Send the answer to the client; return its body decoded, None if that cannot be had."""
        request, fields, stream = course.request, list(answer.headers), answer.aiter_stream()
        kept = _Kept()
        if not can_be_written(answer.status):
            return await self._replace(course, answer, kept, send)
        headers = for_client(fields, course.addresses.at_proxy)
        is_config = answer.status == 200 and request.raw_path.endswith("/v1/config")
        length, begin = length_of(fields), list[bytes]()
        if request.method != "HEAD" and (is_config or (length is None and not course.takes_parts)):
            async for part in stream:
                kept.add(part)
                begin.append(part)
                if kept.is_too_long:
                    break
            else:
                changed = self._changed_config(course, kept.decoded(fields)) if is_config else None
                if changed is not None:
                    begin = [changed]
                    headers = [each for each in headers if each[0].lower() != b"content-encoding"]
                length = sum(map(len, begin))
        headers = [(AsWritten(name), value) for name, value in headers]
        if length is not None and answer.status not in BODILESS_STATUSES:
            headers.append((b"content-length", b"%d" % length))
        course.is_begun = True
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        for part in begin:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        async for part in stream:
            kept.add(part)
            await send({"type": "http.response.body", "body": part, "more_body": True})
        course.is_answered = True
        await send({"type": "http.response.body", "body": b""})
        try:
            return await left_behind(answer) or kept.decoded(fields)
        except asyncio.CancelledError:
            self._record(course, answer.status, fields, kept.decoded(fields))
            raise

    async def _replace(
        self, course: _Course, answer: httpcore.Response, kept: "_Kept", send: Send
    ) -> bytes | None:
        """Send another answer than one that cannot be written; return the body of that one."""
        async for part in answer.aiter_stream():
            kept.add(part)
        words = f"The catalog answered with the status {answer.status}, which no answer has"
        course.is_answered = True
        reply = replies.error_reply(502, "BadGatewayException", words)
        await send_reply(send, course.request.method, reply)
        return kept.decoded(list(answer.headers))

    def _changed_config(self, course: _Course, config: bytes | None) -> bytes | None:
        """Return a config whose addresses lead to the proxy; None if there is nothing to change."""
        if config is None:
            return None
        changed, past = course.addresses.config_at_proxy(config)
        for address in past:
            self._on_leading_past(address)
        return None if changed == config else changed


class _Kept:
    """A copy of an answer's body as it came, up to a limit."""

    __slots__ = ("_length", "_parts")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    @property
    def is_too_long(self) -> bool:
        """Whether the body is longer than what is kept."""
        return self._length > BODY_BYTES_MAX

    def add(self, part: bytes) -> None:
        """Keep a part, or forget all if there are too many."""
        self._length += len(part)
        self._parts.append(part)
        if self.is_too_long:
            self._parts.clear()

    def decoded(self, headers: RawFields) -> bytes | None:
        """Return the body decoded as its headers say; None if that cannot be had."""
        if self.is_too_long:
            return None
        raw, encoding = b"".join(self._parts), value_of(headers, b"content-encoding")
        try:
            return decoded_body(raw, encoding.decode("latin-1")) if raw else raw
        except UnusableAnswer:
            return None


async def _gone(receive: Receive) -> None:
    """Wait until the client has closed its connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _path(scope: Message) -> bytes:
    """Return the path, of a request to a whole URL too: not every HTTP server takes it apart."""
    raw: bytes = scope["raw_path"]
    if raw.startswith(b"/") or b"://" not in raw:
        return raw
    return b"/" + raw.partition(b"://")[2].partition(b"/")[2]


def _target(scope: Message) -> bytes:
    """Return path and query as they came; an empty query is told by httptools only."""
    path = _path(scope)
    if scope["query_string"]:
        return b"%b?%b" % (path, scope["query_string"])
    connection = scope.get("state", {}).get("connection")
    # The connection may have read the head of the next request already.
    is_last = getattr(getattr(connection, "cycle", None), "scope", None) is scope
    return path + b"?" if is_last and getattr(connection, "url", b"").endswith(b"?") else path
