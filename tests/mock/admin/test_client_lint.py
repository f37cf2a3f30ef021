"""What a client sent that the document forbids is named; what is allowed is not."""

import gzip
import sys
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.linting import client_lint
from tests.mock.admin.conftest import COMMIT, SCHEMA, TABLE

FIELDS = {"type": "struct", "fields": [{"id": 1, "name": "a", "required": True}]}


@pytest.mark.parametrize(
    ("method", "path", "sent", "operation", "place", "words"),
    [
        ("GET", "/v1/wh/namespaces?pageSize=many", {}, "listNamespaces", "query pageSize",
         "integer"),
        ("GET", f"{TABLE}?snapshots=some", {}, "loadTable", "query snapshots", "one of"),
        ("POST", "/v1/wh/namespaces", {"json": {"namespace": "x"}}, "createNamespace",
         "body /namespace", "array"),
        ("POST", TABLE, {"json": {"updates": []}}, "updateTable", "body",
         "'requirements' is missing"),
        ("POST", TABLE, {"json": {"requirements": [], "updates": [{"action": "set-properties"}]}},
         "updateTable", "body /updates/*", "'updates' is missing"),
        ("POST", "/v1/wh/namespaces/db/tables", {"json": {"name": "u", "schema": FIELDS}},
         "createTable", "body /schema/fields/*", "'type' is missing"),
        ("GET", TABLE, {"headers": {"authorization": "Bearer None"}}, "", "header Authorization",
         "None"),
    ],
)  # fmt: skip
def test_what_is_forbidden_is_named_with_its_place(
    mock: MockCatalog, http: httpx.Client, method: str, path: str, sent: dict[str, Any],
    operation: str, place: str, words: str,
) -> None:  # fmt: skip
    http.headers["user-agent"] = "careless/1"
    for _ in range(2):
        http.request(method, path, **sent)
    (found,) = mock.violations()
    assert (found.client, found.operation, found.place) == ("careless/1", operation, place)
    assert words in found.words
    assert found.requests == 2
    assert (found.lines != "") == (operation != "")


def test_what_is_allowed_is_not_named(
    mock: MockCatalog, http: httpx.Client, admin: httpx.Client
) -> None:
    http.get("/v1/config", params={"warehouse": "wh"})
    http.get("/v1/wh/namespaces", params={"pageToken": "", "pageSize": 5, "parent": "db"})
    http.post("/v1/wh/namespaces", json={"namespace": ["a", "b"], "properties": {"k": "v"}})
    http.post("/v1/wh/namespaces/db/tables", json={"name": "u", "schema": SCHEMA})
    http.get(TABLE, params={"snapshots": "refs"}, headers={"authorization": "Bearer t0ken"})
    http.post(TABLE, json=COMMIT)
    http.delete("/v1/wh/namespaces/db/tables/u", params={"purgeRequested": "true"})
    http.get("/v1/nowhere?pageSize=many")
    http.post("/v1/oauth/tokens", data={"grant_type": "client_credentials", "scope": "catalog",
                                        "client_id": "a", "client_secret": "b"})  # fmt: skip
    assert mock.violations() == ()
    assert admin.get("/violations").json() == {"violations": []}


NAME = "x-iceberg-access-delegation"
BOTH = "vended-credentials,remote-signing"


@pytest.mark.parametrize("lines", [[BOTH], [BOTH.replace(",", ", ")], [BOTH.replace(",", " \t,\t")],
                                   BOTH.split(",")])  # fmt: skip
def test_the_elements_of_a_list_may_stand_apart(
    mock: MockCatalog, http: httpx.Client, lines: list[str]
) -> None:
    http.get(TABLE, headers=[(NAME, line) for line in lines])
    assert mock.violations() == ()


@pytest.mark.parametrize("value", ["vended credentials", f"{BOTH}, other", f"{BOTH};", "a b, c"])
def test_an_element_that_is_none_of_a_list_is_named(
    mock: MockCatalog, http: httpx.Client, value: str
) -> None:
    http.get(TABLE, headers={NAME: value})
    assert {each.place.partition(" /")[0] for each in mock.violations()} == {
        "header X-Iceberg-Access-Delegation"
    }


def test_no_value_that_was_sent_is_repeated(mock: MockCatalog, http: httpx.Client) -> None:
    secret = "s3cret-value"
    body = {"namespace": ["db"], "properties": {"s3.secret-access-key": [secret]}}
    http.post("/v1/wh/namespaces", json=body)
    http.get(f"/v1/wh/namespaces?pageSize={secret}")
    http.get(f"{TABLE}?snapshots={secret}")
    http.post(TABLE, json={"requirements": [], "updates": [{"action": secret}]})
    assert len(mock.violations()) == 4
    assert secret not in repr(mock.violations())


@pytest.mark.parametrize("body", [b"\xff\xfe", b"[" * 3000 + b"]" * 3000, b'{"namespace":'])
def test_a_body_that_cannot_be_read_stops_nothing(
    mock: MockCatalog, http: httpx.Client, body: bytes
) -> None:
    headers = {"content-type": "application/json"}
    http.post("/v1/wh/namespaces", content=body, headers=headers)
    http.get("/v1/wh/namespaces?pageSize=many")
    assert [each.operation for each in mock.violations()] == ["createNamespace", "listNamespaces"]


def test_pyiceberg_sends_a_token_that_is_none(mock: MockCatalog, admin: httpx.Client) -> None:
    mock.pyiceberg("wh").list_namespaces()
    (found,) = admin.get("/violations").json()["violations"]
    assert (found["place"], found["requests"]) == ("header Authorization", 2)
    assert found["client"].startswith("PyIceberg")


def test_without_its_library_it_says_what_to_install(
    mock: MockCatalog, http: httpx.Client, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    http.get(TABLE)
    client_lint._validators.cache_clear()
    monkeypatch.setitem(sys.modules, "openapi_core.validation.request.validators", None)
    answer = admin.get("/violations")
    assert answer.status_code == 409
    assert "[suite]" in answer.json()["error"]["message"]


JSON = {"content-type": "application/json"}


def test_a_compressed_body_is_read(mock: MockCatalog, http: httpx.Client) -> None:
    headers = {**JSON, "content-encoding": "gzip"}
    http.post("/v1/wh/namespaces", content=gzip.compress(b'{"namespace": ["z"]}'), headers=headers)
    http.post("/v1/wh/namespaces", content=gzip.compress(b'{"namespace": "z"}'), headers=headers)
    assert [each.place for each in mock.violations()] == ["body /namespace"]


@pytest.mark.parametrize("coding", ["br", "gzip, gzip", "gzip"])
def test_a_body_in_an_unknown_coding_is_not_judged(
    mock: MockCatalog, http: httpx.Client, coding: str
) -> None:
    headers = {**JSON, "content-encoding": coding}
    http.post("/v1/wh/namespaces", content=b"\x0b\x02\x80{}\x03", headers=headers)
    assert mock.violations() == ()


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/v1/wh/namespaces", b'{"namespace": ["z"], "namespace": ["y"]}', "twice"),
        (
            f"{TABLE}/metrics",
            (
                b'{"report-type": "scan-report", "table-name": "t", "snapshot-id": 1,'
                b' "filter": true, "schema-id": 0, "projected-field-ids": [],'
                b' "projected-field-names": [], "metrics": {}, "metadata": {}, "x": NaN}'
            ),
            "NaN",
        ),
    ],
)
def test_text_that_does_not_travel_is_named(
    mock: MockCatalog, http: httpx.Client, path: str, body: bytes, words: str
) -> None:
    http.post(path, content=body, headers=JSON)
    (found,) = mock.violations()
    assert (found.place, words in found.words) == ("body", True)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (TABLE, {"requirements": [{"type": "assert-future"}], "updates": []}),
        ("/v1/wh/transactions/commit", {"table-changes": [{"requirements": [], "updates": []}]}),
        (f"{TABLE}/plan", {"snapshot-id": 1, "start-snapshot-id": 1, "end-snapshot-id": 2}),
    ],
)
def test_what_only_the_prose_forbids_is_named_too(
    mock: MockCatalog, http: httpx.Client, path: str, body: dict[str, Any]
) -> None:
    http.post(path, json=body)
    assert len(mock.violations()) == 1


def test_many_of_a_kind_are_one(mock: MockCatalog, http: httpx.Client) -> None:
    wrong = {f"k{number}": number for number in range(70)}
    http.post("/v1/wh/namespaces", json={"namespace": ["z"], "properties": wrong})
    fields = [{"id": number, "name": "a", "required": True} for number in range(70)]
    schema = {"type": "struct", "fields": fields}
    http.post("/v1/wh/namespaces/db/tables", json={"name": "u", "schema": schema})
    assert [each.place for each in mock.violations()] == [
        "body /properties/*",
        "body /schema/fields/*",
    ]
