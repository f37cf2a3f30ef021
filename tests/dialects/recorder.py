"""A mock that writes down what a client asks of it, and may answer one thing less than it would."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from icecheck.contract import load
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.http.asgi import AsgiApp, Message, Receive, Send
from icecheck.mock_server.http.threaded import ThreadedServer

STEP = "/step/"
"""A client program says what it begins with a GET below this path."""
WAREHOUSE = "recorded"
SPEC = "1.11.0"
"""The document by which the mock serves: it announces idempotency keys then."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One request as it came, what was answered, and the step that the program was at."""

    workflow: str
    step: str
    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: dict[str, str]
    body: Any
    status: int
    answer: Any


def operation_of(heard: Heard) -> tuple[str, dict[str, str]]:
    """Return the operationId of a request, and the names in its path; KeyError if it has none."""
    segments = heard.path.split("/")
    for operation in load(SPEC).operations.values():
        wanted = operation.path.replace("/{prefix}", "").split("/")
        if operation.method != heard.method or len(wanted) != len(segments):
            continue
        pairs = list(zip(wanted, segments, strict=True))
        if all(w == s or w.startswith("{") for w, s in pairs):
            return operation.id, {w[1:-1]: s for w, s in pairs if w != s}
    raise KeyError(f"no operation for {heard.method} {heard.path}")


Alter = Callable[[Heard], tuple[int, Any] | None]
"""Says what is answered instead (status and JSON), or None for the answer as it is."""


class Recorder:
    """An ASGI application around the mock's; ``heard`` is everything so far, in order."""

    def __init__(self, inner: AsgiApp, alter: Alter | None = None) -> None:
        self.heard: list[Heard] = []
        self._inner = inner
        self._alter = alter
        self._at = ("", "")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        path = scope["raw_path"].decode()
        if path.startswith(STEP):
            workflow, _, step = path.removeprefix(STEP).partition("/")
            self._at = (workflow, step)
            await _answer(send, 200, {})
            return
        at = self._at
        sent = await _whole(receive)

        async def receive_again() -> Message:
            return {"type": "http.request", "body": sent, "more_body": False}

        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self._inner(scope, receive_again, keep)
        body = b"".join(m.get("body", b"") for m in messages if m["type"] == "http.response.body")
        heard = Heard(
            workflow=at[0],
            step=at[1],
            method=scope["method"],
            path=path,
            query=tuple(parse_qsl(scope["query_string"].decode(), keep_blank_values=True)),
            headers={k.decode().lower(): v.decode() for k, v in scope["headers"]},
            body=_parsed(sent),
            status=messages[0]["status"],
            answer=_parsed(body),
        )
        self.heard.append(heard)
        instead = None if self._alter is None else self._alter(heard)
        if instead is not None:
            await _answer(send, *instead)
            return
        for message in messages:
            await send(message)


@contextmanager
def recording(alter: Alter | None = None, spec: str = SPEC) -> Iterator[tuple[str, Recorder]]:
    """Serve a fresh mock whose files are on this machine; yields its URL and the recorder."""
    # Without a prefix: what a client needs of the config is then not what this mock needs.
    mock = MockCatalog(warehouses=[WAREHOUSE], prefix=False, spec=spec)
    recorder = Recorder(mock.asgi(), alter)
    server = ThreadedServer(recorder, "127.0.0.1", 0)
    server.start()
    try:
        yield f"http://127.0.0.1:{server.port}", recorder
    finally:
        server.stop()
        mock.stop()


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return None


async def _whole(receive: Receive) -> bytes:
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = bool(message.get("more_body"))
    return b"".join(parts)


async def _answer(send: Send, status: int, body: Any) -> None:
    raw = b"" if body is None else json.dumps(body).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(raw))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": raw})
