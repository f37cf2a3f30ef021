"""A server on a socket that answers what a test says; the mock, or a gate before it, as such."""

import contextlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

from icecheck.mock_server import MockCatalog

METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS")


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it arrived: path and query still encoded, header names in any case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


Answer = tuple[int, dict[str, str], bytes]
"""Status, headers and body; the length of the body is sent with it."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def serving(
    answer: Callable[[Sent], Answer], context: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> Iterator[str]:
    """Answer every request so, with TLS or without; gives the base URL.

    ``host`` is this machine, by the name that the certificate has.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def answered(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = httpx.Headers(self.headers.items())
            status, said, content = answer(Sent(self.command, self.path, headers, body))
            self.send_response(status)
            for name, value in said.items():
                self.send_header(name, value)
            if status not in {204, 304}:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

        def handle(self) -> None:
            with contextlib.suppress(ssl.SSLError, ConnectionError):
                super().handle()

    for method in METHODS:
        setattr(Handler, f"do_{method}", Handler.answered)
    server = _Server(("127.0.0.1", 0), Handler)
    scheme = "http"
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"{scheme}://{host}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def json_answer(value: Any, status: int = 200) -> Answer:
    """Answer with JSON."""
    return status, {"content-type": "application/json"}, json.dumps(value).encode()


def passed_on(behind: httpx.Client, sent: Sent) -> Answer:
    """Answer as the mock behind does."""
    kept = {k: v for k, v in sent.headers.items() if k not in {"host", "content-length"}}
    reply = behind.request(sent.method, f"http://m{sent.path}", headers=kept, content=sent.body)
    said = {k: v for k, v in reply.headers.items() if k != "content-length"}
    return reply.status_code, said, reply.content


@contextlib.contextmanager
def gateway(
    mock: MockCatalog,
    allows: Callable[[Sent], bool],
    context: ssl.SSLContext | None = None,
    otherwise: Answer | None = None,
) -> Iterator[str]:
    """Serve the mock to those whom the gate allows; gives the base URL.

    The others are answered ``otherwise``, or 403.
    """
    error = {"message": "not allowed", "type": "ForbiddenException", "code": 403}
    refusal = otherwise or json_answer({"error": error}, 403)
    with (
        httpx.Client(transport=mock.httpx_transport()) as behind,
        serving(
            lambda sent: passed_on(behind, sent) if allows(sent) else refusal, context, "localhost"
        ) as url,
    ):
        yield url
