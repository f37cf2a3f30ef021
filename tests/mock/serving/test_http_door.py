"""What goes over the wire, byte by byte, and how the server starts and stops."""

import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.http import threaded
from icecheck.mock_server.serving.app import BODY_BYTES_MAX


@pytest.fixture(scope="module")
def server() -> Iterator[MockCatalog]:
    with MockCatalog(root="memory://root") as mock:
        yield mock


class Wire:
    """One connection, on which requests are written and answers read as bytes."""

    def __init__(self, mock: MockCatalog) -> None:
        self.socket = socket.create_connection(("127.0.0.1", mock.port), timeout=20)
        self.file = self.socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
        self.socket.close()

    def send(self, text: str, body: bytes = b"") -> None:
        head = f"{text}\r\nhost: localhost\r\n"
        if body:
            head += f"content-length: {len(body)}\r\n"
        self.socket.sendall(head.encode() + b"\r\n" + body)

    def head(self) -> tuple[int, dict[str, str]]:
        status = int(self.file.readline().split()[1])
        headers: dict[str, str] = {}
        while line := self.file.readline().strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, headers

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        status, headers = self.head()
        return status, headers, self.file.read(int(headers.get("content-length", "0")))


def test_answers_on_one_connection_do_not_run_into_each_other(server: MockCatalog) -> None:
    body = b'{"namespace": ["wire"]}'
    with Wire(server) as wire:
        wire.send("POST /v1/namespaces HTTP/1.1", body)
        assert wire.answer()[0] == 200
        # Nothing may follow the head of these; the next answer would be misread.
        wire.send("HEAD /v1/namespaces/wire HTTP/1.1")
        assert wire.head() == (204, {})
        wire.send("HEAD /v1/namespaces/nowhere HTTP/1.1")
        assert wire.head() == (404, {})
        wire.send("DELETE /v1/namespaces/wire HTTP/1.1")
        assert wire.head() == (204, {})
        wire.send("GET /v1/namespaces/wire HTTP/1.1")
        status, headers, content = wire.answer()
        assert (status, headers["content-type"]) == (404, "application/json")
        assert content.startswith(b'{"error":')


def test_the_lines_of_a_repeated_header_are_one_list(server: MockCatalog) -> None:
    create = b'{"name": "t", "schema": {"type": "struct", "fields": []}}'
    load = "GET /v1/namespaces/lines/tables/t HTTP/1.1"
    with Wire(server) as wire:
        wire.send("POST /v1/namespaces HTTP/1.1", b'{"namespace": ["lines"]}')
        assert wire.answer()[0] == 200
        wire.send("POST /v1/namespaces/lines/tables HTTP/1.1", create)
        tag = wire.answer()[1]["etag"]
        for lines, status in (
            ((tag, '"other"'), 304), (('"other"', tag), 304), (('"a"', '"b"'), 200)
        ):  # fmt: skip
            wire.send("\r\n".join([load, *(f"if-none-match: {line}" for line in lines)]))
            assert wire.answer()[0] == status


def test_a_header_that_is_no_list_is_not_chosen_from(server: MockCatalog) -> None:
    types = "content-type: application/json\r\ncontent-type: text/plain"
    for lines in (types, "\r\n".join(reversed(types.split("\r\n")))):
        with Wire(server) as wire:
            wire.send(f"POST /v1/namespaces HTTP/1.1\r\n{lines}", b'{"namespace": ["chosen"]}')
            assert wire.answer()[0] == 400


def test_no_header_tells_server_or_date(server: MockCatalog) -> None:
    with Wire(server) as wire:
        wire.send("GET /v1/config HTTP/1.1")
        assert set(wire.answer()[1]) == {"content-type", "content-length"}


def test_an_escaped_slash_stays_in_its_segment(server: MockCatalog) -> None:
    with Wire(server) as wire:
        wire.send("POST /v1/namespaces HTTP/1.1", b'{"namespace": ["a/b"]}')
        wire.answer()
        wire.send("GET /v1/namespaces/a%2Fb HTTP/1.1")
        assert wire.answer()[2].startswith(b'{"namespace":["a/b"],"properties":{')
        wire.send("GET /v1/namespaces/a%252Fb HTTP/1.1")
        assert wire.answer()[0] == 404


def test_pipelined_requests_are_answered_in_order(server: MockCatalog) -> None:
    with Wire(server) as wire:
        paths = ["/v1/config", "/nowhere", "/v1/namespaces", "/v1/namespaces/none"]
        for path in paths:
            wire.send(f"GET {path} HTTP/1.1")
        assert [wire.answer()[0] for _ in paths] == [200, 404, 200, 404]


def test_a_chunked_body_is_read(server: MockCatalog) -> None:
    parts = [b'{"names', b'pace": ["chunk"]}', b""]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    with Wire(server) as wire:
        request = (
            b"POST /v1/namespaces HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        wire.socket.sendall(request + chunks)
        assert wire.answer()[0] == 200


def test_a_304_has_no_body_and_no_length(server: MockCatalog) -> None:
    schema = b'{"type": "struct", "fields": []}'
    with Wire(server) as wire:
        wire.send("POST /v1/namespaces HTTP/1.1", b'{"namespace": ["etag"]}')
        wire.answer()
        create = b'{"name": "t", "schema": %b}' % schema
        wire.send("POST /v1/namespaces/etag/tables HTTP/1.1", create)
        tag = wire.answer()[1]["etag"]
        wire.send(f"GET /v1/namespaces/etag/tables/t HTTP/1.1\r\nif-none-match: {tag}")
        assert wire.head() == (304, {"etag": tag})
        wire.send("GET /v1/config HTTP/1.1")
        assert wire.answer()[0] == 200


def test_a_body_above_the_limit_is_413_and_not_read_to_the_end(server: MockCatalog) -> None:
    with Wire(server) as wire:
        length = BODY_BYTES_MAX * 4
        head = f"POST /v1/namespaces HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}"
        wire.socket.sendall(head.encode() + b"\r\n\r\n")
        block = b" " * 1_048_576
        sent = 0
        # The server answers and closes; how soon writing fails is up to the kernel's buffers.
        try:
            while sent < BODY_BYTES_MAX * 4:
                wire.socket.sendall(block)
                sent += len(block)
        except OSError:
            pass
        assert sent < BODY_BYTES_MAX * 4
        status = b""
        try:
            status = wire.file.readline()
        except ConnectionResetError:
            status = b"HTTP/1.1 413 "  # the answer was lost with the reset
        assert status.startswith(b"HTTP/1.1 413 ")


def test_a_body_that_ends_early_is_never_applied(server: MockCatalog) -> None:
    server.journal.clear()
    with Wire(server) as wire:
        # Complete JSON, but less than was announced: the client died while sending.
        part = b'{"namespace": ["half"]}'
        head = f"POST /v1/namespaces HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(part) + 5}"
        wire.socket.sendall(head.encode() + b"\r\n\r\n" + part)
        wire.socket.shutdown(socket.SHUT_WR)
        assert wire.file.read() == b""
    with Wire(server) as wire:
        wire.send("HEAD /v1/namespaces/half HTTP/1.1")
        assert wire.head()[0] == 404
    assert server.journal.count("createNamespace") == 0


@pytest.mark.parametrize("garbage", ["NOT HTTP", "GET /v1/config HTTP/1.1\r\nbad header"])
def test_what_is_not_http_is_400_and_the_server_lives(server: MockCatalog, garbage: str) -> None:
    with Wire(server) as wire:
        wire.socket.sendall(garbage.encode() + b"\r\n\r\n")
        assert wire.head()[0] == 400
    with Wire(server) as wire:
        wire.send("GET /v1/config HTTP/1.1")
        assert wire.answer()[0] == 200


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_twenty_starts_and_stops_leave_nothing_behind() -> None:
    def cycle(keep_alive: bool) -> None:
        with MockCatalog() as mock, Wire(mock) as wire:
            wire.send("GET /v1/config HTTP/1.1")
            assert wire.answer()[0] == 200
            if keep_alive:
                mock.stop()
                assert wire.file.read() == b""

    cycle(keep_alive=True)  # imports and caches of the first time do not count
    files, threads = open_files(), threading.active_count()
    for number in range(20):
        cycle(keep_alive=number % 2 == 0)
    assert threading.active_count() == threads
    assert open_files() <= files


def test_a_stopped_server_refuses_connections_and_can_start_again() -> None:
    mock = MockCatalog().start()
    port = mock.port
    mock.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    with pytest.raises(RuntimeError):
        _ = mock.port
    with mock:
        assert mock.uri == f"http://127.0.0.1:{mock.port}"


def test_a_connection_is_closed_when_nothing_came_on_it_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threaded, "KEEP_ALIVE_SECONDS", 1)
    with MockCatalog() as mock, Wire(mock) as wire, Wire(mock) as unused, Wire(mock) as slow:
        for each in (unused, slow):
            each.send("GET /v1/config HTTP/1.1")
            assert each.answer()[0] == 200
        slow.send("POST /v1/namespaces HTTP/1.1\r\ncontent-length: 20")
        for _ in range(5):  # in use for longer than that
            wire.send("GET /v1/config HTTP/1.1")
            assert wire.answer()[0] == 200
            time.sleep(0.4)
        # The time passes while it waits for an answer, on which it is not closed.
        with mock.fault("slow", operation="getConfig", latency_ms=1500):
            wire.send("GET /v1/config HTTP/1.1")
            assert wire.answer()[0] == 200
        wire.send("GET /v1/config HTTP/1.1")
        assert wire.answer()[0] == 200
        assert wire.file.read() == unused.file.read() == b""
        slow.socket.sendall(b'{"namespace":["ns"]}')  # nobody knows what a client waits for
        assert slow.answer()[0] == 200


def test_a_port_in_use_is_an_error_of_start() -> None:
    with MockCatalog() as mock, pytest.raises(OSError, match="in use"):
        MockCatalog(port=mock.port).start()


def test_the_pure_python_fallback_serves_too(monkeypatch: pytest.MonkeyPatch) -> None:
    # The module that needs them may have been imported before.
    ours = "icecheck.mock_server.http.httptools_protocol"
    for missing in ("uvloop", "httptools", "uvicorn.protocols.http.httptools_impl", ours):
        monkeypatch.setitem(sys.modules, missing, None)
    with MockCatalog() as mock, Wire(mock) as wire:
        for _ in range(3):
            wire.send("GET /v1/config HTTP/1.1")
            assert wire.answer()[0] == 200
        wire.send("HEAD /v1/namespaces/none HTTP/1.1")
        assert wire.head()[0] == 404
        wire.send("GET /v1/namespaces HTTP/1.1")
        assert wire.answer()[0] == 200
