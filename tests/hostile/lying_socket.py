"""A server on a plain socket that does what no HTTP library lets a server do.

A *lie* is a function of one ``Talk``: it sends what it likes, as slowly as it likes. It is told
when the server ends, and gives up by itself after ``LIE_SECONDS``, so that a client without
limits fails a test and does not hang it.
"""

import contextlib
import gzip
import itertools
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import httpx

from icecheck.mock_server import MockCatalog
from tests.kit.serving import Sent, passed_on

LIE_SECONDS = 20.0
_PAUSE_SECONDS = 0.05
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@dataclass(slots=True)
class Talk:
    """One connection: the request at hand, and what a lie needs to answer it."""

    socket: socket.socket
    ended: threading.Event
    number: int
    method: str = ""
    path: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    began: float = field(default_factory=time.monotonic)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def pause(self, seconds: float = _PAUSE_SECONDS) -> bool:
        """Wait a little; False once it is time to give up."""
        return not self.ended.wait(seconds) and time.monotonic() - self.began < LIE_SECONDS

    def receive(self) -> bool:
        """Read the next request; False if there is none."""
        head = b""
        while b"\r\n\r\n" not in head:
            if not (more := self.socket.recv(65536)):
                return False
            head += more
        head, _, rest = head.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = first.split(" ", 2)
        pairs = (line.partition(":")[::2] for line in lines)
        self.headers = {name.strip().lower(): value.strip() for name, value in pairs}
        length = int(self.headers.get("content-length", 0))
        while len(rest) < length:
            rest += self.socket.recv(65536)
        self.body = rest
        return True


Lie = Callable[[Talk], None]


@contextlib.contextmanager
def lying_socket(
    lie: Lie, *, reads: bool = True, context: ssl.SSLContext | None = None
) -> Iterator[str]:
    """Serve a lie on 127.0.0.1 and give the base URL; with ``reads`` each request is read first.

    A lie that returns normally gets the next request of the same connection.
    """
    ended, numbers = threading.Event(), itertools.count(1)
    listening = socket.socket()
    # Little is taken in unread, so that a request that nobody reads gets stuck.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    listening.bind(("127.0.0.1", 0))
    listening.listen(64)

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), contextlib.ExitStack() as closing:
            closing.callback(connection.close)
            if context is not None:
                connection = context.wrap_socket(connection, server_side=True)
                closing.callback(connection.close)
            while not ended.is_set():
                talk = Talk(connection, ended, next(numbers))
                if reads and not talk.receive():
                    return
                lie(talk)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while not ended.is_set():
                connection, _ = listening.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        scheme = "http" if context is None else "https"
        yield f"{scheme}://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        ended.set()
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()


# ---- in front of the mock


def honest(mock: MockCatalog) -> Lie:
    """Answer as the mock does."""
    behind = httpx.Client(transport=mock.httpx_transport())

    def answer(talk: Talk) -> None:
        sent = Sent(talk.method, talk.path, httpx.Headers(talk.headers), talk.body)
        status, said, content = passed_on(behind, sent)
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {said.get('content-type', '')}\r\n"
        if status != 204:
            head += f"Content-Length: {len(content)}\r\n"
        body = b"" if talk.method == "HEAD" else content
        talk.send(f"{head}\r\n".encode() + body)

    return answer


def where(chosen: Callable[[Talk], bool], lie: Lie, otherwise: Lie) -> Lie:
    """Lie where it is chosen, and else do something else."""
    return lambda talk: lie(talk) if chosen(talk) else otherwise(talk)


# ---- lies


def drip(talk: Talk, data: bytes) -> None:
    """Send a byte at a time, over and over again."""
    for byte in itertools.cycle(data):
        talk.send(bytes([byte]))
        if not talk.pause():
            raise ConnectionAbortedError


def drip_headers(talk: Talk) -> None:
    talk.send(_OK)
    drip(talk, b"X-Slow: a\r\n")


def interim(status: int) -> Lie:
    """Send interim answers for ever."""

    def lie(talk: Talk) -> None:
        while talk.pause():
            talk.send(f"HTTP/1.1 {status} Wait\r\nX-Wait: yes\r\n\r\n".encode())
        raise ConnectionAbortedError

    return lie


def flood_of_hints(talk: Talk) -> None:
    """Send interim answers for ever, as fast as they are taken."""
    while talk.pause(0):
        talk.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)
    raise ConnectionAbortedError


def drip_body(talk: Talk) -> None:
    talk.send(_OK + b"Content-Length: 1000000\r\n\r\n")
    drip(talk, b"{")


def drip_chunks(talk: Talk) -> None:
    talk.send(_OK + b"Transfer-Encoding: chunked\r\n\r\n")
    drip(talk, b"1\r\n{\r\n")


def drip_trailers(talk: Talk) -> None:
    talk.send(_OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
    drip(talk, b"X-Late: a\r\n")


def never_read(talk: Talk) -> None:
    """Take nothing of what is sent."""
    while talk.pause():
        pass
    raise ConnectionAbortedError


def read_slowly(talk: Talk) -> None:
    """Take a little of what is sent, again and again."""
    while talk.pause():
        talk.socket.recv(512)
    raise ConnectionAbortedError


silent = never_read


def drip_tls(talk: Talk) -> None:
    """Begin what looks like the record of a handshake, and go on for ever."""
    talk.send(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03")
    drip(talk, b"\x00")


def bomb(encoding: str, megabytes: int) -> Lie:
    """Send zeros that are short only while they are encoded; ``encoding`` may name layers."""
    body = bytes(megabytes << 20)
    for layer in encoding.split(","):
        body = _ENCODERS[layer.strip()](body)
    return answering(200, body, f"Content-Encoding: {encoding}\r\n")


def _zstd(body: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(write_content_size=False).compress(body)


_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: gzip.compress(body, mtime=0),
    "x-gzip": lambda body: gzip.compress(body, mtime=0),
    "deflate": zlib.compress,
    "zstd": _zstd,
    "identity": lambda body: body,
    # Nothing here writes it: what is sent does not matter, for it is not to be decoded.
    "br": zlib.compress,
    "unheard-of": zlib.compress,
}


def answering(status: int, body: bytes, headers: str = "", media: str = "application/json") -> Lie:
    """Answer so; ``headers`` are lines, each with its end."""
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {media}\r\n{headers}"
    data = f"{head}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body
    return lambda talk: talk.send(data)
