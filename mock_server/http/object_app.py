"""The object store as an ASGI application: reads whole bodies, and answers in other threads."""

import asyncio
from collections.abc import Callable

from icecheck.mock_server.http.asgi import AsgiApp, Message, RawHeaders, Receive, Send
from icecheck.mock_server.http.protocol import head_refusal, headers_bytes_of
from icecheck.mock_server.objects.refusals import S3Refusal, refusal_reply
from icecheck.mock_server.protocol.wire import Reply, Request

BODY_BYTES_MAX = 256 * 1024 * 1024
"""The maximum size of one request: clients upload larger objects in parts."""

_BODILESS_STATUSES = frozenset({204, 304})


def object_app(answer: Callable[[Request], Reply]) -> AsgiApp:
    """Return the application in which `answer` answers every request."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"only http is served, not {scope['type']}")
        method, headers_bytes = scope["method"], headers_bytes_of(scope)
        refusal = head_refusal(scope, headers_bytes)
        if refusal is not None:
            await _send(send, method, refusal)
            return
        body = await _body(receive)
        if body is None:
            return
        if len(body) > BODY_BYTES_MAX:
            message = f"One request has {BODY_BYTES_MAX} bytes at most: upload in parts"
            await _send(send, method, refusal_reply(S3Refusal(400, "EntityTooLarge", message)))
            return
        request = Request(
            method,
            scope["raw_path"].decode("latin-1"),
            scope["query_string"].decode("latin-1"),
            RawHeaders(scope["headers"]),
            body,
            headers_bytes,
        )
        await _send(send, method, await asyncio.to_thread(answer, request))

    return serve


async def _body(receive: Receive) -> bytes | None:
    """Return a body, of one that is too large only its beginning; None if the client is gone."""
    body = bytearray()
    while len(body) <= BODY_BYTES_MAX:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return bytes(body)


async def _send(send: Send, method: str, reply: Reply) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers]
    if method != "HEAD" and reply.status not in _BODILESS_STATUSES:
        headers.append((b"content-length", b"%d" % len(reply.body)))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})
