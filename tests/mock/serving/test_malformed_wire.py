"""What comes over the wire and is no request: an Iceberg error where there is one to send."""

import gzip
import json
import socket
import sys
import time
from collections.abc import Iterator
from typing import BinaryIO

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.journal_entry import JournalEntry
from icecheck.mock_server.serving.app import BODY_BYTES_MAX

GET = b"GET /v1/config HTTP/1.1\r\nhost: localhost\r\n"
POST = b"POST /v1/namespaces HTTP/1.1\r\nhost: localhost\r\n"
END = b"\r\n\r\n"
BODY = b'{"namespace": ["a"]}'


@pytest.fixture(scope="module", params=["httptools", "h11"])
def server(request: pytest.FixtureRequest) -> Iterator[MockCatalog]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "h11":
            # The module that needs them may have been imported before.
            ours = "icecheck.mock_server.http.httptools_protocol"
            for missing in ("uvloop", "httptools", "uvicorn.protocols.http.httptools_impl", ours):
                patch.setitem(sys.modules, missing, None)
        mock = MockCatalog(root="memory://root").start()
    with mock.checkpoint():
        yield mock
    mock.stop()


def opened(server: MockCatalog) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def sent(server: MockCatalog, *parts: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the first answer to these bytes; 0 if there is none."""
    with opened(server) as wire:
        try:
            for part in parts:
                wire.sendall(part)
            wire.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it was refused before all of it was sent
        with wire.makefile("rb") as file:
            return answer(file)


def answer(file: BinaryIO) -> tuple[int, dict[str, str], bytes]:
    start = file.readline()
    if not start:
        return 0, {}, b""
    headers: dict[str, str] = {}
    while line := file.readline().strip():
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    body = file.read(int(headers.get("content-length", "0")))
    return int(start.split()[1]), headers, body


def expect_error(server: MockCatalog, status: int, *parts: bytes) -> None:
    found, headers, body = sent(server, *parts)
    assert (found, headers.get("content-type")) == (status, "application/json"), body
    assert json.loads(body)["error"]["code"] == status
    expect_alive(server)


def expect_alive(server: MockCatalog) -> None:
    assert sent(server, GET + b"\r\n")[0] == 200


NO_REQUESTS = {
    "words": b"NOT HTTP" + END,
    "nothing but a line": END + b"GET" + END,
    "a method of its own": b"FROBNICATE /v1/config HTTP/1.1" + END,
    "another protocol": b"GET /v1/config SIP/2.0" + END,
    "two spaces in a target": b"GET /v1/ config HTTP/1.1" + END,
    "a hello of tls": bytes.fromhex("16030100c8010000c40303") + bytes(200),
    "a header without a colon": GET + b"bad header" + END,
    "a header with a space in its name": GET + b"a b: c" + END,
    "a header without a name": GET + b": c" + END,
    "NUL in a header": GET + b"a: b\x00c" + END,
    "a length that is no number": POST + b"content-length: x" + END,
    "a negative length": POST + b"content-length: -1" + END,
    "a length beyond all bounds": POST + b"content-length: 99999999999999999999999" + END,
    "two lengths": POST + b"content-length: 1\r\ncontent-length: 2" + END + b"{}",
    "length and chunks": (
        POST + b"content-length: 1\r\ntransfer-encoding: chunked" + END + b"0" + END
    ),
    "a coding nobody knows": POST + b"transfer-encoding: gzip" + END + b"{}",
    "a chunk without a size": POST + b"transfer-encoding: chunked" + END + b"xyz\r\n{}\r\n",
    "a chunk beyond all bounds": POST + b"transfer-encoding: chunked" + END + b"f" * 30 + END,
    "a chunk that is longer than it says": (
        POST + b"transfer-encoding: chunked" + END + b"1\r\n{}\r\n0" + END
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", NO_REQUESTS)
def test_what_is_no_request_is_400_with_an_iceberg_error(server: MockCatalog, what: str) -> None:
    expect_error(server, 400, NO_REQUESTS[what])


@pytest.mark.parametrize("version", [b"", b" HTTP/1.0", b" HTTP/9.1", b" HTTP/2.0\r\n\r\nSM"])
def test_other_versions_are_answered_one_way_or_another(
    server: MockCatalog, version: bytes
) -> None:
    status, _, body = sent(server, b"GET /v1/config" + version + END)
    assert status in {200, 400}
    assert body.startswith(b'{"')
    expect_alive(server)


@pytest.mark.parametrize("target", [b"*", b"x", b"example.org:443", b"/\xff\xfe", b"/%", b"/a b"])
@pytest.mark.parametrize("method", [b"OPTIONS", b"CONNECT", b"GET", b"HEAD", b"TRACE"])
def test_no_target_is_too_odd_for_an_answer(
    server: MockCatalog, method: bytes, target: bytes
) -> None:
    status, _, body = sent(server, method + b" " + target + b" HTTP/1.1\r\nhost: localhost" + END)
    assert 400 <= status < 500
    if body:
        assert json.loads(body)["error"]["code"] == status
    expect_alive(server)


def test_a_target_may_name_the_server_too(server: MockCatalog) -> None:
    status, _, _ = sent(server, b"GET http://x/v1/config HTTP/1.1\r\nhost: localhost" + END)
    assert status in {200, 404}
    expect_alive(server)


@pytest.mark.parametrize("size", [70_000, 300_000, 3_000_000])
def test_a_url_without_end_is_414(server: MockCatalog, size: int) -> None:
    url = b"/v1/namespaces/" + b"x" * size
    status, _, body = sent(server, b"GET " + url + b" HTTP/1.1\r\nhost: localhost" + END)
    # One of the two parsers does not tell what part of a head it is that does not end.
    assert status in {414, 431}
    assert json.loads(body)["error"]["code"] == status
    expect_alive(server)


def test_a_head_that_never_ends_is_not_read_for_ever(server: MockCatalog) -> None:
    endless = (
        GET[:5] + b"x",
        GET[:14] + b"?pageToken=",
        GET + b"a: b",
        GET + b"a",
        GET + b"a: b\r\n",
    )
    for start in endless:
        status, _, body = sent(server, start, *[b"x" * 100_000] * 100)
        assert status in {414, 431}
        assert json.loads(body)["error"]["code"] == status
        expect_alive(server)


@pytest.mark.parametrize(
    "headers",
    [b"a: " + b"x" * 70_000, b"a: " + b"x" * 3_000_000, b"\r\n".join([b"a: b"] * 50_000),
     b"x" * 300_000 + b": a"],
    ids=["long", "very long", "many", "a long name"],
)  # fmt: skip
def test_headers_without_end_are_431(server: MockCatalog, headers: bytes) -> None:
    expect_error(server, 431, GET + headers + END)


def test_a_url_of_sixty_thousand_characters_is_one(server: MockCatalog) -> None:
    url = b"/v1/namespaces/" + b"x" * 60_000
    assert sent(server, b"GET " + url + b" HTTP/1.1\r\nhost: localhost" + END)[0] == 404
    headers = b"\r\n".join([b"a: " + b"x" * 500] * 100)
    assert sent(server, GET + headers + END)[0] == 200


def test_a_large_body_before_the_next_request_is_no_large_head(server: MockCatalog) -> None:
    body = b'{"namespace": [""], "later": "' + b"x" * 500_000 + b'"}'
    first = POST + b"content-length: %d" % len(body) + END + body
    with opened(server) as wire:
        wire.sendall(first + GET[:20])
        with wire.makefile("rb") as file:
            assert answer(file)[0] == 400
            wire.sendall(GET[20:] + b"\r\n")
            assert answer(file)[0] == 200


@pytest.mark.parametrize("upgrade", [b"h2c", b"websocket", b"TLS/1.2", b"nonsense"])
def test_an_upgrade_that_is_not_offered_is_not_missed(server: MockCatalog, upgrade: bytes) -> None:
    # Java's own HTTP client asks for HTTP/2 in its first request on every connection.
    asking = (
        b"connection: Upgrade, HTTP2-Settings\r\nhttp2-settings: AAMAAABk\r\nupgrade: " + upgrade
    )
    head = POST + b"content-type: application/json\r\n" + asking
    with server.checkpoint(), opened(server) as wire, wire.makefile("rb") as file:
        for number in range(2):
            body = b'{"namespace": ["a%d"]}' % number
            wire.sendall(head + b"\r\ncontent-length: %d" % len(body) + END + body)
            assert answer(file)[0] == 200
            for part in (head[:90], head[90:] + b"\r\ntransfer-encoding: chunked" + END):
                wire.sendall(part)
                time.sleep(0.05)  # what follows comes in a segment of its own
            body = b'{"namespace": ["b%d"]}' % number
            wire.sendall(b"%x\r\n%b\r\n0" % (len(body), body) + END)
            status, _, made = answer(file)
            assert (status, b"b%d" % number in made) == (200, True)
            wire.sendall((GET + asking + END) * 2)
            assert answer(file)[0] == answer(file)[0] == 200
            wire.sendall(GET + b"\r\n")
            assert answer(file)[0] == 200
        shown = [dict(each.request_headers or ()) for each in server.journal.find(method="POST")]
        assert {headers["upgrade"] for headers in shown[-4:]} == {upgrade.decode()}


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
@pytest.mark.parametrize("connection", [b"close, Upgrade", b"Upgrade, close", b"Upgrade"])
def test_a_last_request_that_asks_for_another_protocol_is_answered(
    server: MockCatalog, version: bytes, connection: bytes
) -> None:
    start = b"POST /v1/namespaces HTTP/%b\r\nhost: localhost\r\n" % version
    head = start + b"upgrade: h2c\r\ncontent-length: 20\r\nconnection: " + connection
    with server.checkpoint(), opened(server) as wire, wire.makefile("rb") as file:
        wire.sendall(GET + b"connection: upgrade\r\nupgrade: h2c" + END)
        assert answer(file)[0] == 200  # the connection is still open
        wire.sendall(head + END + BODY)
        status, headers, made = answer(file)
        assert (status, b'["a"]' in made) == (200, True)
        stays_open = (version, connection) == (b"1.1", b"Upgrade")
        assert ("close" in headers.get("connection", "")) != stays_open
        wire.sendall(GET + b"\r\n") if stays_open else None
        assert file.read(4) == (b"HTTP" if stays_open else b"")


def test_wishes_for_another_protocol_in_one_segment_are_read_one_by_one(
    server: MockCatalog,
) -> None:
    asking = GET + b"connection: upgrade\r\nupgrade: h2c" + END
    with opened(server) as wire, wire.makefile("rb") as file:
        wire.sendall(asking * 1_500)
        assert {answer(file)[0] for _ in range(1_500)} == {200}


def test_a_tunnel_is_refused(server: MockCatalog) -> None:
    assert sent(server, b"CONNECT localhost:80 HTTP/1.1\r\nhost: localhost" + END)[0] >= 400


@pytest.mark.parametrize("chunked", [False, True])
def test_a_compressed_body_is_400(server: MockCatalog, chunked: bool) -> None:
    body = gzip.compress(BODY)
    head = POST + b"content-type: application/json\r\ncontent-encoding: gzip\r\n"
    if chunked:
        framed = b"transfer-encoding: chunked" + END + b"%x\r\n%b\r\n0" % (len(body), body) + END
    else:
        framed = b"content-length: %d" % len(body) + END + body
    expect_error(server, 400, head + framed)


def test_a_chunked_body_above_the_limit_is_413(server: MockCatalog) -> None:
    chunk = b"%x\r\n%b\r\n" % (1 << 20, b" " * (1 << 20))
    head = POST + b"transfer-encoding: chunked" + END
    count = BODY_BYTES_MAX // (1 << 20) + 2
    with opened(server) as wire:
        status = b""
        try:
            wire.sendall(head)
            for _ in range(count):
                wire.sendall(chunk)
            status = wire.makefile("rb").readline()
        except OSError:
            status = b"HTTP/1.1 413 "  # the answer was lost with the reset
        assert status.startswith(b"HTTP/1.1 413 ")
    expect_alive(server)


CHUNKS = POST + b"transfer-encoding: chunked" + END + b"%x\r\n%b\r\n0\r\n" % (len(BODY), BODY)


@pytest.mark.parametrize("pieces", [1, 2, 1_000])
def test_a_trailer_is_no_header(server: MockCatalog, pieces: int) -> None:
    trailers = b"Host: evil.example\r\nAuthorization: Bearer t\r\nExpect: 100-continue\r\nX: y"
    message = CHUNKS + trailers + END
    size = -(-len(message) // pieces)
    with server.checkpoint(), opened(server) as wire, wire.makefile("rb") as file:
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(message), size):
            wire.sendall(message[start : start + size])
            time.sleep(0.001)  # each piece comes in a segment of its own
        status, _, made = answer(file)
        assert (status, b'["a"]' in made) == (200, True), made
        wire.sendall(GET + b"a: b\r\n\r\n")
        assert answer(file)[0] == 200
        first, second = (set(dict(each.request_headers or ())) for each in told(server))
        assert (first, second) == ({"host", "transfer-encoding"}, {"host", "a"})


def told(server: MockCatalog) -> list[JournalEntry]:
    """Return the last two requests."""
    return list(server.journal.find())[-2:]


@pytest.mark.parametrize(
    "trailers",
    [b"a: " + b"x" * 300_000, b"a: " + b"x" * 3_000_000, b"\r\n".join([b"a: b"] * 500_000),
     b"x" * 300_000 + b": a"],
    ids=["long", "very long", "many", "a long name"],
)  # fmt: skip
@pytest.mark.parametrize("ended", [True, False])
def test_trailers_without_end_are_431(server: MockCatalog, trailers: bytes, ended: bool) -> None:
    with server.checkpoint():
        expect_error(server, 431, CHUNKS + trailers + (END if ended else b""))


def test_long_trailers_are_431_however_they_arrive(server: MockCatalog) -> None:
    trailer = b"a: " + b"x" * 140_000
    with server.checkpoint(), opened(server) as wire, wire.makefile("rb") as file:
        wire.sendall(CHUNKS + trailer[:70_000])
        time.sleep(0.05)  # what has come by then is read apart from the rest, which ends them
        wire.sendall(trailer[70_000:] + END)
        assert answer(file)[0] == 431


def test_a_long_chunked_body_is_no_long_trailer(server: MockCatalog) -> None:
    body = b'{"namespace": [""], "later": "' + b"x" * 500_000 + b'"}'
    parts = [body[start : start + 60_000] for start in range(0, len(body), 60_000)]
    with opened(server) as wire, wire.makefile("rb") as file:
        wire.sendall(POST + b"transfer-encoding: chunked" + END + b"%x\r\n" % len(parts[0]))
        for part, after in zip(parts, [*parts[1:], b""], strict=True):
            time.sleep(0.01)  # each segment ends with the size of the next chunk
            wire.sendall(b"%b\r\n%x\r\n" % (part, len(after)))
        wire.sendall(b"a: b" + END + GET + b"\r\n")
        assert answer(file)[0] == 400
        assert answer(file)[0] == 200


@pytest.mark.parametrize("method", [b"GET", b"HEAD", b"DELETE"])
@pytest.mark.parametrize("size", [10, 1_000_000])
def test_a_body_where_none_is_read_does_not_become_the_next_request(
    server: MockCatalog, method: bytes, size: int
) -> None:
    head = (
        method + b" /v1/namespaces/absent HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d" % size
    )
    with opened(server) as wire, wire.makefile("rb") as file:
        wire.sendall(head + END + b"G" * size + GET + b"\r\n")
        assert answer(file)[0] == 404
        status, _, body = answer(file)
        assert (status, b"endpoints" in body) == (200, True)


def test_a_client_that_waits_to_be_asked_for_its_body_is_asked(server: MockCatalog) -> None:
    with opened(server) as wire:
        wire.sendall(POST + b"expect: 100-continue\r\ncontent-length: 2" + END)
        with wire.makefile("rb") as file:
            assert file.readline().split()[1] == b"100"
            file.readline()
            wire.sendall(b"{}")
            assert answer(file)[0] == 400


@pytest.mark.parametrize("half", [b"", b"G", GET, GET + b"a: ", POST + b"content-length: 9" + END])
def test_a_client_that_goes_away_is_not_waited_for(server: MockCatalog, half: bytes) -> None:
    for _ in range(20):
        assert sent(server, half)[0] in {0, 400}
    expect_alive(server)
