"""The proxy changes nothing but the addresses by which clients would leave it."""

import gzip
import json
import socket

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.proxy.addresses import Addresses
from icecheck.proxy.proxy import CatalogProxy
from icecheck.run.options import RunOptions
from icecheck.targets.target import SigV4, Target, UsageError
from tests.proxy.started import proxied
from tests.proxy.told_catalog import ToldCatalog

SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "a", "type": "long", "required": False}]}


def test_answers_are_those_of_the_catalog() -> None:
    with MockCatalog(warehouses=["wh"]) as mock, proxied(mock.uri) as proxy, proxy.client() as http:
        direct = httpx.Client(base_url=mock.uri, trust_env=False)
        http.post("/v1/wh/namespaces", json={"namespace": ["db"]}).raise_for_status()
        body = {"name": "t", "schema": SCHEMA}
        http.post("/v1/wh/namespaces/db/tables", json=body).raise_for_status()
        for method, path in (
            ("GET", "/v1/wh/namespaces"),
            ("HEAD", "/v1/wh/namespaces/db"),
            ("HEAD", "/v1/wh/namespaces/nothing"),
            ("GET", "/v1/wh/namespaces/db/tables/t?snapshots=refs"),
            ("GET", "/v1/wh/namespaces/a%1Fb%2Fc/tables/t"),
            ("GET", "/v1/config?warehouse=nothing"),
            ("PATCH", "/v1/wh/namespaces"),
            ("GET", "/nothing"),
        ):
            mine, theirs = http.request(method, path), direct.request(method, path)
            assert (mine.status_code, mine.content) == (theirs.status_code, theirs.content), path
            assert dict(mine.headers) == dict(theirs.headers), path
        assert http.delete("/v1/wh/namespaces/db/tables/t").status_code == 204
        direct.close()
    assert proxy.failed == {}


def test_paths_queries_headers_and_bodies_come_as_they_were_sent(
    catalog: ToldCatalog,
) -> None:
    with proxied(f"{catalog.url}/api/catalog/") as proxy:
        assert proxy.uri.endswith("/api/catalog")
        raw = f"{proxy.uri}/v1/a%2Fb/namespaces/x%1f%C3%A9//y?page%54oken=%20+&a"
        extra = {"X-Own": "1", "Accept-Encoding": "br, gzip;q=0.5", "Accept": "a/b"}
        with socket.create_connection(("127.0.0.1", int(proxy.uri.split(":")[2][:-12]))) as sock:
            path = raw.split("/", 3)[3]
            lines = [f"POST /{path} HTTP/1.1", "Host: localhost", "Connection: close"]
            lines += [f"{name}: {value}" for name, value in extra.items()]
            sock.sendall("\r\n".join([*lines, "Content-Length: 3", "", "a\0b"]).encode())
            while sock.recv(65536):
                pass
    (sent,) = catalog.came
    assert sent.method == "POST"
    assert sent.path == "/api/catalog/v1/a%2Fb/namespaces/x%1f%C3%A9//y?page%54oken=%20+&a"
    assert sent.body == b"a\0b"
    assert sent.headers["x-own"] == "1"
    assert sent.headers["accept"] == "a/b"
    assert sent.headers["accept-encoding"] == "gzip"
    assert sent.headers["host"] == catalog.url.removeprefix("http://")
    assert "connection" not in sent.headers


def test_an_encoded_answer_is_handed_on_and_judged(catalog: ToldCatalog) -> None:
    body = json.dumps({"namespaces": "none"}).encode()
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    catalog.answer = (200, headers, gzip.compress(body))
    with proxied(catalog.url) as proxy, proxy.client() as http:
        answer = http.get("/v1/namespaces")
        assert answer.content == body
        assert answer.headers["content-encoding"] == "gzip"
        plain = http.get("/v1/namespaces", headers={"accept-encoding": "zstd"})
        assert plain.status_code == 200
    assert [sent.headers["accept-encoding"] for sent in catalog.came] == ["gzip", "identity"]
    assert list(proxy.failed) == ["schema.listNamespaces.200"]


def test_addresses_in_a_config_lead_to_the_proxy_or_are_named(
    catalog: ToldCatalog,
) -> None:
    config = {
        "defaults": {
            "oauth2-server-uri": f"{catalog.url}/login/tokens",
            "s3.endpoint": catalog.url,
            "a": 1,
        },
        "overrides": {"uri": f"{catalog.url}/other/"},
    }
    json_type = {"content-type": "application/json"}
    catalog.answer = (200, json_type, json.dumps(config).encode())
    with proxied(f"{catalog.url}/api") as proxy, proxy.client() as http:
        told = http.get(f"{proxy.uri}/v1/config").json()
        here = proxy.uri.removesuffix("/api")
        assert told == {
            "defaults": {
                "oauth2-server-uri": f"{here}/login/tokens",
                "s3.endpoint": catalog.url,
                "a": 1,
            },
            "overrides": {"uri": f"{here}/other/"},
        }
        catalog.answer = (200, json_type, b'{"namespaces": 1}')
        http.get(f"{here}/other/v1/namespaces")
        catalog.answer = (
            200,
            json_type,
            json.dumps(
                {"overrides": {"uri": "https://elsewhere.example"}, "defaults": {}}
            ).encode(),
        )
        past = http.get(f"{proxy.uri}/v1/config").json()
        assert past["overrides"] == {"uri": "https://elsewhere.example"}
    assert "schema.listNamespaces.200" in proxy.failed
    assert proxy.observed("leads-past") == ["uri https://elsewhere.example"]
    recorded = json.loads(proxy.exchanges[0].response_body)
    assert recorded["overrides"] == config["overrides"], "what is recorded is what came"


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"defaults": 1, "overrides": null}', b"\xff"])
def test_a_config_that_is_none_is_handed_on_as_it_is(body: bytes) -> None:
    here = Addresses("http://there:1", "http://here:2")
    assert here.config_at_proxy(body) == (body, ())


def test_a_redirection_at_the_catalog_leads_to_the_proxy(
    catalog: ToldCatalog,
) -> None:
    with proxied(catalog.url) as proxy, proxy.client() as http:
        catalog.answer = (307, {"location": f"{catalog.url}/v1/namespaces?a=b"}, b"")
        here = http.get("/v1/namespaces").headers["location"]
        assert here == f"{proxy.uri}/v1/namespaces?a=b"
        catalog.answer = (307, {"location": "https://elsewhere.example/x"}, b"")
        there = http.get("/v1/namespaces").headers["location"]
        assert there == "https://elsewhere.example/x"


def test_signed_requests_are_refused_with_what_to_do_instead(
    catalog: ToldCatalog,
) -> None:
    signed = {"authorization": "AWS4-HMAC-SHA256 Credential=A/20260101/r/s/aws4_request"}
    with proxied(catalog.url) as proxy, proxy.client() as http:
        answer = http.get("/v1/namespaces", headers=signed)
    assert answer.status_code == 400
    assert "--sigv4" in answer.json()["error"]["message"]
    assert proxy.observed("refused") == ["signed for AWS (SigV4): 400 (1)"]
    assert catalog.came == []
    target = Target(
        catalog.url, sigv4=SigV4("r", "s", access_key_id="A" * 8, secret_access_key="S" * 8)
    )
    with pytest.raises(UsageError, match="icecheck run --sigv4"):
        CatalogProxy(RunOptions(target, "proxied"), lambda _: None)


def test_requests_go_to_the_named_host_only(catalog: ToldCatalog) -> None:
    with proxied(catalog.url) as proxy, proxy.client() as http:
        port = int(proxy.uri.rpartition(":")[2])
        assert http.get("/v1/config", headers={"host": "evil.example"}).status_code == 403
        with socket.create_connection(("127.0.0.1", port)) as sock:
            sock.sendall(
                b"GET http://evil.example/v1/config HTTP/1.1\r\nHost: localhost\r\n"
                b"Connection: close\r\n\r\n"
            )
            while sock.recv(65536):
                pass
    assert [sent.path for sent in catalog.came] == ["/v1/config"]


def test_a_catalog_that_cannot_be_reached_is_a_502() -> None:
    with proxied(f"http://127.0.0.1:{_closed_port()}") as proxy, proxy.client() as http:
        answer = http.get("/v1/config")
        assert answer.status_code == 502
        assert answer.json()["error"]["code"] == 502
    assert proxy.failed == {}
    assert proxy.observed("not-judged") == ["no answer came (1)"]
    assert proxy.run is not None
    assert proxy.run.exit_code == 5


def test_a_connection_that_the_catalog_cuts_is_cut(catalog: ToldCatalog) -> None:
    catalog.cut = True
    with (
        proxied(catalog.url) as proxy,
        proxy.client() as http,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        http.post("/v1/namespaces", json={"namespace": ["a"]})
    assert len(catalog.came) == 1, "it is never sent a second time"
    assert proxy.exchanges[0].status is None


def _closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
