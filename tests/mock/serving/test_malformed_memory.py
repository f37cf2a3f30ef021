"""Bodies of the largest size: the server's memory stays within a bound that is stated.

Each is measured in a process of its own, whose peak is all that counts.
"""

import subprocess
import sys
from collections.abc import Iterator
from typing import IO

import httpx
import pytest

from icecheck.mock_server.serving.app import BODY_BYTES_MAX
from tests.kit.shares import some

PEAK_BYTES_MAX = 6 * BODY_BYTES_MAX
"""What one request of the largest size may cost; measured were 1 to 4 times its size.

The body is held twice while a door puts it together, and text beyond the basic plane takes four
bytes for a character once more.
"""

CHILD = """
import sys
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.serving.app import BODY_BYTES_MAX
from icecheck.mock_server.clients.in_process import exchange

def peak():
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024

with MockCatalog(root="memory://root") as mock:
    exchange(mock.app, "POST", "/v1/namespaces", (), b'{"namespace": ["warm"]}')
    print(mock.port, peak(), flush=True)
    for line in sys.stdin:
        if line.strip():
            start, unit, end = eval(line)
            body = start + unit * ((BODY_BYTES_MAX - len(start) - len(end)) // len(unit)) + end
            reply = exchange(mock.app, "POST", "/v1/namespaces", (), body)
            print(reply.status, len(reply.body), flush=True)
        print(peak(), flush=True)
"""

Parts = tuple[bytes, bytes, bytes]


class Server:
    """A server in a process of its own."""

    def __init__(self, into: IO[str], out: IO[str]) -> None:
        self._into, self._out = into, out
        port, peak = self._out.readline().split()
        self.uri = f"http://127.0.0.1:{port}/v1/namespaces"
        self.at_start = int(peak)

    def peak(self) -> int:
        """The most bytes it ever held so far, beyond what it had at its start."""
        self._write("")
        return int(self._out.readline()) - self.at_start

    def post(self, parts: Parts) -> tuple[int, int, int]:
        """Status and size of the answer to a body that is made there, and the peak so far."""
        self._write(repr(parts))
        status, size = self._out.readline().split()
        return int(status), int(size), int(self._out.readline()) - self.at_start

    def _write(self, line: str) -> None:
        self._into.write(f"{line}\n")
        self._into.flush()


@pytest.fixture
def server() -> Iterator[Server]:
    command = [sys.executable, "-c", CHILD]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Server(process.stdin, process.stdout)
        finally:
            process.kill()


EMOJI = b"\xf0\x9f\x98\x80"
BODIES: dict[str, tuple[Parts, int]] = {
    "blanks": ((b"", b" ", b"{}"), 400),
    "brackets": ((b"", b"[", b""), 400),
    "empty arrays": ((b'{"namespace":["a"],"later":[', b"[],", b"1]}"), 400),
    "empty objects": ((b'{"namespace":["a"],"later":[', b"{},", b"1]}"), 400),
    "members": ((b'{"namespace":["a"],"properties":{', b'"":"",', b'"a":""}}'), 400),
    "zeros": ((b'{"namespace":["a"],"later":[', b"0,", b"0]}"), 400),
    "digits": ((b'{"namespace":["a"],"later":', b"1", b"}"), 400),
    "levels": ((b'{"namespace":[', b'"a",', b'"a"]}'), 400),
    "text that nobody reads": ((b'{"namespace":[""],"later":"', EMOJI, b'"}'), 400),
    "text": ((b'{"namespace":["t"],"properties":{"a":"', EMOJI, b'"}}'), 200),
    "escapes": ((b'{"namespace":["e"],"properties":{"a":"', rb"\ud83d\ude00", b'"}}'), 200),
}


@pytest.mark.parametrize("what", some(BODIES, 3))
def test_the_largest_body_costs_a_few_times_its_size(server: Server, what: str) -> None:
    parts, expected = BODIES[what]
    status, size, peak = server.post(parts)
    assert status == expected
    assert expected == 200 or size < 2000
    assert peak < PEAK_BYTES_MAX


@pytest.mark.complete("the largest body without a socket is usual")
def test_the_largest_body_costs_no_more_over_a_socket(server: Server) -> None:
    start, unit, end = BODIES["text that nobody reads"][0]
    body = start + unit * ((BODY_BYTES_MAX - len(start) - len(end)) // len(unit)) + end
    with httpx.Client(timeout=60) as http:
        assert http.post(server.uri, content=body).status_code == 400
        assert http.post(server.uri, content=body).status_code == 400
        assert http.post(server.uri, content=body + b" " * len(unit)).status_code == 413
        assert server.peak() < PEAK_BYTES_MAX
        assert http.get(server.uri).json()["namespaces"] == [["warm"]]
