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

    def once(*_: Any, **__: Any) -> bool:
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
    old = answered("s3://b/old.json", properties={"k": 1})
    catalog.answers["POST", "/v1/namespaces/db/register"] = old
    catalog.answers["GET", f"{TABLES}/t"] = old
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
    catalog.answers["GET", f"{TABLES}/t"] = answered("s3://b/2.json", properties={"k": 1})
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


@pytest.mark.parametrize("status", [401, 403, 406, 500, 502, 504])
@pytest.mark.parametrize(
    ("headers", "words"),
    [(TEXT, b"Jwt is expired"), (JSON, b'{"message": "Endpoint request timed out"}')],
)
def test_words_of_a_gateway_are_not_those_of_the_catalog(
    catalog: ToldCatalog, status: int, headers: dict[str, str], words: bytes
) -> None:
    catalog.answer = status, headers, words
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post("/v1/namespaces", json={"namespace": ["a"]})
    assert proxy.failed == {}


@pytest.mark.parametrize("status", [401, 403, 500, 502])
def test_an_error_of_the_catalog_is_judged_with_these_statuses_too(
    catalog: ToldCatalog, status: int
) -> None:
    catalog.answer = status, JSON, b'{"error": {"code": "none", "message": 7}}'
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/namespaces")
    assert list(proxy.failed) == [f"schema.listNamespaces.{'5XX' if status > 499 else status}"]


def test_whatever_a_router_says_of_what_is_not_claimed_is_not_judged(catalog: ToldCatalog) -> None:
    catalog.answers["GET", "/v1/config"] = config("", "GET /v1/{prefix}/namespaces")
    router = b'{"error": {"code": 40400, "code": 1, "message": "no Route matched"}}'
    catalog.answer = 404, JSON, router
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/config")
        http.get("/v1/namespaces/db/views")
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


@pytest.mark.parametrize("address", ["http://[bad/", "https://\u2100x.example/", "http://h:99999/"])
def test_an_address_that_is_none_costs_no_report(catalog: ToldCatalog, address: str) -> None:
    told = {"defaults": {"s3.signer.uri": address}, "overrides": {"uri": address}}
    catalog.answers["GET", "/v1/config"] = 200, JSON, json.dumps(told).encode()
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/config")
        http.get("/v1/namespaces")
    assert len(proxy.exchanges) == 2
    assert "s3.signer.uri" in proxy.observed("leads-past")[0]


@pytest.mark.parametrize(
    ("prefix", "sent"),
    [
        ("my cat", "my%20cat"), ("café", "caf%C3%A9"), ("a%2Fb", "a%2fb"), ("a:b", "a%3Ab"),
        ("p/", "p"), ("a/b", "a/b"), ("~a", "%7Ea"),
    ],
)  # fmt: skip
def test_a_prefix_is_found_however_a_client_encodes_it(
    catalog: ToldCatalog, prefix: str, sent: str
) -> None:
    catalog.answers["GET", "/v1/config"] = config(prefix)
    catalog.answers["GET", f"/v1/{sent}/namespaces"] = 200, JSON, b'{"namespaces": 1}'
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/config")
        http.get(f"/v1/{sent}/namespaces")
    assert list(proxy.failed) == ["schema.listNamespaces.200"]


def test_a_job_whose_paths_are_unknown_is_told_in_the_headline(catalog: ToldCatalog) -> None:
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/config")
        for _ in range(2):
            http.get("/v1/somewhere/else/namespaces")
    assert the_run(proxy).headline.startswith(
        "3 requests passed, most of them of no operation of the document"
    )


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


REPEATED = {
    "a token in the body": ({"authorization": f"Bearer {SECRET}"}, {}, SECRET),
    "a token in a header": (
        {"authorization": f"Bearer {SECRET}"},
        {"www-authenticate": SECRET},
        "",
    ),
    "a key": ({"x-api-key": SECRET}, {}, SECRET),
    "a header of any name": ({"x-anything": SECRET}, {}, SECRET),
    "a password": ({"authorization": "Basic dXNlcjpodW50ZXIyMiE="}, {}, "hunter22!"),
    "a cookie": ({"cookie": f"a=b; session={SECRET}"}, {"x-said": SECRET}, SECRET),
}


@pytest.mark.parametrize("case", REPEATED)
def test_no_secret_of_a_client_is_recorded_where_the_catalog_repeats_it(
    catalog: ToldCatalog, case: str
) -> None:
    sent, headers, words = REPEATED[case]
    body = json.dumps({"error": {"message": f"bad: {words}", "type": "T", "code": 401}}).encode()
    catalog.answer = 401, {**JSON, **headers}, body
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/namespaces", headers=sent)
        catalog.answer = 401, JSON, body  # to somebody else
        http.get("/v1/namespaces")
    told = "".join(map(repr, proxy.exchanges)) + repr(proxy.run)
    assert SECRET not in told
    assert "hunter22!" not in told


@pytest.mark.parametrize(
    "form",
    [
        f"grant_type=client_credentials&client_secret={SECRET}",
        f"grant_type=client_credentials;client_secret={SECRET}",
        json.dumps({"client_secret": SECRET}),
        SECRET,
    ],
)
def test_no_secret_in_a_form_of_any_kind_is_recorded(catalog: ToldCatalog, form: str) -> None:
    said = json.dumps({"error": "invalid_client", "error_description": f"bad {SECRET}"}).encode()
    catalog.answer = 401, JSON, said
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post("/v1/oauth/tokens", content=form)
    assert SECRET not in "".join(map(repr, proxy.exchanges)) + repr(proxy.run)


def test_a_redirection_is_recorded_without_its_query(catalog: ToldCatalog) -> None:
    to = f"https://idp.example/login?code={SECRET}&state={SECRET}#token={SECRET}"
    catalog.answer = 302, {"Location": to}, b""
    with proxied(catalog.url) as proxy, proxy.client() as http:
        assert http.get("/v1/namespaces").headers["location"] == to
    told = "".join(map(repr, proxy.exchanges)) + repr(proxy.run)
    assert SECRET not in told
    assert "https://idp.example/login" in told


def test_ways_past_the_proxy_are_told_in_redirections_and_for_tables(catalog: ToldCatalog) -> None:
    signer = f"{catalog.url}/sign"
    loaded = {**json.loads(answered()[2]), "config": {"s3.signer.uri": signer, "a": "http://b"}}
    catalog.answers["GET", f"{TABLES}/t"] = 200, JSON, json.dumps(loaded).encode()
    catalog.answers["GET", "/v1/namespaces"] = 308, {"Location": "https://else.example/v1?a=b"}, b""
    catalog.answers["GET", TABLES] = 308, {"Location": f"{catalog.url}/x"}, b""
    with proxied(catalog.url) as proxy, proxy.client() as http:
        for path in (f"{TABLES}/t", "/v1/namespaces", TABLES):
            http.get(path)
    told = f"s3.signer.uri {signer}, Location https://else.example/v1"
    assert proxy.observed("leads-past") == [told]


def test_an_encoding_that_is_not_read_is_told(catalog: ToldCatalog) -> None:
    catalog.answer = 200, {**JSON, "Content-Encoding": "br"}, b"\x0b\x02\x80{}\x03"
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/namespaces", headers={"accept-encoding": "br"})
    assert proxy.observed("not-judged") == ["in an encoding that is not read (1)"]
