"""A gate in front of the mock, on a socket: it sees requests as they were sent, and may refuse."""

import contextlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

from icecheck.mock_server import MockCatalog

__all__ = ["Sent", "gateway"]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it arrived: path and query still encoded, header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Allows = Callable[[Sent], bool]
Answer = tuple[int, dict[str, str], bytes]


@contextlib.contextmanager
def gateway(
    mock: MockCatalog,
    allows: Allows,
    context: ssl.SSLContext | None = None,
    otherwise: Answer | None = None,
) -> Iterator[str]:
    """Serve the mock to those whom the gate allows; gives the base URL.

    The others are answered ``otherwise``: status, headers and body.
    """
    behind = httpx.Client(transport=mock.httpx_transport())
    refusal = otherwise or _refusal()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def answered(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            sent = Sent(self.command, self.path, headers, body)
            status, said, content = _answer(behind, sent) if allows(sent) else refusal
            self.send_response(status)
            for name, value in said.items():
                self.send_header(name, value)
            if status not in {204, 304}:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_POST = do_HEAD = do_DELETE = answered  # noqa: N815 - the library's names

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        scheme = "http" if context is None else "https"
        yield f"{scheme}://localhost:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        behind.close()


def _answer(behind: httpx.Client, sent: Sent) -> Answer:
    kept = {k: v for k, v in sent.headers.items() if k not in {"host", "content-length"}}
    reply = behind.request(sent.method, f"http://m{sent.path}", headers=kept, content=sent.body)
    said = {k: v for k, v in reply.headers.items() if k != "content-length"}
    return reply.status_code, said, reply.content


def _refusal() -> Answer:
    error = {"message": "not allowed", "type": "ForbiddenException", "code": 403}
    return 403, {"content-type": "application/json"}, json.dumps({"error": error}).encode()
