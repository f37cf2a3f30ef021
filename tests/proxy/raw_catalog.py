"""A catalog that writes what a test says to its connections, be it HTTP or not."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class RawCatalog:
    """What came: heads of requests, and how many connections; ``closed`` by the other side."""

    url: str = ""
    heads: list[str] = field(default_factory=list)
    connections: int = 0
    asked: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)


Written = Callable[[str, socket.socket], object]


@contextlib.contextmanager
def raw_catalog(write: Written) -> Iterator[RawCatalog]:
    """Serve one; ``write`` gets the head of each request (without a body) and the connection."""
    told = RawCatalog()
    accepted: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        came = b""
        with connection, contextlib.suppress(OSError):
            while part := connection.recv(65536):
                came += part
                while b"\r\n\r\n" in came:
                    head, _, came = came.partition(b"\r\n\r\n")
                    told.heads.append(head.decode("latin-1"))
                    told.asked.set()
                    write(told.heads[-1], connection)
        told.closed.set()

    def accept(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                told.connections += 1
                accepted.append(connection)
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        told.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        yield told
        for each in accepted:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        listener.shutdown(socket.SHUT_RDWR)


def written(status_line: str, *fields: str, body: bytes = b"") -> bytes:
    """Return an answer as it is written."""
    return "\r\n".join([f"HTTP/1.1 {status_line}", *fields, "", ""]).encode("latin-1") + body


def through(uri: str, request: str) -> socket.socket:
    """Send a head (without its end) to a server; returns the connection."""
    host, _, port = uri.removeprefix("http://").partition("/")[0].rpartition(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    connection.sendall("\r\n".join([*request.split("\n"), "", ""]).encode())
    return connection


def read_all(connection: socket.socket) -> bytes:
    """Return what comes until the connection ends."""
    came = b""
    with connection:
        while part := connection.recv(65536):
            came += part
    return came
