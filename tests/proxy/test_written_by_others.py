"""The content of tables and views is held against a catalog only where nobody else wrote it."""

import json
from typing import Any

import pytest

from tests.proxy.started import proxied
from tests.proxy.test_judging import JSON, SCHEMA, answered, rename
from tests.proxy.told_catalog import ToldCatalog

TABLES = "/v1/namespaces/db/tables"
TABLE = f"{TABLES}/t"
CREATION = {"name": "t", "schema": SCHEMA}
WRONG = {"k": 1}
COMMIT = {
    "requirements": [],
    "updates": [{"action": "set-properties", "updates": {"a": "b"}}],
}
LOST = 504, {"content-type": "text/html"}, b"<html>"


def log(*files: str) -> list[dict[str, Any]]:
    """Return a log of metadata files."""
    return [{"metadata-file": file, "timestamp-ms": 1} for file in files]


@pytest.mark.parametrize(
    "shown",
    [
        answered(**{"table-uuid": "00000000-0000-4000-8000-000000000001"}, properties=WRONG),
        answered("s3://b/2.json", properties=WRONG),
        answered(**{"last-updated-ms": 2}, properties=WRONG),
    ],
    ids=["another table", "another file", "a later time"],
)
def test_what_a_client_elsewhere_wrote_is_observed(catalog: ToldCatalog, shown: Any) -> None:
    catalog.answers["POST", TABLES] = answered()
    catalog.answers["GET", TABLE] = shown
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post(TABLES, json=CREATION)
        http.get(TABLE)
    assert proxy.failed == {}
    assert len(proxy.observed("older-metadata")) == 1


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/namespaces/db/register", {"name": "t", "metadata-location": "s3://b/9"}),
        ("POST", "/v1/tables/rename", rename("old", "t")),
        ("POST", TABLE, {"updates": [{"action": "set-properties", "updates": {"k": 1}}]}),
    ],
)
def test_what_may_have_happened_though_its_answer_was_lost_is_observed(
    catalog: ToldCatalog, method: str, path: str, body: Any
) -> None:
    catalog.answers["POST", TABLES] = answered()
    catalog.answers[method, path] = LOST
    catalog.answers["GET", TABLE] = answered("s3://b/9", properties=WRONG)
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post(TABLES, json=CREATION)
        http.request(method, path, json=body)
        http.get(TABLE)
    assert proxy.failed == {}


@pytest.mark.parametrize(
    ("before", "blamed"), [("s3://b/m.json", True), ("s3://b/of-others.json", False), ("", False)]
)
def test_a_commit_is_held_against_the_catalog_if_it_follows_what_is_known(
    catalog: ToldCatalog, before: str, blamed: bool
) -> None:
    files = [before] if before else []
    catalog.answers["POST", TABLES] = answered()
    committed = answered("s3://b/2.json", properties=WRONG, **{"metadata-log": log(*files)})
    catalog.answers["POST", TABLE] = catalog.answers["GET", TABLE] = committed
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post(TABLES, json=CREATION)
        http.post(TABLE, json=COMMIT)
        http.get(TABLE)
    checks = {"schema.updateTable.200", "schema.loadTable.200"}
    assert set(proxy.failed) == (checks if blamed else set())


def test_a_staged_table_is_known_from_the_commit_that_made_it(catalog: ToldCatalog) -> None:
    catalog.answers["POST", TABLE] = answered()
    catalog.answers["GET", TABLE] = answered(properties=WRONG)
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post(TABLE, json={**COMMIT, "requirements": [{"type": "assert-create"}]})
        http.get(TABLE)
    assert list(proxy.failed) == ["schema.loadTable.200"]


def test_an_improper_request_excuses_the_content_alone(catalog: ToldCatalog) -> None:
    catalog.answers["POST", TABLES] = answered()
    catalog.answers["POST", TABLE] = answered("s3://b/2.json", properties=WRONG)
    improper = {"requirements": [], "updates": {"k": 1}}
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post(TABLES, json=CREATION)
        http.post(TABLE, json=improper)
        catalog.answers["GET", TABLE] = 404, JSON, b'{"oops": 1}'
        http.get(TABLE)
        catalog.answers["GET", TABLE] = 200, JSON, b'{"metadata-location": 7}'
        http.get(TABLE)
    assert set(proxy.failed) == {"schema.loadTable.404", "schema.loadTable.200"}
    assert proxy.observed("not-judged") == ["of a request that the document does not allow (1)"]


TWICE = b'{"identifiers": [], "identifiers": []}'


@pytest.mark.parametrize(
    ("path", "status", "body", "failed"),
    [
        (TABLES, 200, TWICE, "http.json-members-once"),
        (f"{TABLES}/old", 404, b'{"error": {"code": 404, "code": 404}}', "http.json-members-once"),
        (f"{TABLES}/old", 200, b"\xef\xbb\xbf" + answered()[2], "http.json-in-utf-8"),
    ],
)
def test_a_form_of_text_that_only_the_catalog_gives_is_judged(
    catalog: ToldCatalog, path: str, status: int, body: bytes, failed: str
) -> None:
    catalog.answers["GET", "/v1/config"] = 200, JSON, b'{"defaults": {}, "overrides": {}}'
    catalog.answers["GET", path] = status, JSON, body
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.get("/v1/config")
        http.get(path)
    assert failed in proxy.failed


@pytest.mark.parametrize("asked", ["tinyint", "int"])
def test_what_was_asked_for_against_a_strict_reading_is_given_back(
    catalog: ToldCatalog, asked: str
) -> None:
    field = {"id": 1, "name": "a", "type": "tinyint", "required": False}
    schema = {"type": "struct", "schema-id": 0, "fields": [field]}
    catalog.answers["POST", TABLES] = answered(schemas=[schema])
    catalog.answers["GET", TABLE] = answered(schemas=[schema])
    sent = {"type": "struct", "fields": [{**field, "type": asked}]}
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post(TABLES, json={"name": "t", "schema": sent})
        http.get(TABLE)
    checks = {"schema.createTable.200.reading", "schema.loadTable.200.reading"}
    assert set(proxy.failed) == (set() if asked == "tinyint" else checks)


def test_properties_of_a_namespace_are_judged_where_it_is_created(catalog: ToldCatalog) -> None:
    shown = json.dumps({"namespace": ["db"], "properties": WRONG}).encode()
    catalog.answers["POST", "/v1/namespaces"] = 200, JSON, shown
    catalog.answers["GET", "/v1/namespaces/db"] = 200, JSON, shown
    with proxied(catalog.url) as proxy, proxy.client() as http:
        http.post("/v1/namespaces", json={"namespace": ["db"], "properties": {"k": "v"}})
        http.get("/v1/namespaces/db")
    assert list(proxy.failed) == ["schema.createNamespace.200"]
