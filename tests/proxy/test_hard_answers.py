"""The proxy hands on what is no proper HTTP, or not there yet, as far as that can be done."""

import contextlib
import gzip
import json
import socket
import threading
import time
from collections.abc import Callable

import httpx
import pytest

from icecheck.proxy import upstream
from tests.proxy.raw_catalog import raw_catalog, read_all, through, written
from tests.proxy.started import proxied
from tests.proxy.told_catalog import ToldCatalog

JSON = "Content-Type: application/json"
EMPTY = written("200 OK", JSON, "Content-Length: 17", body=b'{"namespaces":[]}')


def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("fields", "late", "body", "fails"),
    [
        (("Content-Length: 2",), False, b"{}", True),
        (("Content-Length: 2",), True, b"{}", True),
        ((), False, b"{}", True),
        (("Transfer-Encoding: chunked",), False, b"2\r\n{}\r\n0\r\n\r\n", True),
        (("Transfer-Encoding: chunked",), False, b"0\r\n\r\n", False),
        ((), False, b"", False),
    ],
)
def test_a_body_with_204_is_told_and_spoils_no_other_answer(
    fields: tuple[str, ...], late: bool, body: bytes, fails: bool
) -> None:
    def write(head: str, connection: socket.socket) -> None:
        if not head.startswith("DELETE"):
            connection.sendall(EMPTY)
        elif late:
            connection.sendall(written("204 No Content", *fields))
            time.sleep(0.1)
            connection.sendall(body)
        else:
            connection.sendall(written("204 No Content", *fields, body=body))

    with raw_catalog(write) as raw, proxied(raw.url) as proxy, proxy.client() as http:
        for _ in range(3):
            deleted = http.delete("/v1/namespaces/a")
            assert (deleted.status_code, deleted.content) == (204, b"")
            assert http.get("/v1/namespaces").json() == {"namespaces": []}
        until(lambda: len(proxy.exchanges) == 6)
    assert ("http.no-body-on-204" in proxy.failed) == fails
    assert sorted(str(each.status) for each in proxy.exchanges) == ["200"] * 3 + ["204"] * 3


def test_an_answer_is_recorded_if_the_proxy_stops_before_its_wrong_body_came() -> None:
    def write(_: str, connection: socket.socket) -> None:
        connection.sendall(written("204 No Content", "Content-Length: 2"))

    with raw_catalog(write) as raw, proxied(raw.url) as proxy, proxy.client() as http:
        http.delete("/v1/namespaces/a")
    assert [each.status for each in proxy.exchanges] == [204]


def test_bytes_behind_an_answer_spoil_no_other_answer() -> None:
    def write(_: str, connection: socket.socket) -> None:
        connection.sendall(EMPTY + b"more")

    with raw_catalog(write) as raw, proxied(raw.url) as proxy, proxy.client() as http:
        for _ in range(4):
            assert http.get("/v1/namespaces").json() == {"namespaces": []}
    assert raw.connections == 4


def test_connections_are_kept_after_proper_answers() -> None:
    def write(head: str, connection: socket.socket) -> None:
        is_delete = head.startswith("DELETE")
        connection.sendall(written("204 No Content") if is_delete else EMPTY)

    with raw_catalog(write) as raw, proxied(raw.url) as proxy, proxy.client() as http:
        for _ in range(3):
            http.delete("/v1/namespaces/a")
            http.get("/v1/namespaces")
    assert raw.connections == 1


def test_a_request_ends_at_the_catalog_when_its_client_goes_away() -> None:
    with (
        raw_catalog(lambda *_: None) as raw,
        proxied(raw.url) as proxy,
        proxy.client() as http,
    ):
        with pytest.raises(httpx.ReadTimeout):
            http.get("/v1/namespaces", timeout=0.5)
        assert raw.closed.wait(10)
    (told,) = proxy.exchanges
    assert (told.status, told.error) == (None, "the client went away")


def test_a_request_that_waits_when_the_proxy_stops_is_recorded() -> None:
    with raw_catalog(lambda *_: None) as raw:
        with proxied(raw.url) as proxy:
            waiting = through(proxy.uri, "GET /v1/namespaces HTTP/1.1\nHost: localhost")
            assert raw.asked.wait(10)
        waiting.close()
    assert [each.error for each in proxy.exchanges] == ["the client went away"]
    assert proxy.run is not None
    assert proxy.run.headline.startswith("1 request passed")


def test_a_request_that_waits_for_a_connection_too_long_is_a_503(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(upstream, "_CONNECTIONS_MAX", 1)
    monkeypatch.setattr(upstream, "_SECONDS_MAX", {"connect": 30.0, "pool": 0.2})
    with raw_catalog(lambda *_: None) as raw, proxied(raw.url) as proxy, proxy.client() as http:
        with through(proxy.uri, "GET /v1/namespaces HTTP/1.1\nHost: localhost"):
            assert raw.asked.wait(10)
            answer = http.get("/v1/namespaces")
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == 503
    assert len(proxy.exchanges) == 2


@pytest.mark.parametrize("framing", ["Content-Length: 17", "Transfer-Encoding: chunked"])
def test_an_answer_is_handed_on_as_it_comes(framing: str) -> None:
    more = threading.Event()
    is_chunked = "chunked" in framing

    def write(_: str, connection: socket.socket) -> None:
        connection.sendall(written("200 OK", JSON, framing))
        for part in (b'{"names', b'paces":[]}'):
            connection.sendall(b"%x\r\n%b\r\n" % (len(part), part) if is_chunked else part)
            if not more.wait(20):
                return
        connection.sendall(b"0\r\n\r\n" if is_chunked else b"")

    with (
        raw_catalog(write) as raw,
        proxied(raw.url) as proxy,
        proxy.client() as http,
        http.stream("GET", "/v1/namespaces") as answer,
    ):
        assert framing.split(": ")[1] in dict(answer.headers).values()
        parts = answer.iter_raw()
        assert next(parts) == b'{"names'
        more.set()
        assert b"".join(parts) == b'paces":[]}'
    assert proxy.failed == {}
    assert proxy.exchanges[0].response_body == b'{"namespaces":[]}'


def test_a_client_of_an_old_protocol_gets_no_chunks() -> None:
    def write(_: str, connection: socket.socket) -> None:
        body = b"11\r\n" + EMPTY.partition(b"\r\n\r\n")[2] + b"\r\n0\r\n\r\n"
        connection.sendall(written("200 OK", JSON, "Transfer-Encoding: chunked", body=body))

    with raw_catalog(write) as raw, proxied(raw.url) as proxy:
        came = read_all(through(proxy.uri, "GET /v1/namespaces HTTP/1.0"))
    head, _, body = came.partition(b"\r\n\r\n")
    assert body == b'{"namespaces":[]}'
    assert b"content-length: 17" in head


def test_an_answer_that_the_catalog_cuts_in_the_middle_is_cut_there() -> None:
    def write(_: str, connection: socket.socket) -> None:
        connection.sendall(written("200 OK", JSON, "Content-Length: 17", body=b'{"names'))
        connection.shutdown(socket.SHUT_RDWR)

    with raw_catalog(write) as raw, proxied(raw.url) as proxy:
        came = read_all(through(proxy.uri, "GET /v1/namespaces HTTP/1.1\nHost: localhost"))
    assert came.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"content-length: 17" in came
    assert came.endswith(b'\r\n\r\n{"names')
    assert proxy.exchanges[0].status is None
    assert proxy.observed("not-judged") == ["no answer came (1)"]


def test_an_answer_that_cannot_be_written_is_a_502_and_recorded() -> None:
    def write(_: str, connection: socket.socket) -> None:
        connection.sendall(written("999 Odd", JSON, "Content-Length: 2", body=b"{}"))

    with raw_catalog(write) as raw, proxied(raw.url) as proxy, proxy.client() as http:
        answer = http.get("/v1/namespaces")
        assert answer.status_code == 502
        assert "999" in answer.json()["error"]["message"]
    assert [each.status for each in proxy.exchanges] == [999]
    assert proxy.observed("server-errors") == ["listNamespaces 999 (1)"]


def test_a_field_that_cannot_be_written_is_left_out() -> None:
    def write(_: str, connection: socket.socket) -> None:
        fields = (JSON, "X-Odd: a\x01b", "X-Own: 1", "Content-Length: 17")
        connection.sendall(written("200 OK", *fields, body=b'{"namespaces":[]}'))

    with raw_catalog(write) as raw, proxied(raw.url) as proxy, proxy.client() as http:
        answer = http.get("/v1/namespaces")
        assert answer.json() == {"namespaces": []}
        assert "x-odd" not in answer.headers
        assert answer.headers["x-own"] == "1"
    assert proxy.exchanges[0].header("x-odd") is not None, "what is recorded is what came"


def test_an_empty_query_is_handed_on(catalog: ToldCatalog) -> None:
    with proxied(catalog.url) as proxy:
        for path in ("/v1/namespaces?", "/v1/namespaces"):
            request = f"GET {path} HTTP/1.1\nHost: localhost\nConnection: close"
            read_all(through(proxy.uri, request))
    assert [sent.path for sent in catalog.came] == ["/v1/namespaces?", "/v1/namespaces"]


def test_a_packed_config_is_unpacked_only_where_it_is_changed(catalog: ToldCatalog) -> None:
    for overrides, is_packed in (({"a": "b"}, True), ({"uri": catalog.url}, False)):
        config = json.dumps({"defaults": {}, "overrides": overrides}).encode()
        packed = gzip.compress(config)
        fields = {"content-type": "application/json", "content-encoding": "gzip"}
        catalog.answer = (200, fields, packed)
        with proxied(catalog.url) as proxy, proxy.client() as http:
            with http.stream("GET", "/v1/config") as answer:
                raw = b"".join(answer.iter_raw())
            assert ("content-encoding" in answer.headers) == is_packed
            assert (raw == packed) == is_packed
            assert int(answer.headers["content-length"]) == len(raw)


@pytest.mark.parametrize(
    ("accepted", "asked"),
    [
        ("gzip;q=0", "identity"),
        ("gzip; q=0.000, br", "identity"),
        ("br, GZIP;q=0.01", "gzip"),
        ("x-gzip", "gzip"),
        ("notgzip", "identity"),
    ],
)
def test_an_encoding_is_asked_for_only_if_the_client_reads_it(
    catalog: ToldCatalog, accepted: str, asked: str
) -> None:
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/namespaces", headers={"accept-encoding": accepted})
    assert catalog.came[0].headers["accept-encoding"] == asked


def test_fields_of_a_connection_are_not_handed_on(catalog: ToldCatalog) -> None:
    named = "X-Hop: 1\nX-Own: 1\nHTTP2-Settings: AAMAAABk\nExpect: 100-continue"
    catalog.answer = (200, {"connection": "x-back", "x-back": "1", "x-kept": "1"}, b"{}")
    with proxied(catalog.url) as proxy:
        request = f"GET /v1/namespaces HTTP/1.1\nHost: localhost\nConnection: close, X-Hop\n{named}"
        came = read_all(through(proxy.uri, request)).lower()
    sent = catalog.came[0].headers
    assert sent["x-own"] == "1"
    assert not {"x-hop", "http2-settings", "expect", "connection"} & {n.lower() for n in sent}
    assert b"x-kept: 1" in came
    assert b"x-back: 1" not in came


def test_clients_are_led_to_the_name_by_which_they_call_the_proxy(catalog: ToldCatalog) -> None:
    config = {"defaults": {}, "overrides": {"uri": f"{catalog.url}/other"}}
    catalog.answer = (
        200,
        {"content-type": "application/json", "location": f"{catalog.url}/x"},
        json.dumps(config).encode(),
    )
    with proxied(catalog.url, host="0.0.0.0") as proxy:  # noqa: S104 - what is tested
        port = proxy.uri.rpartition(":")[2]
        for host, told in (
            ("Host: 10.1.2.3:80", "http://10.1.2.3:80"),
            ("Host: localhost", "http://localhost"),
            ("X-None: 1", f"http://0.0.0.0:{port}"),
        ):
            local = f"http://127.0.0.1:{port}"
            version = "1.1" if host.startswith("Host") else "1.0"
            request = f"GET /v1/config HTTP/{version}\n{host}\nConnection: close"
            came = read_all(through(local, request))
            head, _, body = came.partition(b"\r\n\r\n")
            assert json.loads(body)["overrides"]["uri"] == f"{told}/other"
            assert f"location: {told}/x\r\n".encode() in head.lower()


def test_requests_that_are_refused_are_counted(catalog: ToldCatalog) -> None:
    signed = {"authorization": "AWS4-HMAC-SHA256 Credential=A/20260101/r/s/aws4_request"}
    with proxied(catalog.url) as proxy, proxy.client() as http:
        assert http.get("/v1/config", headers=signed).status_code == 400
        for _ in range(2):
            assert http.get("/v1/config", headers={"host": "evil.example"}).status_code == 403
        with contextlib.suppress(httpx.HTTPError):
            http.get("/v1/config", headers={"x-large": "a" * 65_530})
    assert proxy.proxy.refused == {
        "signed for AWS (SigV4): 400": 1,
        "for another host, or from a foreign page: 403": 2,
        "the URL or the headers are too large: 431": 1,
    }


def test_names_of_headers_are_spelled_as_the_catalog_spells_them() -> None:
    """Java's client of 1.11 looks for `ETag`."""

    def write(_: str, connection: socket.socket) -> None:
        fields = ('ETag: "v1"', "X-Own-Name: a", "Content-Length: 2")
        connection.sendall(written("200 OK", *fields, body=b"{}"))

    with raw_catalog(write) as catalog, proxied(catalog.url) as proxy:
        came = read_all(
            through(proxy.uri, "GET /v1/config HTTP/1.1\nHost: localhost\nConnection: close")
        )
    assert b'\r\nETag: "v1"\r\n' in came
    assert b"\r\nX-Own-Name: a\r\n" in came


@pytest.mark.parametrize(("method", "sent"), [("GET", 3), ("DELETE", 2)])
def test_a_kept_connection_that_has_ended_costs_no_read(method: str, sent: int) -> None:
    """It ends when a second request has come, as where a server lets it go at this moment."""
    of_connection: dict[int, int] = {}

    def write(_: str, connection: socket.socket) -> None:
        of_connection[id(connection)] = of_connection.get(id(connection), 0) + 1
        if of_connection[id(connection)] > 1:
            connection.shutdown(socket.SHUT_RDWR)
            return
        connection.sendall(written("200 OK", "Content-Length: 2", body=b"{}"))

    with raw_catalog(write) as catalog, proxied(catalog.url) as proxy:
        line = "HTTP/1.1\nHost: localhost\nConnection: close"
        assert b"{}" in read_all(through(proxy.uri, f"GET /v1/config {line}"))
        came = read_all(through(proxy.uri, f"{method} /v1/namespaces {line}"))
    assert (b"{}" in came) == (method == "GET"), "what changes something is never sent twice"
    assert len(catalog.heads) == sent
