"""The object store as an ASGI application: reads whole bodies, and answers in other threads."""

import asyncio
from collections.abc import Callable

from icecheck.mock_server.http.asgi import (
    AsgiApp,
    Message,
    Receive,
    Send,
    head_of,
    read_body,
    request_of,
    send_reply,
)
from icecheck.mock_server.http.protocol import head_refusal
from icecheck.mock_server.objects.refusals import S3Refusal, refusal_reply
from icecheck.mock_server.protocol.wire import Reply, Request

BODY_BYTES_MAX = 256 * 1024 * 1024
"""The maximum size of one request: clients upload larger objects in parts."""


def object_app(answer: Callable[[Request], Reply]) -> AsgiApp:
    """Return the application in which `answer` answers every request."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"only http is served, not {scope['type']}")
        head = head_of(scope)
        refusal = head_refusal(head)
        if refusal is not None:
            await send_reply(send, head.method, refusal)
            return
        body = await read_body(receive, BODY_BYTES_MAX)
        if body is None:
            return
        if len(body) > BODY_BYTES_MAX:
            message = f"One request has {BODY_BYTES_MAX} bytes at most: upload in parts"
            refused = refusal_reply(S3Refusal(400, "EntityTooLarge", message))
            await send_reply(send, head.method, refused)
            return
        request = request_of(head, body)
        await send_reply(send, head.method, await asyncio.to_thread(answer, request))

    return serve
