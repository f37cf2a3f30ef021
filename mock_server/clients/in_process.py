"""Shared code of the in-process transports: answer a request and carry out its HTTP effects."""

import threading
import time
from collections.abc import Iterable

from icecheck.mock_server.core.context import (
    Answer,
    Delay,
    Drop,
    Gate,
    Hold,
    Reply,
    Request,
    Truncate,
)
from icecheck.mock_server.protocol.wire import by_name
from icecheck.mock_server.serving.app import App

IN_PROCESS_URI = "http://icecheck.invalid"
"""The address that in-process clients are given; no request is ever sent to it."""

_BODILESS_STATUSES = frozenset({204, 304})


class ConnectionCut(Exception):
    """Raised when the server closed the connection instead of answering, or during the answer."""


class AnsweredLate(Exception):
    """Raised when the answer would come after the client has stopped waiting for it."""


def exchange(
    app: App,
    method: str,
    target: str,
    headers: Iterable[tuple[str, str]],
    body: bytes,
    patience: float | None = None,
) -> Reply:
    """Answer one request; `target` is path and query as sent. ConnectionCut if there is no answer.

    `patience` is how many seconds the client waits; AnsweredLate if the answer is delayed longer.
    The reply has the `content-length` that it would have had on a socket.
    """
    raw_path, _, query_string = target.partition("?")
    named = by_name([(name.lower(), value) for name, value in headers])
    answer = _answer(app, Request(method, raw_path, query_string, named, body))
    reply = answer.reply
    for effect in answer.effects:
        match effect:
            case Delay(milliseconds):
                seconds = milliseconds / 1000
                time.sleep(seconds if patience is None else min(seconds, patience))
                if patience is not None and seconds > patience:
                    raise AnsweredLate(f"no answer in {patience:g} s")
            case Hold(gate):
                _wait_at(gate)
            case Drop():
                raise ConnectionCut("closed without an answer")
            case Truncate(body_bytes):
                if body_bytes < len(reply.body):
                    raise ConnectionCut(f"closed after {body_bytes} bytes of the body")
    if method == "HEAD" or reply.status in _BODILESS_STATUSES:
        return reply
    length = (("content-length", str(len(reply.body))),)
    return Reply(reply.status, reply.headers + length, reply.body)


def _answer(app: App, request: Request) -> Answer:
    held = app.arrive(request)
    if held is None:
        return app.handle(request)
    try:
        if held.phase == "before":
            _wait_at(held.gate)
            return app.handle(request)
        answer = app.handle(request)
        _wait_at(held.gate)
        return answer
    finally:
        held.handled()


def _wait_at(gate: Gate) -> None:
    opened = threading.Event()
    gate.when_open(opened.set)
    opened.wait()
