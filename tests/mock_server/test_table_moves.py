"""Tables renamed, registered and reported about."""

import gzip
import json
from typing import Any

import httpx
import pytest
from tests.mock_server.asking import TABLES, create, error_of, set_property

from icecheck.mock_server import MockCatalog

# Renaming


def rename(http: httpx.Client, source: tuple[str, str], target: tuple[str, str]) -> httpx.Response:
    body = {
        "source": {"namespace": [source[0]], "name": source[1]},
        "destination": {"namespace": [target[0]], "name": target[1]},
    }
    return http.post("/tables/rename", json=body)


def test_a_renamed_table_is_the_same_table(http: httpx.Client, table: str) -> None:
    http.post("/namespaces", json={"namespace": ["other"]})
    before = http.get(table).json()
    renamed = rename(http, ("ns", "t"), ("other", "u"))
    assert (renamed.status_code, renamed.content) == (204, b"")
    assert http.head(table).status_code == 404
    assert http.get("/namespaces/other/tables/u").json() == before


def test_renaming_refuses_what_is_missing_or_in_the_way(http: httpx.Client, table: str) -> None:
    create(http, "u")
    assert error_of(rename(http, ("ns", "no"), ("ns", "x"))) == (404, "NoSuchTableException")
    assert error_of(rename(http, ("ns", "t"), ("no", "x"))) == (404, "NoSuchNamespaceException")
    assert error_of(rename(http, ("ns", "t"), ("ns", "u"))) == (409, "AlreadyExistsException")
    assert rename(http, ("ns", "t"), ("ns", "t")).status_code == 204
    assert http.head(table).status_code == 204


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"source": {"namespace": ["ns"], "name": "t"}},
        {"source": {"namespace": ["ns"], "name": "t"}, "destination": None},
        {"source": {"namespace": ["ns"], "name": "t"}, "destination": {"name": "u"}},
        {"source": {"namespace": ["ns"], "name": "t"}, "destination": {"namespace": ["ns"]}},
        {
            "source": {"namespace": ["ns"], "name": "t"},
            "destination": {"namespace": [], "name": "u"},
        },
    ],
)
def test_a_rename_needs_two_identifiers(http: httpx.Client, table: str, body: object) -> None:
    assert http.post("/tables/rename", json=body).status_code == 400


# Registering


def register(http: httpx.Client, name: str, location: str, **members: Any) -> httpx.Response:
    body = {"name": name, "metadata-location": location, **members}
    return http.post("/namespaces/ns/register", json=body)


def test_a_registered_table_is_what_its_file_says(http: httpx.Client, table: str) -> None:
    before = http.get(table).json()
    http.delete(table)
    registered = register(http, "again", before["metadata-location"])
    assert (registered.status_code, registered.json()) == (200, before)
    committed = set_property(http, "/namespaces/ns/tables/again", k="v").json()
    assert "/00001-" in committed["metadata-location"]


def test_registering_over_a_table_needs_overwrite(http: httpx.Client, table: str) -> None:
    first = http.get(table).json()
    set_property(http, table, k="v")
    location = first["metadata-location"]
    assert error_of(register(http, "t", location)) == (409, "AlreadyExistsException")
    refused = register(http, "t", location, overwrite=False)
    assert error_of(refused) == (409, "AlreadyExistsException")
    replaced = register(http, "t", location, overwrite=True)
    assert (replaced.status_code, replaced.json()) == (200, first)
    assert http.get(table).json() == first


def test_registering_into_a_missing_namespace_is_404(http: httpx.Client, table: str) -> None:
    body = {"name": "r", "metadata-location": "memory://none/00000-a.metadata.json"}
    response = http.post("/namespaces/no/register", json=body)
    assert error_of(response) == (404, "NoSuchNamespaceException")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("00000-a.metadata.json", None),
        ("00000-a.metadata.json", b"{}"),
        ("00000-a.metadata.json", b"not json"),
        ("00000-a.metadata.json", b"\xff\xfe"),
        ("00000-a.gz.metadata.json", b"not gzip"),
        ("00000-a.gz.metadata.json", gzip.compress(b"{}", mtime=0)[:-4]),
        ("table.json", b"{}"),
    ],
)
def test_what_is_no_metadata_file_cannot_be_registered(
    mock: MockCatalog, http: httpx.Client, namespace: str, name: str, content: bytes | None
) -> None:
    location = f"memory://elsewhere/{name}"
    if content is not None:
        mock.files.write(location, content)
    assert register(http, "r", location).status_code == 400
    assert http.head(f"{TABLES}/r").status_code == 404


def test_a_compressed_metadata_file_can_be_registered(
    mock: MockCatalog, http: httpx.Client, table: str
) -> None:
    loaded = http.get(table).json()
    location = "memory://elsewhere/v7.gz.metadata.json"
    mock.files.write(location, gzip.compress(json.dumps(loaded["metadata"]).encode()))
    assert register(http, "r", location).json()["metadata"] == loaded["metadata"]


# Metrics

COUNTER = {"unit": "count", "value": 1}
TIMER = {"time-unit": "nanoseconds", "count": 1, "total-duration": 5}
COMMIT_REPORT = {
    "report-type": "commit-report",
    "table-name": "wh.ns.t",
    "snapshot-id": 1,
    "sequence-number": 1,
    "operation": "append",
    "metrics": {"attempts": COUNTER, "total-duration": TIMER},
    "metadata": {},
}
SCAN_REPORT = {
    "report-type": "scan-report",
    "table-name": "wh.ns.t",
    "snapshot-id": 1,
    "filter": True,
    "schema-id": 0,
    "projected-field-ids": [1],
    "projected-field-names": ["id"],
    "metrics": {},
}


@pytest.mark.parametrize(
    "report", [COMMIT_REPORT, SCAN_REPORT, {**SCAN_REPORT, "report-type": "other"}]
)
def test_a_report_about_a_table_is_accepted(
    http: httpx.Client, table: str, report: dict[str, Any]
) -> None:
    response = http.post(f"{table}/metrics", json=report)
    assert (response.status_code, response.content) == (204, b"")


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"report-type": "scan-report"},
        {"report-type": "other"},
        {**COMMIT_REPORT, "metrics": {"attempts": {"unit": "count"}}},
        {**COMMIT_REPORT, "snapshot-id": "1"},
        {**COMMIT_REPORT, "report-type": "scan-report"},
    ],
)
def test_a_report_that_is_none_is_400_also_for_unknown_tables(
    http: httpx.Client, table: str, report: dict[str, Any]
) -> None:
    assert http.post(f"{table}/metrics", json=report).status_code == 400
    assert http.post("/namespaces/no/tables/t/metrics", json=report).status_code == 400


@pytest.mark.parametrize("path", ["/namespaces/ns/tables/no", "/namespaces/no/tables/t"])
def test_a_report_about_a_missing_table_is_404(http: httpx.Client, table: str, path: str) -> None:
    response = http.post(f"{path}/metrics", json=COMMIT_REPORT)
    assert error_of(response) == (404, "NoSuchTableException")
