"""Tables: created, staged, listed, loaded, dropped."""

from typing import Any

import httpx
import pytest
from tests.mock_server.asking import SCHEMA, TABLES, create, error_of, set_property

from icecheck.mock_server import MockCatalog


def test_a_created_table_can_be_loaded(http: httpx.Client, namespace: str) -> None:
    created = create(http, "t", properties={"k": "v"})
    assert created.status_code == 200
    body = created.json()
    assert body["metadata"]["properties"]["k"] == "v"
    assert body["metadata-location"].startswith(body["metadata"]["location"] + "/metadata/00000-")
    assert http.get(f"{TABLES}/t").json() == body
    assert http.head(f"{TABLES}/t").status_code == 204


def test_a_java_client_may_send_every_optional_member_as_null(
    http: httpx.Client, namespace: str
) -> None:
    nulls = {"location": None, "partition-spec": None, "write-order": None}
    assert create(http, "t", **nulls, properties={}, **{"stage-create": False}).status_code == 200


def test_a_table_keeps_the_location_it_asks_for(http: httpx.Client, namespace: str) -> None:
    created = create(http, "t", location="s3://bucket/somewhere/").json()
    assert created["metadata"]["location"] == "s3://bucket/somewhere"
    assert created["metadata-location"].startswith("s3://bucket/somewhere/metadata/")


def test_a_table_created_again_has_another_location(http: httpx.Client, table: str) -> None:
    first = http.get(table).json()["metadata"]["location"]
    http.delete(table)
    assert create(http, "t").json()["metadata"]["location"] != first


def test_creating_a_table_twice_is_409(http: httpx.Client, table: str) -> None:
    before = http.get(table).content
    assert error_of(create(http, "t")) == (409, "AlreadyExistsException")
    staged = create(http, "t", **{"stage-create": True})
    assert error_of(staged) == (409, "AlreadyExistsException")
    assert http.get(table).content == before


def test_creating_in_a_missing_namespace_is_404(http: httpx.Client) -> None:
    for staged in (False, True):
        response = create(http, "t", **{"stage-create": staged})
        assert error_of(response) == (404, "NoSuchNamespaceException")


@pytest.mark.parametrize("path", ["ns", "no"])
def test_an_invalid_create_is_400_before_the_names_are_looked_at(
    http: httpx.Client, table: str, path: str
) -> None:
    spec = {"fields": [{"name": "p", "transform": "identity", "source-id": 99}]}
    body = {"name": "t", "schema": SCHEMA, "partition-spec": spec}
    response = http.post(f"/namespaces/{path}/tables", json=body)
    assert response.status_code == 400


@pytest.mark.parametrize("name", ["", "a\0b", None, 1])
def test_a_table_needs_a_name(http: httpx.Client, namespace: str, name: object) -> None:
    response = http.post(TABLES, json={"name": name, "schema": SCHEMA})
    assert response.status_code == 400


def test_staging_creates_nothing_but_metadata(http: httpx.Client, namespace: str) -> None:
    staged = create(http, "t", **{"stage-create": True})
    assert staged.status_code == 200
    assert "metadata-location" not in staged.json()
    assert "etag" not in staged.headers
    assert http.head(f"{TABLES}/t").status_code == 404
    assert http.get(TABLES).json()["identifiers"] == []


def create_commit(metadata: dict[str, Any]) -> dict[str, Any]:
    updates = [
        {"action": "assign-uuid", "uuid": metadata["table-uuid"]},
        {"action": "upgrade-format-version", "format-version": 2},
        {"action": "add-schema", "schema": metadata["schemas"][0]},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": metadata["partition-specs"][0]},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": metadata["sort-orders"][0]},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": metadata["location"]},
    ]
    return {"requirements": [{"type": "assert-create"}], "updates": updates}


def test_a_staged_table_is_created_by_its_commit(http: httpx.Client, namespace: str) -> None:
    staged = create(http, "t", **{"stage-create": True}).json()["metadata"]
    committed = http.post(f"{TABLES}/t", json=create_commit(staged))
    assert committed.status_code == 200
    metadata = http.get(f"{TABLES}/t").json()["metadata"]
    assert metadata["table-uuid"] == staged["table-uuid"]
    assert metadata["location"] == staged["location"]


def test_the_second_commit_that_creates_a_table_is_409(http: httpx.Client, namespace: str) -> None:
    staged = create(http, "t", **{"stage-create": True}).json()["metadata"]
    assert http.post(f"{TABLES}/t", json=create_commit(staged)).status_code == 200
    again = http.post(f"{TABLES}/t", json=create_commit(staged))
    assert error_of(again) == (409, "CommitFailedException")


def test_a_commit_that_creates_needs_its_namespace(http: httpx.Client, namespace: str) -> None:
    staged = create(http, "t", **{"stage-create": True}).json()["metadata"]
    response = http.post("/namespaces/no/tables/t", json=create_commit(staged))
    assert error_of(response) == (404, "NoSuchNamespaceException")


def test_a_commit_without_a_location_gets_the_default_one(
    http: httpx.Client, namespace: str
) -> None:
    staged = create(http, "t", **{"stage-create": True}).json()["metadata"]
    commit = create_commit(staged)
    commit["updates"].pop()
    created = http.post(f"{TABLES}/t", json=commit)
    assert created.status_code == 200
    assert created.json()["metadata"]["location"].startswith("memory://root/wh/ns/t-")


def test_tables_of_one_namespace_are_listed_by_name(http: httpx.Client, namespace: str) -> None:
    for name in ("b", "a", "ü"):
        create(http, name)
    http.post("/namespaces", json={"namespace": ["ns", "inner"]})
    assert http.get(TABLES).json() == {
        "identifiers": [{"namespace": ["ns"], "name": name} for name in ("a", "b", "ü")],
        "next-page-token": None,
    }
    assert error_of(http.get("/namespaces/no/tables")) == (404, "NoSuchNamespaceException")


@pytest.mark.parametrize("path", ["/namespaces/ns/tables/no", "/namespaces/no/tables/t"])
def test_a_missing_table_is_no_such_table_whatever_is_missing(
    http: httpx.Client, namespace: str, path: str
) -> None:
    missing = (404, "NoSuchTableException")
    assert error_of(http.get(path)) == missing
    assert error_of(http.delete(path)) == missing
    assert error_of(set_property(http, path, k="v")) == missing
    head = http.head(path)
    assert (head.status_code, head.content) == (404, b"")


def test_a_dropped_table_is_gone_and_its_files_stay(
    mock: MockCatalog, http: httpx.Client, table: str
) -> None:
    location = http.get(table).json()["metadata-location"]
    dropped = http.delete(table, params={"purgeRequested": "False"})
    assert (dropped.status_code, dropped.content) == (204, b"")
    assert http.head(table).status_code == 404
    assert mock.files.read(location)


def test_a_purged_table_takes_its_metadata_files_with_it(
    mock: MockCatalog, http: httpx.Client, table: str
) -> None:
    locations = [http.get(table).json()["metadata-location"]]
    locations.append(set_property(http, table, k="v").json()["metadata-location"])
    assert http.delete(table, params={"purgeRequested": "TRUE"}).status_code == 204
    for location in locations:
        with pytest.raises(FileNotFoundError):
            mock.files.read(location)


def test_a_purge_flag_that_is_no_boolean_is_400(http: httpx.Client, table: str) -> None:
    assert http.delete(table, params={"purgeRequested": "yes"}).status_code == 400
    assert http.head(table).status_code == 204
