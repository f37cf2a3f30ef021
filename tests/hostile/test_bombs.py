"""An answer is decoded within limits: what is short on the wire may be endless in memory."""

import gzip
import tracemalloc
import zlib

import httpx
import pytest

from icecheck.targets.target import Target
from icecheck.wire import answers
from icecheck.wire.connection import Connection, Wire
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.unreachable import Unreachable
from tests.hostile.lying_socket import answering, bomb, lying_socket
from tests.kit.contracts import CONTRACT

MIB = 1 << 20
LIMIT_BYTES = 4 * MIB
JSON = b'{"defaults": {}, "overrides": {}, "padding": "' + b"a" * 300_000 + b'"}'


@pytest.fixture(autouse=True)
def _low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_BODY_BYTES_MAX", LIMIT_BYTES)


def wire(url: str) -> Wire:
    return Wire("c", 1, Step.DO, "getConfig", "GET", f"{url}/v1/config", {}, None)


def asked(url: str, transport: httpx.BaseTransport | None = None) -> list[Exchange]:
    recorded: list[Exchange] = []
    connection = Connection(Target(url), CONTRACT, transport, sleep=lambda _: None)
    with pytest.raises(Unreachable):
        connection.send(wire(url), recorded.append)
    connection.close()
    return recorded


def heard(url: str) -> bytes:
    connection = Connection(Target(url), CONTRACT)
    exchange = connection.send(wire(url), lambda _: None)
    connection.close()
    assert exchange.status == 200
    return exchange.response_body


ENCODINGS = ["gzip", "x-gzip", "deflate", "zstd", "identity"]
STACKED = ["gzip, gzip", "gzip, gzip, gzip, gzip", "gzip, zstd", "deflate, gzip", "zstd, gzip"]
UNKNOWN = ["br", "unheard-of"]


@pytest.mark.parametrize("encoding", [*ENCODINGS, *STACKED, *UNKNOWN])
def test_what_inflates_beyond_the_limit_is_never_held(encoding: str) -> None:
    with lying_socket(bomb(encoding, 64)) as url:
        tracemalloc.start()
        try:
            recorded = asked(url)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert {exchange.status for exchange in recorded} == {None}
    assert len(recorded) <= 2  # it will not be better the fifth time
    # The buffer grows ahead by an eighth; the server's own copy is in the same process.
    assert peak < LIMIT_BYTES * 1.25 + MIB + (64 * MIB if encoding == "identity" else 0)


@pytest.mark.parametrize("encoding", ["deflate", "zstd", *STACKED, *UNKNOWN])
def test_an_encoding_that_was_not_asked_for_is_named(encoding: str) -> None:
    with lying_socket(bomb(encoding, 1)) as url:
        for exchange in asked(url):
            assert encoding in (exchange.error or "")


def test_only_what_can_be_read_within_limits_is_asked_for() -> None:
    said: list[str | None] = []

    def lie(talk) -> None:
        said.append(talk.headers.get("accept-encoding"))
        answering(200, b"{}")(talk)

    with lying_socket(lie) as url:
        assert heard(url) == b"{}"
    assert said == ["gzip"]


def deflated(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (deflated(JSON), "Content-Encoding: gzip\r\n"),
        (deflated(JSON), "Content-Encoding: X-GZIP\r\n"),
        (deflated(JSON), "Content-Encoding: identity, gzip\r\n"),
        (deflated(JSON[:9]) + deflated(b"") + deflated(JSON[9:]), "Content-Encoding: gzip\r\n"),
        (JSON, "Content-Encoding: identity\r\n"),
        (JSON, "Content-Encoding:\r\n"),
        (JSON, ""),
    ],
    ids=["gzip", "x-gzip", "identity-gzip", "members", "identity", "empty", "none"],
)
def test_what_is_within_the_limits_arrives_whole(body: bytes, headers: str) -> None:
    with lying_socket(answering(200, body, headers)) as url:
        assert heard(url) == JSON


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, gzip"])
def test_no_body_needs_no_decoding(encoding: str) -> None:
    with lying_socket(answering(200, b"", f"Content-Encoding: {encoding}\r\n")) as url:
        assert heard(url) == b""


@pytest.mark.parametrize(
    "body",
    [deflated(JSON)[:-9], deflated(JSON) + b"more", b"no gzip at all", zlib.compress(JSON)],
    ids=["cut", "more", "none", "zlib"],
)
def test_what_is_no_gzip_is_no_answer(body: bytes) -> None:
    with lying_socket(answering(200, body, "Content-Encoding: gzip\r\n")) as url:
        for exchange in asked(url):
            assert "gzip" in (exchange.error or "")


def test_members_that_hold_nothing_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_BODY_BYTES_MAX", 100_000)
    with lying_socket(answering(200, deflated(b"") * 10_000, "Content-Encoding: gzip\r\n")) as url:
        asked(url)


@pytest.mark.parametrize("size", [LIMIT_BYTES, LIMIT_BYTES + 1])
def test_the_limit_is_of_what_is_decoded(size: int) -> None:
    with lying_socket(answering(200, deflated(bytes(size)), "Content-Encoding: gzip\r\n")) as url:
        if size == LIMIT_BYTES:
            assert len(heard(url)) == size
        else:
            assert len(asked(url)) == 2


@pytest.mark.parametrize(
    "headers",
    ["X-Long: " + "a" * 400_000 + "\r\n", "X-Many: a\r\n" * 40_000],
    ids=["long", "many"],
)
def test_headers_without_end_are_no_answer(headers: str) -> None:
    with lying_socket(answering(200, b"{}", headers)) as url:
        for exchange in asked(url):
            assert exchange.error


def test_a_transport_that_is_injected_has_the_same_limits() -> None:
    body = gzip.compress(bytes(64 * MIB), mtime=0)

    class Whole(httpx.SyncByteStream):
        def __iter__(self):
            yield body

    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=Whole())

    tracemalloc.start()
    try:
        asked("http://h", httpx.MockTransport(handler))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < LIMIT_BYTES * 1.25 + MIB
