"""The mock's socket answers only requests that are meant for it: a web page elsewhere gets 403."""

import http.client
import json
import socket
from collections.abc import Iterator

import httpx
import pytest

from icecheck.mock_server import MockCatalog

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - binding to all addresses is what is tried here

Answer = tuple[int, bytes]


@pytest.fixture(scope="module")
def mock() -> Iterator[MockCatalog]:
    with MockCatalog(root="memory://root", allow_hosts=["Catalog.Test", "10.1.2.3"]) as running:
        yield running


@pytest.fixture(scope="module")
def on_all_addresses() -> Iterator[MockCatalog]:
    allowed = ["catalog.test"]
    with MockCatalog(root="memory://root", host=ANY_ADDRESS, allow_hosts=allowed) as running:
        yield running


def ask(
    mock: MockCatalog,
    *headers: tuple[str, str],
    method: str = "GET",
    path: str = "/v1/config",
    body: bytes = b"",
) -> Answer:
    """Send exactly these headers (and a content-length) to a mock's socket."""
    connection = http.client.HTTPConnection("127.0.0.1", mock.port, timeout=20)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        if body:
            connection.putheader("content-length", str(len(body)))
        connection.endheaders(body or None)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def is_refusal(answer: Answer) -> bool:
    """Whether it is a 403 with an Iceberg error body; any other refusal is an error here."""
    status, body = answer
    if status != 403:
        assert status == 200, body
        return False
    error = json.loads(body)["error"]
    assert (error["code"], error["type"]) == (403, "ForbiddenException")
    assert "--allow-host" in error["message"]
    return True


OWN = (
    "localhost", "LOCALHOST", "localhost.", "mock.localhost", "a.b.localhost", "127.0.0.1",
    "127.1.2.3", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "catalog.test",
    "CATALOG.test", "catalog.test.", "10.1.2.3",
)  # fmt: skip
FOREIGN = (
    "evil.example", "evil.example.", "localhost.evil.example", "127.0.0.1.evil.example",
    "notlocalhost", "sub.catalog.test", "catalog.test.evil.example", "10.1.2.4", ANY_ADDRESS,
    "[::]", "[fe80::1]", "128.0.0.1", "", " ", "a b", "localhost@evil.example", "evil.example#",
    "evil.example/localhost", "localhost,evil.example", "[::1", "::1", "2130706433", "0x7f.1",
    "127.1", "\xe4.localhost", "localhost:80:80", "localhost:http", "..localhost.evil",
    "[localhost]",
)  # fmt: skip


@pytest.mark.parametrize("port", ["", ":8181", ":"])
@pytest.mark.parametrize("host", OWN)
def test_its_own_names_are_answered(mock: MockCatalog, host: str, port: str) -> None:
    assert not is_refusal(ask(mock, ("Host", f"{host}{port}")))


@pytest.mark.parametrize("host", FOREIGN)
def test_a_request_for_another_host_is_refused(mock: MockCatalog, host: str) -> None:
    assert is_refusal(ask(mock, ("Host", host)))


@pytest.mark.parametrize("host", [each for each in FOREIGN if each.isascii()])
def test_a_request_of_a_foreign_page_is_refused(mock: MockCatalog, host: str) -> None:
    for scheme in ("http", "https"):
        assert is_refusal(ask(mock, ("Host", "localhost"), ("Origin", f"{scheme}://{host}")))


@pytest.mark.parametrize("origin", ["null", "", "localhost", "file://localhost", "ftp://localhost"])
def test_an_origin_that_is_no_page_of_its_own_is_refused(mock: MockCatalog, origin: str) -> None:
    assert is_refusal(ask(mock, ("Host", "localhost"), ("Origin", origin)))


@pytest.mark.parametrize("host", OWN)
def test_a_page_of_its_own_names_may_ask(mock: MockCatalog, host: str) -> None:
    origin = f"http://{host}"
    assert not is_refusal(ask(mock, ("Host", "127.0.0.1"), ("Origin", origin)))


def test_the_second_of_two_hosts_is_looked_at_too(mock: MockCatalog) -> None:
    assert is_refusal(ask(mock, ("Host", "localhost"), ("Host", "evil.example")))
    assert is_refusal(ask(mock, ("Host", "evil.example"), ("Host", "localhost")))
    origins = (("Origin", "http://localhost"), ("Origin", "http://evil.example"))
    assert is_refusal(ask(mock, ("Host", "localhost"), *origins))


def test_nothing_happens_on_a_refused_request(mock: MockCatalog) -> None:
    body = json.dumps({"namespace": ["rebound"]}).encode()
    for method, path in (("POST", "/v1/namespaces"), ("DELETE", "/v1/namespaces/kept")):
        before = mock.state()
        sent = body if method == "POST" else b""
        rebound = (("Host", "evil.example"),)
        foreign = (("Host", "localhost"), ("Origin", "http://evil.example"))
        for headers in (rebound, foreign):
            assert is_refusal(ask(mock, *headers, method=method, path=path, body=sent))
        assert mock.state() is before


def test_a_refused_head_request_has_no_body(mock: MockCatalog) -> None:
    assert ask(mock, ("Host", "evil.example"), method="HEAD") == (403, b"")


def test_a_request_of_http_1_0_needs_no_host(mock: MockCatalog) -> None:
    with socket.create_connection(("127.0.0.1", mock.port), timeout=20) as wire:
        wire.sendall(b"GET /v1/config HTTP/1.0\r\n\r\n")
        assert b" 200 " in wire.recv(100)


def test_on_all_addresses_any_address_is_answered_and_no_unknown_name(
    on_all_addresses: MockCatalog,
) -> None:
    for host in ("192.168.7.8:8181", "[2001:db8::1]", ANY_ADDRESS, "localhost", "catalog.test"):
        assert not is_refusal(ask(on_all_addresses, ("Host", host)))
    for host in ("evil.example", "2130706433", "192.168.7.8.evil.example"):
        assert is_refusal(ask(on_all_addresses, ("Host", host)))
    for page in ("http://192.168.7.8", "http://evil.example"):
        assert is_refusal(ask(on_all_addresses, ("Host", "192.168.7.8"), ("Origin", page)))


def test_the_address_it_is_bound_to_is_its_own() -> None:
    with MockCatalog(root="memory://root", host="127.0.0.2") as mock:
        assert httpx.get(f"{mock.uri}/v1/config", trust_env=False).status_code == 200


@pytest.mark.parametrize(
    "host", ["http://a", "a:80", "a/b", "", "*", "[::1]:80", "a b", "user@a", "a" * 300]
)
def test_what_is_no_host_cannot_be_allowed(host: str) -> None:
    with pytest.raises(ValueError, match="host"):
        MockCatalog(allow_hosts=[host])


def test_clients_in_the_process_may_call_it_as_they_like(mock: MockCatalog) -> None:
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock.invalid") as client:
        origin = {"origin": "http://evil.example"}
        assert client.get("/v1/config", headers=origin).status_code == 200
