"""A request whose connection is closed before its answer is read: it is sent, and has no answer."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import httpx
import pytest

from icecheck.targets.target import Target
from icecheck.wire.connection import Connection, Wire
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.unreachable import Unreachable
from tests.kit.contracts import CONTRACT

BODY = b'{"name": "t"}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def wire(url: str) -> Wire:
    return Wire("c", 1, Step.DO, "createTable", "POST", url, {}, BODY)


class Served:
    """What one connection has brought: the request, and whether its client has closed it."""

    def __init__(self) -> None:
        self.request = b""
        self.ended = threading.Event()


@contextmanager
def serving(wait_seconds: float) -> Iterator[tuple[str, Served]]:
    """Serve one request at a socket, and answer it after some time."""
    served = Served()
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def serve() -> None:
            accepted, _ = listening.accept()
            with closing(accepted):
                while BODY not in served.request:
                    served.request += accepted.recv(65_536)
                time.sleep(wait_seconds)
                try:
                    accepted.sendall(ANSWER)
                    while accepted.recv(1):
                        pass
                except OSError:
                    pass
                served.ended.set()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", served
        thread.join(10)


@pytest.mark.parametrize("wait_seconds", [0.0, 0.3])
def test_a_request_is_sent_and_its_answer_is_not_read(wait_seconds: float) -> None:
    recorded: list[Exchange] = []
    with serving(wait_seconds) as (url, served):
        connection = Connection(Target(url), CONTRACT)
        began = time.monotonic()
        connection.send_unread(wire(f"{url}/v1/namespaces/a/tables"), recorded.append)
        assert time.monotonic() - began < 0.25
        connection.close()
        assert served.ended.wait(10)
    assert served.request.endswith(BODY)
    (lost,) = recorded
    assert lost.status is None
    assert str(lost.error).startswith("AnswerUnread")


def test_what_could_not_be_sent_is_no_lost_answer() -> None:
    def refusing(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    connection = Connection(Target("http://h"), CONTRACT, httpx.MockTransport(refusing))
    with pytest.raises(Unreachable):
        connection.send_unread(wire("http://h/v1/namespaces/a/tables"), lambda _: None)


def test_a_broken_connection_loses_the_answer_too() -> None:
    def breaking(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("reset", request=request)

    recorded: list[Exchange] = []
    connection = Connection(Target("http://h"), CONTRACT, httpx.MockTransport(breaking))
    connection.send_unread(wire("http://h/v1/namespaces/a/tables"), recorded.append)
    assert str(recorded[0].error).startswith("AnswerUnread")
