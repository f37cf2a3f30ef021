"""Answers that break the document are named by their requirement, and nothing else is blamed."""

import base64
import gzip
import json
from typing import Any

import httpx
import pytest

from icecheck.contract import Level
from icecheck.findings.verdict import Run
from icecheck.mock_server import MockCatalog, OAuth2Settings, VendingSettings
from icecheck.mock_server.security.settings import Client
from icecheck.proxy.watching import CHECK
from icecheck.reports import run_json
from tests.proxy.started import Proxied, proxied
from tests.proxy.told_catalog import ToldCatalog

SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "a", "type": "long", "required": False}]}
TABLES = "/v1/wh/namespaces/db/tables"


def work(http: httpx.Client) -> None:
    """Send what a small job sends, whatever is answered."""
    http.get("/v1/config?warehouse=wh")
    http.post("/v1/wh/namespaces", json={"namespace": ["db"]})
    http.post("/v1/wh/namespaces", json={"namespace": ["db"]})
    http.get("/v1/wh/namespaces/missing")
    http.get("/v1/wh/namespaces")
    http.post(TABLES, json={"name": "t", "schema": SCHEMA})
    http.get(f"{TABLES}/t")
    http.get(f"{TABLES}/missing")
    http.get(TABLES)
    update = {"action": "set-properties", "updates": {"k": "v"}}
    http.post(f"{TABLES}/t", json={"requirements": [], "updates": [update]})
    http.post("/v1/wh/namespaces/db/properties", json={"updates": {"k": "v"}})
    renamed = {
        "source": {"namespace": ["db"], "name": "t"},
        "destination": {"namespace": ["db"], "name": "u"},
    }
    http.post("/v1/wh/tables/rename", json=renamed)
    http.get(f"{TABLES}/u")
    http.delete(f"{TABLES}/u")


def passed(mock: MockCatalog, *defects: str) -> Proxied:
    """Return the ended proxy of a job on a mock."""
    mock.defects.switch_on(*defects)
    with mock, proxied(mock.uri) as proxy, proxy.client() as http:
        work(http)
    return proxy


def the_run(proxy: Proxied) -> Run:
    assert proxy.run is not None
    return proxy.run


def test_a_faithful_catalog_is_not_blamed() -> None:
    proxy = passed(MockCatalog(warehouses=["wh"]))
    run = the_run(proxy)
    assert proxy.failed == {}
    assert proxy.observed("client-sent") == []
    assert (run.status, run.exit_code) == ("no-verdict", 0)
    assert run.headline.startswith("14 requests passed; nothing is wrong")
    assert len([v for v in run.verdicts if v.passive]) > 15
    assert run_json.problems_of(run_json.render(run)) == []


@pytest.mark.parametrize(
    ("defect", "requirement"),
    [
        ("error-code-500", "error.code-equals-status"),
        ("error-page", "loadTable.404"),
        ("bare-error-loadTable.404", "loadTable.404"),
        ("bare-error-createNamespace.409", "createNamespace.409"),
        ("mistypes-getConfig-defaults", "getConfig.200"),
        ("lacks-createNamespace-namespace", "createNamespace.200"),
        ("lacks-createTable-metadata.table-uuid", "createTable.200"),
        ("mistypes-loadTable-metadata", "loadTable.200"),
        ("lacks-listTables-identifiers.name", "listTables.200"),
        ("lacks-updateTable-metadata-location", "updateTable.200"),
        ("lacks-updateProperties-updated", "updateProperties.200"),
        ("json-utf-16", "http.json-in-utf-8"),
    ],
)
def test_a_defect_is_named_by_its_requirement(defect: str, requirement: str) -> None:
    proxy = passed(MockCatalog(warehouses=["wh"]), defect)
    run = the_run(proxy)
    required = [v for v in run.verdicts if v.check in proxy.failed and v.level is Level.MUST]
    assert requirement in {r for v in required for r in v.requirements}
    assert run.status == "not-conformant"
    assert run.exit_code == 1
    assert run.causes
    assert all(v.evidence and v.evidence[0].curl for v in required)


def test_what_clients_send_is_told_apart_from_what_the_catalog_answers() -> None:
    with MockCatalog(warehouses=["wh"]) as mock, proxied(mock.uri) as proxy, proxy.client() as http:
        http.get("/v1/config?warehouse=wh")
        http.headers["x-client-version"] = "Some Client 1.2"
        http.post("/v1/wh/namespaces", json={"namespace": "db"})
        http.post("/v1/wh/namespaces", json={"namespace": "db2"})
    assert proxy.failed == {}
    (told,) = proxy.observed("client-sent")
    assert told.startswith("createNamespace, body /namespace: ")
    assert "2 requests" in told
    (note,) = [each for each in the_run(proxy).observations if each["id"] == "client-sent"]
    assert "Some Client 1.2" in note["question"]
    assert note["spec_says"].startswith("L")
    assert the_run(proxy).exit_code == 0


JSON = {"content-type": "application/json"}
METADATA = {
    "format-version": 2,
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "location": "s3://b/t",
    "last-updated-ms": 1,
    "last-column-id": 1,
    "schemas": [{**SCHEMA, "schema-id": 0}],
    "current-schema-id": 0,
    "partition-specs": [{"spec-id": 0, "fields": []}],
    "default-spec-id": 0,
    "last-partition-id": 999,
    "sort-orders": [{"order-id": 0, "fields": []}],
    "default-sort-order-id": 0,
    "last-sequence-number": 0,
}


def answered(file: str = "s3://b/m.json", **members: Any) -> tuple[int, dict[str, str], bytes]:
    """Return an answer to a load of a metadata file with these members in it."""
    loaded = {"metadata-location": file, "metadata": {**METADATA, **members}}
    return 200, JSON, json.dumps(loaded).encode()


@pytest.mark.parametrize(
    ("properties", "blamed"), [({"k": "v"}, ["schema.loadTable.200"]), ({"k": 1}, [])]
)
def test_what_a_client_wrote_wrongly_is_not_the_catalogs_fault(
    catalog: ToldCatalog, properties: dict[str, Any], blamed: list[str]
) -> None:
    """A lenient catalog takes what the document does not allow, and gives it back."""
    path = "/v1/namespaces/db/tables"
    catalog.answers["POST", path] = answered()
    catalog.answers["GET", f"{path}/t"] = answered(properties={"k": 1})
    catalog.answers["GET", f"{path}/renamed"] = answered(properties={"k": 1})
    catalog.answers["POST", "/v1/tables/rename"] = 204, {}, b""
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post(path, json={"name": "t", "schema": SCHEMA, "properties": properties})
        http.get(f"{path}/t")
        assert http.post("/v1/tables/rename", json=rename("t", "renamed")).status_code == 204
        http.get(f"{path}/renamed")
    assert list(proxy.failed) == blamed
    assert len(proxy.observed("client-sent")) == (not blamed)


def rename(source: str, destination: str) -> dict[str, Any]:
    """Return the body of a rename within one namespace."""
    names = {"source": source, "destination": destination}
    return {which: {"namespace": ["db"], "name": name} for which, name in names.items()}


def test_a_compressed_request_is_read(catalog: ToldCatalog) -> None:
    catalog.answers["POST", "/v1/namespaces"] = 200, JSON, b'{"namespace": "a"}'
    sent = gzip.compress(b'{"namespace": ["a"]}')
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post("/v1/namespaces", content=sent, headers=headers)
    assert [each.body for each in catalog.came] == [sent]
    assert list(proxy.failed) == ["schema.createNamespace.200"], "the request was proper"
    assert proxy.observed("client-sent") == []


def test_metadata_that_was_there_before_is_observed_and_not_judged(catalog: ToldCatalog) -> None:
    path = "/v1/namespaces/db/tables"
    catalog.answers["GET", f"{path}/old"] = answered(properties={"k": 1})
    catalog.answers["POST", "/v1/namespaces/db/register"] = answered(properties={"k": 1})
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get(f"{path}/old")
        registered = {"name": "r", "metadata-location": "s3://b/m.json"}
        http.post("/v1/namespaces/db/register", json=registered)
    assert proxy.failed == {}
    assert proxy.observed("older-metadata") == [
        'schema.loadTable.200 at /metadata/properties/k: 1 is not of type "string"',
        'schema.registerTable.200 at /metadata/properties/k: 1 is not of type "string"',
    ]
    catalog.answers["GET", f"{path}/old"] = 200, JSON, b'{"metadata-location": 7}'
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get(f"{path}/old")
    assert list(proxy.failed) == ["schema.loadTable.200"], "what is not in the metadata is judged"


def test_server_errors_are_counted_and_pages_of_gateways_not_judged(catalog: ToldCatalog) -> None:
    page = {"content-type": "text/html"}
    with proxied(catalog.url) as proxy, proxy.client() as http:
        for status in (500, 502, 503, 504, 429):
            catalog.answer = status, page, b"<html>"
            http.get("/v1/namespaces")
    assert proxy.failed == {}
    (told,) = proxy.observed("server-errors")
    assert told.split(", ") == [f"listNamespaces {status} (1)" for status in (500, 502, 503, 504)]


def test_what_is_not_served_is_not_blamed_for_its_router(catalog: ToldCatalog) -> None:
    catalog.answer = 404, {"content-type": "text/plain"}, b"no such route"
    claimed = {"defaults": {}, "overrides": {}, "endpoints": ["GET /v1/{prefix}/namespaces"]}
    catalog.answers["GET", "/v1/config"] = 200, JSON, json.dumps(claimed).encode()
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/config")
        http.get("/v1/namespaces/db/views")
        http.get("/v1/nothing/of/the/document")
    assert proxy.failed == {}
    assert proxy.observed("not-judged") == ["of no operation of the document (1)"]


def test_a_second_warehouse_has_its_own_routes() -> None:
    with (
        MockCatalog(warehouses=["wh", "other"]) as mock,
        proxied(mock.uri) as proxy,
        proxy.client() as http,
    ):
        for warehouse in ("wh", "other"):
            prefix = http.get(f"/v1/config?warehouse={warehouse}").json()["overrides"]["prefix"]
            http.get(f"/v1/{prefix}/namespaces").raise_for_status()
    assert [each.operation for each in proxy.exchanges] == ["getConfig", "listNamespaces"] * 2


def test_nothing_that_is_recorded_or_told_has_a_secret() -> None:
    secret = "S3CRET-of-the-client"
    oauth2 = OAuth2Settings(clients=(Client("spark", secret),))
    vending = VendingSettings(storage="s3")
    with (
        MockCatalog(oauth2=oauth2, vending=vending, warehouses=["wh"]) as mock,
        proxied(mock.uri) as proxy,
        proxy.client() as http,
    ):
        form = {"grant_type": "client_credentials", "client_id": "spark",
                "client_secret": secret, "scope": "catalog"}  # fmt: skip
        token = http.post("/v1/oauth/tokens", data=form).json()["access_token"]
        http.get("/v1/config", headers={"authorization": "Bearer unknown-token-of-somebody"})
        http.get("/v1/config", auth=("somebody", "password-of-somebody"))
        http.get("/v1/config", headers={"cookie": "session=of-somebody-else"})
        http.headers["authorization"] = f"Bearer {token}"
        work(http)
        delegated = {"x-iceberg-access-delegation": "vended-credentials"}
        http.post(TABLES, json={"name": "v", "schema": SCHEMA}).raise_for_status()
        vended = http.get(f"{TABLES}/v", headers=delegated).json()["storage-credentials"][0]
    assert proxy.failed == {}
    secrets = [secret, token, "unknown-token-of-somebody", "password-of-somebody"]
    secrets += ["of-somebody-else", base64.b64encode(b"somebody:password-of-somebody").decode()]
    secrets += [vended["config"][n] for n in ("s3.secret-access-key", "s3.session-token")]
    told = run_json.render(the_run(proxy)) + "".join(map(repr, proxy.exchanges))
    assert [each for each in secrets if each in told] == []
    assert {each.check for each in proxy.exchanges} == {CHECK}
