"""What ordinary clients send, and lawful catalogs answer, blames nobody and spoils no report."""

import contextlib
import json
from typing import Any

import httpx
import pytest

from tests.proxy.started import proxied
from tests.proxy.test_judging import JSON, SCHEMA, answered, rename, the_run
from tests.proxy.told_catalog import ToldCatalog

TABLES = "/v1/namespaces/db/tables"
TEXT = {"content-type": "text/plain"}
PLAIN = 404, TEXT, b"no such route"


def config(prefix: str, *endpoints: str) -> tuple[int, dict[str, str], bytes]:
    """Return the config of a warehouse."""
    told = {"defaults": {}, "overrides": {"prefix": prefix}, "endpoints": endpoints}
    return 200, JSON, json.dumps(told).encode()


def test_a_body_where_none_is_described_is_no_error(catalog: ToldCatalog) -> None:
    catalog.answer = 200, JSON, b'{"namespaces": []}'
    with proxied(catalog.url) as proxy, proxy.client() as http:
        for method in ("GET", "DELETE", "HEAD"):
            http.request(method, "/v1/namespaces", content=b"{}", headers=JSON)
    assert proxy.failed == {}
    assert proxy.observed("suite-errors") == []
    assert the_run(proxy).exit_code == 0


def test_an_error_of_ours_spoils_one_exchange(
    catalog: ToldCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog.answer = 200, JSON, b'{"namespaces": 1}'
    calls = iter(range(9))

    def once(*_: Any) -> bool:
        if next(calls) == 0:
            raise KeyError("ours")
        return False

    monkeypatch.setattr("icecheck.proxy.watching.asks_improperly", once)
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/namespaces")
        http.get("/v1/namespaces")
    assert list(proxy.failed) == ["schema.listNamespaces.200"]
    assert proxy.observed("suite-errors") == ["KeyError at exchange 1"]
    assert proxy.observed("not-judged") == ["an error of icecheck (1)"]


def test_where_no_config_passed_nothing_is_taken_for_claimed(catalog: ToldCatalog) -> None:
    catalog.answers["GET", "/v1/namespaces/db/views/v"] = PLAIN
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/namespaces/db/views/v")
    assert proxy.failed == {}


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_what_one_warehouse_serves_another_need_not(catalog: ToldCatalog, order: str) -> None:
    views = "GET /v1/{prefix}/namespaces/{namespace}/views"
    catalog.answers["GET", "/v1/config?warehouse=a"] = config("a", views)
    catalog.answers["GET", "/v1/config?warehouse=b"] = config("b")
    catalog.answers["GET", "/v1/a/namespaces/db/views"] = 200, JSON, b'{"identifiers": []}'
    catalog.answers["GET", "/v1/b/namespaces/db/views"] = PLAIN
    with proxied(catalog.url) as proxy, proxy.client() as http:
        for warehouse in order:
            http.get(f"/v1/config?warehouse={warehouse}")
            http.get(f"/v1/{warehouse}/namespaces/db/views")
    assert proxy.failed == {}
    assert proxy.run is not None
    assert "schema.listViews.200" in {v.check for v in proxy.run.verdicts}


def test_a_table_that_was_registered_over_is_not_of_these_requests(catalog: ToldCatalog) -> None:
    catalog.answers["POST", TABLES] = answered()
    catalog.answers["POST", "/v1/namespaces/db/register"] = answered(properties={"k": 1})
    catalog.answers["GET", f"{TABLES}/t"] = answered(properties={"k": 1})
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post(TABLES, json={"name": "t", "schema": SCHEMA})
        body = {"name": "t", "metadata-location": "s3://b/old.json", "overwrite": True}
        http.post("/v1/namespaces/db/register", json=body)
        http.get(f"{TABLES}/t")
    assert proxy.failed == {}
    assert len(proxy.observed("older-metadata")) == 2


@pytest.mark.parametrize("lost", [504, 500, None])
def test_what_a_client_wrote_wrongly_may_be_there_though_its_answer_was_lost(
    catalog: ToldCatalog, lost: int | None
) -> None:
    catalog.answers["POST", TABLES] = answered()
    catalog.answers["GET", f"{TABLES}/t"] = answered(properties={"k": 1})
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post(TABLES, json={"name": "t", "schema": SCHEMA})
        catalog.cut = lost is None
        if lost is not None:
            catalog.answers["POST", f"{TABLES}/t"] = lost, TEXT, b"gone"
        update = {"action": "set-properties", "updates": {"k": 1}}
        with contextlib.suppress(httpx.RemoteProtocolError):
            http.post(f"{TABLES}/t", json={"requirements": [], "updates": [update]})
        catalog.cut = False
        http.get(f"{TABLES}/t")
    assert {each for each in proxy.failed if "loadTable" in each} == set()


def test_properties_of_an_older_namespace_are_observed_only(catalog: ToldCatalog) -> None:
    loaded = b'{"namespace": ["db"], "properties": {"k": 1}}'
    catalog.answers["GET", "/v1/namespaces/db"] = 200, JSON, loaded
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/namespaces/db")
    assert proxy.failed == {}
    assert len(proxy.observed("older-metadata")) == 1


@pytest.mark.parametrize(
    "token", ["append", "branch", "json", "long", "struct", "application/json"]
)
def test_a_plain_token_changes_nothing_of_what_is_judged(catalog: ToldCatalog, token: str) -> None:
    catalog.answers["POST", TABLES] = answered()
    headers = {"authorization": f"Bearer {token}"}
    with proxied(catalog.url) as proxy, proxy.client(headers=headers) as http:
        http.post(TABLES, json={"name": "t", "schema": SCHEMA})
    assert proxy.failed == {}
    assert proxy.observed("client-sent") == []
    shown = dict(proxy.exchanges[0].request_headers)["authorization"]
    assert shown.startswith("Bearer <redacted:")


@pytest.mark.parametrize("status", [401, 403, 406])
def test_words_of_a_gateway_are_not_those_of_the_catalog(catalog: ToldCatalog, status: int) -> None:
    catalog.answer = status, TEXT, b"Jwt is expired"
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post("/v1/namespaces", json={"namespace": ["a"]})
    assert proxy.failed == {}


def test_a_rename_keeps_what_was_known(catalog: ToldCatalog) -> None:
    catalog.answers["POST", TABLES] = answered()
    catalog.answers["POST", "/v1/tables/rename"] = 204, {}, b""
    catalog.answers["GET", f"{TABLES}/u"] = answered(properties={"k": 1})
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post(TABLES, json={"name": "t", "schema": SCHEMA})
        http.post("/v1/tables/rename", json=rename("t", "u"))
        http.get(f"{TABLES}/u")
    assert list(proxy.failed) == ["schema.loadTable.200"]


def test_addresses_that_lead_past_are_told_without_secrets(catalog: ToldCatalog) -> None:
    address = "https://u:p4ssw0rd@elsewhere.example/t?key=S3CRET#f"
    told = {"defaults": {}, "overrides": {"oauth2-server-uri": address}}
    catalog.answers["GET", "/v1/config"] = 200, JSON, json.dumps(told).encode()
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/config")
    assert proxy.observed("leads-past") == ["oauth2-server-uri https://elsewhere.example/t"]


SECRET = "S3CRET-of-a-client"
HEADERS = [
    "Authorization", "Ocp-Apim-Subscription-Key", "X-Functions-Key", "x-goog-iap-jwt-assertion",
    "DPoP", "X-JWT", "X-Auth", "X-Session-Id", "PolarisAuth", "Cookie",
]  # fmt: skip


def test_no_place_in_a_request_of_a_client_is_recorded_with_its_secret(
    catalog: ToldCatalog,
) -> None:
    catalog.answer = 200, {**JSON, "X-Refreshed-Jwt": SECRET}, b"{}"
    with proxied(catalog.url) as proxy, proxy.client() as http:
        for name in HEADERS:
            http.get("/v1/namespaces", headers={name: SECRET})
        for name in ("access_token", "token", "api_key", "code", "sig"):
            http.get(f"/v1/namespaces?pageToken=&{name}={SECRET}")
            http.get(f"/elsewhere?{name}={SECRET}")
        for form in (
            {"username": "u", "password": SECRET},
            {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": SECRET},
            {"grant_type": "authorization_code", "code": SECRET, "code_verifier": SECRET},
        ):
            http.post("/login", data=form)
            http.post("/v1/oauth/tokens", data=form)
        for member in ("apiKey", "passphrase", "pwd", "key", "accessKey"):
            http.post("/management/users", json={member: SECRET})
    told = "".join(map(repr, proxy.exchanges)) + repr(proxy.run)
    assert SECRET not in told
    assert "pageToken=" in told
