"""The core as a raw ASGI application: reads bodies and carries out effects on the connection."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any, Protocol

from icecheck.mock_server.core.context import (
    Answer,
    Delay,
    DoorEffect,
    Drop,
    Gate,
    Hold,
    Reply,
    Request,
    Truncate,
)
from icecheck.mock_server.http.hosts import Hosts
from icecheck.mock_server.http.protocol import (
    BODILESS_STATUSES,
    Head,
    bytes_of,
    head_refusal,
    written_headers,
)
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.wire import by_name
from icecheck.mock_server.serving.app import BODY_BYTES_MAX, App, body_too_large
from icecheck.mock_server.serving.gates import HeldRequest

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Message, Receive, Send], Awaitable[None]]

ADMINISTRATION = "/_mock/"
"""What the paths of the administration begin with; those of a catalog begin with `/v1/`."""
_ADMINISTRATION_BYTES = ADMINISTRATION.encode()

_BODILESS_METHODS = frozenset({"GET", "HEAD", "DELETE"})

_log = logging.getLogger(__name__)


class Administration(Protocol):
    """What answers requests below `ADMINISTRATION`, such as `admin.door.AdminDoor`."""

    def handle(self, request: Request, client: str) -> Reply:
        """Answer one request of a client at this address; it may take as long as it likes."""


class CatalogApplication:
    """The ASGI application of a server, for our own HTTP server or to be mounted elsewhere.

    With `hosts`, requests to other hosts are refused; an application that mounts this one checks
    hosts itself. `administration` is asked for when it is first needed. Our own HTTP server gets
    most answers as those of a `Direct`, without the ways of ASGI.
    """

    __slots__ = ("_administration", "_app", "_hosts")

    def __init__(
        self,
        app: App,
        hosts: Hosts | None = None,
        administration: Callable[[], Administration] | None = None,
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._administration = administration

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            raise ValueError(f"only http is served, not {scope['type']}")
        try:
            answer = await self._awaited_answer(scope, receive)
        except Exception:  # noqa: BLE001 - a server would answer, but with no Iceberg error
            _log.exception("%s %s failed", scope["method"], scope["raw_path"].decode("latin-1"))
            answer = Answer(replies.FAILED)
        if answer is not None:
            await _give(answer, scope, receive, send)

    def request(self, head: Head, body: bytes) -> Request | None:
        """Return a request that can be answered at once; None: it is refused, or may take long."""
        if head.raw_path.startswith(_ADMINISTRATION_BYTES) or self._refusal(head) is not None:
            return None
        request = request_of(head, b"" if head.method in _BODILESS_METHODS else body)
        return None if self._app.may_take_long(request) else request

    def holds(self) -> bool:
        """Return whether a request may have to wait at a gate."""
        return bool(self._app.gates)

    def answer(self, request: Request) -> Answer:
        """Answer a request."""
        return self._app.handle(request)

    def app(self, answer: Answer) -> AsgiApp:
        """Return an application that gives an answer that there is already."""
        return until_stopped(partial(_give, answer))

    async def _awaited_answer(self, scope: Message, receive: Receive) -> Answer | None:
        """Read and answer a request, however long that takes; None: the client is gone."""
        head = head_of(scope)
        refusal = self._refusal(head)
        if refusal is not None:
            return Answer(refusal)
        body = b""
        if head.method not in _BODILESS_METHODS:
            received = await read_body(receive, BODY_BYTES_MAX)
            if received is None:
                return None
            if len(received) > BODY_BYTES_MAX:
                return Answer(body_too_large())
            body = received
        request = request_of(head, body)
        if self._administration is not None and head.raw_path.startswith(_ADMINISTRATION_BYTES):
            client = (scope.get("client") or ("",))[0]
            return Answer(await _administered(self._administration, request, client))
        held = self._app.arrive(request)
        return await (
            _answer(self._app, request) if held is None else _held_answer(self._app, request, held)
        )

    def _refusal(self, head: Head) -> Reply | None:
        refusal = head_refusal(head)
        if refusal is None and self._hosts is not None:
            refusal = self._hosts.refusal(head.headers)
        return refusal


def until_stopped(app: AsgiApp) -> AsgiApp:
    """Return an application that ends without an error when a server that stops cancels it."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await app(scope, receive, send)

    return serve


def head_of(scope: Message) -> Head:
    """Return the head of a request as ASGI gives it."""
    headers = scope["headers"]
    return Head(
        scope["method"], scope["raw_path"], scope["query_string"], headers, bytes_of(headers)
    )


def request_of(head: Head, body: bytes) -> Request:
    """Return a request with this head."""
    return Request(
        head.method,
        head.raw_path.decode("latin-1"),
        head.query.decode("latin-1"),
        by_name(
            [(name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers]
        ),
        body,
        head.headers_bytes,
    )


async def _give(answer: Answer, scope: Message, receive: Receive, send: Send) -> None:
    """Carry out the effects of an answer, and send it unless one of them was to do so."""
    for effect in answer.effects:
        if await _carry_out(effect, scope, receive, send, answer.reply):
            return
    await send_reply(send, scope["method"], answer.reply)


async def _administered(
    administration: Callable[[], Administration], request: Request, client: str
) -> Reply:
    """Answer in a thread that ends with the process: it may wait for requests to the catalog."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[Reply] = loop.create_future()

    def answer() -> None:
        reply = administration().handle(request, client)
        with contextlib.suppress(RuntimeError):  # the server was stopped meanwhile
            loop.call_soon_threadsafe(_set, answered, reply)

    threading.Thread(target=answer, name="icecheck-admin", daemon=True).start()
    return await answered


def _set(answered: "asyncio.Future[Reply]", reply: Reply) -> None:
    if not answered.cancelled():
        answered.set_result(reply)


async def _answer(app: App, request: Request) -> Answer:
    if app.may_take_long(request):
        return await asyncio.to_thread(app.handle, request)
    return app.handle(request)


async def _held_answer(app: App, request: Request, held: HeldRequest) -> Answer:
    """Answer a request that waits at a gate, before or after it is handled."""
    try:
        if held.phase == "before":
            await _opened(held.gate)
            return await _answer(app, request)
        answer = await _answer(app, request)
        await _opened(held.gate)
        return answer
    finally:
        held.handled()


async def read_body(receive: Receive, bytes_max: int) -> bytes | None:
    """Return the whole body, of a longer one than allowed its beginning; None: the client is gone.

    A part of a body is never passed on as one: it could be read as a smaller request.
    """
    body = bytearray()
    while len(body) <= bytes_max:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return bytes(body)


async def send_reply(send: Send, method: str, reply: Reply) -> None:
    """Send a whole answer to a request with this method."""
    headers = written_headers(reply)
    body = b"" if method == "HEAD" or reply.status in BODILESS_STATUSES else reply.body
    if method != "HEAD" and reply.status not in BODILESS_STATUSES:
        headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _carry_out(
    effect: DoorEffect, scope: Message, receive: Receive, send: Send, reply: Reply
) -> bool:
    """Carry out an effect; return True when no answer is to be sent after it."""
    match effect:
        case Delay(milliseconds):
            await asyncio.sleep(milliseconds / 1000)
        case Hold(gate):
            await _opened(gate)
        case Drop():
            await cut_connection(scope, receive)
            return True
        case Truncate(body_bytes):
            headers = written_headers(reply)
            headers.append((b"content-length", b"%d" % len(reply.body)))
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            part = reply.body[:body_bytes]
            await send({"type": "http.response.body", "body": part, "more_body": True})
            await cut_connection(scope, receive)
            return True
    return False


async def _opened(gate: Gate) -> None:
    loop = asyncio.get_running_loop()
    opened = asyncio.Event()

    def open_here() -> None:
        with contextlib.suppress(RuntimeError):  # its loop has ended, and the request with it
            loop.call_soon_threadsafe(opened.set)

    gate.when_open(open_here)
    await opened.wait()


async def cut_connection(scope: Message, receive: Receive) -> None:
    """Cut the connection and wait until it is cut; only our own HTTP server makes that possible."""
    connection = scope.get("state", {}).get("connection")
    if connection is None:
        raise ConnectionAbortedError("this ASGI server cannot cut a connection on request")
    connection.transport.close()
    while (await receive())["type"] != "http.disconnect":
        pass  # reads past the rest of an unread body
