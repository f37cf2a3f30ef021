"""Most requests are answered without ASGI, and nobody can tell by the answer."""

import json
import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Answer, Reply, Request
from icecheck.mock_server.http.httptools_protocol import HttptoolsDoor
from icecheck.mock_server.serving.app import App

SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "a", "type": "long", "required": False}]}
TABLES = "/v1/wh/namespaces/db/tables"


def raw(method: str, target: str, *headers: str, body: bytes = b"", version: str = "1.1") -> bytes:
    """Return a request as it is sent."""
    lines = [f"{method} {target} HTTP/{version}", "Host: localhost", *headers]
    lines += [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode() + body


NAMESPACE = json.dumps({"namespace": ["db"]}).encode()
TABLE = json.dumps({"name": "t", "schema": SCHEMA}).encode()
LARGE = json.dumps({"namespace": ["large"], "properties": {"k": "v" * 1_100_000}}).encode()
CHUNKED = raw("POST", "/v1/wh/namespaces", "Transfer-Encoding: chunked") + (
    b'11\r\n{"namespace":["c"\r\n2\r\n]}\r\n0\r\n\r\n'
)
REQUESTS = {
    "config": raw("GET", "/v1/config?warehouse=wh"),
    "nothing there": raw("GET", "/v1/wh/namespaces/none"),
    "no route": raw("PATCH", "/v1/wh/namespaces"),
    "create": raw("POST", "/v1/wh/namespaces", body=NAMESPACE),
    "create table": raw("POST", TABLES, body=TABLE),
    "head": raw("HEAD", f"{TABLES}/t"),
    "head of nothing": raw("HEAD", f"{TABLES}/none"),
    "load": raw("GET", f"{TABLES}/t", "Accept-Encoding: gzip"),
    "body with get": raw("GET", TABLES, body=b"{}"),
    "no json": raw("POST", TABLES, body=b"{"),
    "large": raw("POST", "/v1/wh/namespaces", body=LARGE),
    "long url": raw("GET", f"/v1/{'x' * 66_000}"),
    "large headers": raw("GET", "/v1/config", f"X: {'y' * 66_000}"),
    "foreign host": raw("GET", "/v1/config", "Host: evil.example"),
    "expect": raw("POST", "/v1/wh/namespaces", "Expect: 100-continue", body=NAMESPACE),
    "absolute": raw("GET", "http://localhost/v1/config?warehouse=wh"),
    "fragment": raw("GET", "/v1/config?warehouse=wh#there"),
    "http/1.0": raw("GET", "/v1/config?warehouse=wh", version="1.0"),
    "chunked": CHUNKED,
    "admin": raw("GET", "/_mock/v1/health"),
    "drop": raw("DELETE", f"{TABLES}/t"),
    "close": raw("GET", "/v1/wh/namespaces", "Connection: close"),
}  # fmt: skip


def answers(sent: bytes, mock: MockCatalog) -> bytes:
    """Return all that is answered to some requests, the last of which closes the connection."""
    with socket.create_connection(("127.0.0.1", mock.port), timeout=10) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def started() -> MockCatalog:
    """Return a mock that gives every time the same answers."""
    return MockCatalog(seed=1, clock=1_767_225_600_000, warehouses=["wh"], root="memory://root")


@pytest.fixture
def by_asgi(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every request go through ASGI."""
    with monkeypatch.context() as patch:
        patch.setattr(HttptoolsDoor, "_may_be_direct", lambda _: False)
        yield


def all_answers() -> dict[str, bytes]:
    """Return what each request is answered, one connection each, on one mock."""
    end = raw("GET", "/v1/config", "Connection: close")
    with started() as mock:
        return {name: answers(sent + end, mock) for name, sent in REQUESTS.items()}


def test_every_answer_is_the_same(request: pytest.FixtureRequest) -> None:
    direct = all_answers()
    assert direct["create table"].count(b"\r\nETag: ") == 1, "as Java's client looks for it"
    request.getfixturevalue("by_asgi")
    asgi = all_answers()
    assert {name: each for name, each in direct.items() if each != asgi[name]} == {}
    assert all(each.startswith(b"HTTP/1.1 ") for each in direct.values())


@pytest.mark.parametrize("status", [401, 419, 499, 520, 599])
def test_a_status_that_has_no_phrase_is_answered_all_the_same(
    request: pytest.FixtureRequest, status: int
) -> None:
    def faulted() -> bytes:
        sent = raw("GET", "/v1/wh/namespaces") + raw("HEAD", f"{TABLES}/t") + REQUESTS["close"]
        with started() as mock, mock.fault("token-expired", status=status, times=0):
            return answers(sent, mock)

    direct = faulted()
    assert direct.count(b"HTTP/1.1 %d " % status) == direct.count(b"HTTP/1.1 ") == 3
    assert b'"code":%d' % status in direct
    request.getfixturevalue("by_asgi")
    assert faulted() == direct


def fails(_: App, request: Request) -> Answer:
    raise LookupError(f"a bug met {request.raw_path}")


def gives_no_header(_app: App, _request: Request) -> Answer:
    return Answer(Reply(200, (("etag", None),), b"{}"))  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_a_bug_is_answered_500_and_logged(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    method: str,
) -> None:
    def failed() -> bytes:
        caplog.clear()
        with started() as mock:
            found = answers(raw(method, "/v1/wh/namespaces") + REQUESTS["close"], mock)
        texts = [str(record.exc_info[1]) for record in caplog.records if record.exc_info]
        assert texts == ["a bug met /v1/wh/namespaces"] * 2
        return found

    monkeypatch.setattr(App, "handle", fails)
    direct = failed()
    assert direct.count(b"HTTP/1.1 500 Internal Server Error\r\n") == 2  # it stays open
    assert direct.count(b'"InternalServerError"') == (1 if method == "HEAD" else 2)
    request.getfixturevalue("by_asgi")
    assert failed() == direct


def test_an_answer_that_cannot_be_written_is_a_500(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patch, started() as mock:
        patch.setattr(App, "handle", gives_no_header)
        found = answers(raw("GET", "/v1/wh/namespaces") + b"END\r\n\r\n", mock)
    assert b'"InternalServerError"' in found
    assert any(record.exc_info for record in caplog.records)


def test_many_requests_in_one_piece_are_answered_in_order() -> None:
    names = [name for name in REQUESTS if name not in {"large headers", "long url", "http/1.0"}]
    names.remove("foreign host")
    sent = b"".join(REQUESTS[name] for name in names)
    with started() as mock:
        together = answers(sent, mock)
    assert together.count(b"HTTP/1.1 ") - together.count(b"HTTP/1.1 100 ") == len(names)
    assert together.index(b"NoSuchNamespace") < together.index(b"table-uuid")


def test_an_answer_that_comes_late_is_not_overtaken() -> None:
    sent = raw("GET", "/v1/wh/namespaces/late") + raw("GET", "/v1/config?warehouse=wh")
    with started() as mock, mock.fault("slow", operation="loadNamespaceMetadata", latency_ms=200):
        began = time.monotonic()
        both = answers(sent + REQUESTS["close"], mock)
    assert time.monotonic() - began > 0.15
    assert both.index(b"HTTP/1.1 404") < both.index(b"endpoints")


def test_a_dropped_connection_answers_nothing_more() -> None:
    with started() as mock, mock.fault("connection-dropped", operation="listNamespaces"):
        sent = REQUESTS["config"] + raw("GET", "/v1/wh/namespaces") + REQUESTS["config"]
        assert answers(sent, mock).count(b"HTTP/1.1") == 1


def test_a_client_that_reads_nothing_is_not_answered_without_end() -> None:
    """It would fill the memory: once much is unread, its requests wait."""
    with started() as mock, socket.create_connection(("127.0.0.1", mock.port)) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(2)
        with pytest.raises(TimeoutError):
            connection.sendall(REQUESTS["config"] * 200_000)
        answered = mock.journal.last_sequence
        with httpx.Client(base_url=mock.uri, trust_env=False) as other:
            assert other.get("/v1/config?warehouse=wh").status_code == 200
        assert answered < 100_000


def test_a_body_where_none_may_be_is_left_out(server_with_bodies: MockCatalog) -> None:
    with httpx.Client(base_url=server_with_bodies.uri, trust_env=False) as http:
        http.post("/v1/wh/namespaces", content=NAMESPACE).raise_for_status()
        assert http.delete("/v1/wh/namespaces/db").status_code == 204
        assert http.get("/v1/wh/namespaces").json()["namespaces"] == []


@pytest.fixture(params=[True, False], ids=["direct", "asgi"])
def server_with_bodies(request: pytest.FixtureRequest) -> Iterator[MockCatalog]:
    """Serve a mock that gives a body with 204."""
    if not request.param:
        request.getfixturevalue("by_asgi")
    mock = started()
    mock.defects.switch_on("body-dropNamespace.204")
    with mock:
        yield mock
