"""Small servers that are no, or no good, catalog; and the command line in a process of its own."""

import contextlib
import json
import os
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from icecheck.cli import main

CERTIFICATE = Path(__file__).parent / "self_signed.pem"


@contextlib.contextmanager
def serving(answer, context=None):
    """Serve `answer(handler) -> (status, headers, body)` on a free port; gives its base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def answered(self):
            self.sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, body = answer(self)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_arguments):
            pass

        def handle(self):
            with contextlib.suppress(ssl.SSLError, ConnectionError):
                super().handle()

    for method in ("GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"):
        setattr(Handler, f"do_{method}", Handler.answered)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, _request, _address):
            pass

    server = Server(("127.0.0.1", 0), Handler)
    scheme = "http"
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"{scheme}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def json_answer(value, status=200):
    return status, {"Content-Type": "application/json"}, json.dumps(value).encode()


@pytest.fixture
def serve():
    """Serve answers until the test ends: ``serve(answer)`` returns a base URL."""
    with contextlib.ExitStack() as stack:
        yield lambda answer, context=None: stack.enter_context(serving(answer, context))


@pytest.fixture
def as_json():
    """An answer of JSON: ``as_json(value, status)``."""
    return json_answer


@pytest.fixture
def nothing_catalog(serve):
    """A catalog that answers 200 with {} to everything."""
    return serve(lambda _handler: json_answer({}))


@pytest.fixture
def self_signed():
    """A TLS context whose certificate (of this repository, until 2120) nobody knows; its path."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context, CERTIFICATE


@pytest.fixture
def icecheck(tmp_path, monkeypatch):
    """Run the command line in this process, in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def start_icecheck(tmp_path):
    """Start the command line as a process; whatever still runs at the end is ended."""
    started = []

    def start(*arguments, terminal=None, env=None):
        command = [sys.executable, "-m", "icecheck", *map(str, arguments)]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})}
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE if terminal is None else terminal,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
