"""The object store as an ASGI application: reads whole bodies, and answers in other threads."""

import asyncio
from collections.abc import Callable

from icecheck.mock_server.http.asgi import (
    AsgiApp,
    Message,
    RawHeaders,
    Receive,
    Send,
    read_body,
    send_reply,
)
from icecheck.mock_server.http.protocol import bytes_of, head_refusal
from icecheck.mock_server.objects.refusals import S3Refusal, refusal_reply
from icecheck.mock_server.protocol.wire import Reply, Request

BODY_BYTES_MAX = 256 * 1024 * 1024
"""The maximum size of one request: clients upload larger objects in parts."""


def object_app(answer: Callable[[Request], Reply]) -> AsgiApp:
    """Return the application in which `answer` answers every request."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"only http is served, not {scope['type']}")
        method, headers_bytes = scope["method"], bytes_of(scope["headers"])
        url_bytes = len(scope["raw_path"]) + len(scope["query_string"])
        refusal = head_refusal(url_bytes, headers_bytes)
        if refusal is not None:
            await send_reply(send, method, refusal)
            return
        body = await read_body(receive, BODY_BYTES_MAX)
        if body is None:
            return
        if len(body) > BODY_BYTES_MAX:
            message = f"One request has {BODY_BYTES_MAX} bytes at most: upload in parts"
            await send_reply(send, method, refusal_reply(S3Refusal(400, "EntityTooLarge", message)))
            return
        request = Request(
            method,
            scope["raw_path"].decode("latin-1"),
            scope["query_string"].decode("latin-1"),
            RawHeaders(scope["headers"]),
            body,
            headers_bytes,
        )
        await send_reply(send, method, await asyncio.to_thread(answer, request))

    return serve
