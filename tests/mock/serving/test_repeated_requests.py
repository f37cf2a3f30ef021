"""A request that comes again byte for byte is not parsed again, which no answer shows."""

import select
import socket
import time
from collections.abc import Iterator
from typing import BinaryIO

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.http.httptools_protocol import HttptoolsDoor
from tests.mock.serving.test_direct_answers import NAMESPACE, REQUESTS, raw, started

LIST = raw("GET", "/v1/wh/namespaces")
UNANSWERABLE = {"large headers", "long url", "foreign host", "http/1.0", "close", "expect"}


class Connection:
    """One connection, on which each answer is read before the next bytes are sent."""

    def __init__(self, mock: MockCatalog) -> None:
        self.socket = socket.create_connection(("127.0.0.1", mock.port), timeout=10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file: BinaryIO = self.socket.makefile("rb")

    def ask(self, sent: bytes) -> bytes:
        self.socket.sendall(sent)
        return self.answer(has_body=not sent.startswith(b"HEAD"))

    def answer(self, *, has_body: bool = True) -> bytes:
        head = b""
        length = 0
        while line := self.file.readline():
            head += line
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            if line == b"\r\n":
                break
        return head + (self.file.read(length) if has_body else b"")


@pytest.fixture
def mock() -> Iterator[MockCatalog]:
    with started() as mock:
        yield mock


@pytest.fixture
def connection(mock: MockCatalog) -> Iterator[Connection]:
    made = Connection(mock)
    yield made
    made.file.close()
    made.socket.close()


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the pieces that are parsed from now on."""
    pieces: list[bytes] = []
    faithful = HttptoolsDoor._take_in

    def noted(self: HttptoolsDoor, data: bytes) -> None:
        pieces.append(data)
        faithful(self, data)

    monkeypatch.setattr(HttptoolsDoor, "_take_in", noted)
    return pieces


def answered_thrice() -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    with started() as mock:
        for name in [name for name in REQUESTS if name not in UNANSWERABLE]:
            connection = Connection(mock)
            found[name] = [connection.ask(REQUESTS[name]) for _ in range(3)]
            connection.file.close()
            connection.socket.close()
    return found


def test_every_repeated_answer_is_that_of_asgi(monkeypatch: pytest.MonkeyPatch) -> None:
    direct = answered_thrice()
    monkeypatch.setattr(HttptoolsDoor, "_may_be_direct", lambda _: False)
    assert answered_thrice() == direct


def test_a_repeated_request_is_answered_as_things_are_then(
    mock: MockCatalog, connection: Connection, parsed: list[bytes]
) -> None:
    assert {connection.ask(LIST) for _ in range(4)} == {connection.ask(LIST)}
    assert parsed == [LIST]
    httpx.post(f"{mock.uri}/v1/wh/namespaces", content=NAMESPACE, trust_env=False)
    parsed.clear()
    assert b'[["db"]]' in connection.ask(LIST)
    assert parsed == []
    assert mock.journal.count("listNamespaces") == 6


def test_a_repeated_request_is_delayed_held_and_cut_as_any(
    mock: MockCatalog, connection: Connection
) -> None:
    plain = connection.ask(LIST)
    assert connection.ask(LIST) == plain
    began = time.monotonic()
    with mock.fault("slow", operation="listNamespaces", latency_ms=100):
        assert [connection.ask(LIST) for _ in range(2)] == [plain] * 2
    assert time.monotonic() - began >= 0.2
    assert [connection.ask(LIST) for _ in range(2)] == [plain] * 2
    with mock.gate("listNamespaces", holds=1) as gate:
        connection.socket.sendall(LIST)
        gate.wait_for(1)
        assert not is_answered(connection)
        gate.release()
        assert connection.answer() == plain
    assert [connection.ask(LIST) for _ in range(2)] == [plain] * 2
    with mock.fault("truncated", operation="listNamespaces"):
        connection.socket.sendall(LIST)
        assert len(connection.file.read()) < len(plain)
    assert mock.journal.count("listNamespaces") == 10


@pytest.mark.parametrize("cut", [1, 20, len(LIST) - 1])
def test_a_repeated_request_may_come_in_pieces_and_with_others(
    connection: Connection, cut: int
) -> None:
    plain = connection.ask(LIST)
    assert connection.ask(LIST) == plain
    for pieces in ([LIST[:cut], LIST[cut:]], [LIST], [LIST + LIST[:cut], LIST[cut:]], [LIST]):
        for piece in pieces:
            connection.socket.sendall(piece)
            is_answered(connection)
        for _ in range(b"".join(pieces).count(b"GET ")):
            assert connection.answer() == plain
    connection.socket.sendall(LIST + LIST)
    assert [connection.answer(), connection.answer()] == [plain, plain]
    connection.socket.sendall(LIST + LIST)
    assert [connection.answer(), connection.answer()] == [plain, plain]


def test_a_repeated_request_does_not_overtake_the_one_before(
    mock: MockCatalog, connection: Connection
) -> None:
    plain = connection.ask(LIST)
    with mock.fault("slow", operation="listNamespaces", latency_ms=300, times=1):
        connection.socket.sendall(LIST)
        mock.journal.wait_for("listNamespaces", count=2)
        httpx.post(f"{mock.uri}/v1/wh/namespaces", content=NAMESPACE, trust_env=False)
        connection.socket.sendall(LIST)
        assert connection.answer() == plain
        assert b'[["db"]]' in connection.answer()


def test_the_end_of_one_request_is_not_taken_for_the_beginning_of_the_next(
    connection: Connection,
) -> None:
    plain = connection.ask(LIST)
    connection.socket.sendall(LIST[:-2])
    assert not is_answered(connection)
    rest = b"X-Name: value\r\n\r\n" + LIST
    assert [connection.ask(rest), connection.answer()] == [plain, plain]
    assert connection.ask(rest).startswith(b"HTTP/1.1 400 ")


def test_a_body_that_looks_like_the_request_before_is_a_body(connection: Connection) -> None:
    plain = connection.ask(LIST)
    assert connection.ask(LIST) == plain
    head = raw("POST", "/v1/wh/namespaces", f"Content-Length: {len(LIST)}")
    connection.socket.sendall(head)
    assert not is_answered(connection)
    assert connection.ask(LIST).startswith(b"HTTP/1.1 400 ")
    assert connection.ask(LIST) == plain


def test_what_is_no_http_is_refused_after_a_repeated_request(connection: Connection) -> None:
    for _ in range(2):
        connection.ask(LIST)
    both = LIST + b"\0NO HTTP\r\n\r\n"
    assert connection.ask(both).startswith(b"HTTP/1.1 200 ")
    assert connection.answer().startswith(b"HTTP/1.1 400 ")
    connection.socket.sendall(both)
    assert connection.file.read() == b""


def is_answered(connection: Connection) -> bool:
    """Wait until the server has read what was sent, and return whether it answers."""
    return bool(select.select([connection.socket], [], [], 0.05)[0])
