"""A plus sign in a path: itself, or the space that Java writes so, where only that is meant."""

import httpx

from tests.mock.asking import create, create_view

JAVA = {"x-client-version": "Apache Iceberg 1.10.2 (commit 57396d6)"}


def test_a_plus_sign_in_a_path_is_a_plus_sign(http: httpx.Client) -> None:
    for name in ("a+b", "a b"):
        http.post("/namespaces", json={"namespace": [name]})
    assert http.get("/namespaces/a+b").json()["namespace"] == ["a+b"]
    assert http.get("/namespaces/a%2Bb").json()["namespace"] == ["a+b"]
    assert http.get("/namespaces/a%20b").json()["namespace"] == ["a b"]


def test_a_plus_sign_means_a_space_where_only_that_exists(http: httpx.Client) -> None:
    http.post("/namespaces", json={"namespace": ["a b", "c d"]})
    assert http.get("/namespaces/a+b%1Fc+d").json()["namespace"] == ["a b", "c d"]
    assert http.head("/namespaces/a%2Bb").status_code == 404


def test_for_a_java_client_a_plus_sign_is_a_space_first(http: httpx.Client) -> None:
    for name in ("a+b", "a b"):
        http.post("/namespaces", json={"namespace": [name]})
    assert http.get("/namespaces/a+b", headers=JAVA).json()["namespace"] == ["a b"]
    assert http.get("/namespaces/a%2Bb", headers=JAVA).json()["namespace"] == ["a+b"]


def test_the_first_of_two_query_values_counts(http: httpx.Client) -> None:
    http.post("/namespaces", json={"namespace": ["a", "b"]})
    listed = http.get("/namespaces?parent=a&parent=no").json()
    assert listed["namespaces"] == [["a", "b"]]


def test_a_java_client_creates_a_table_with_a_space_through_its_commit(
    http: httpx.Client, namespace: str
) -> None:
    commit = {
        "requirements": [{"type": "assert-create"}],
        "updates": [
            {"action": "add-schema", "schema": {"type": "struct", "fields": []}},
            {"action": "set-current-schema", "schema-id": -1},
            {"action": "add-spec", "spec": {"fields": []}},
            {"action": "set-default-spec", "spec-id": -1},
            {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
            {"action": "set-default-sort-order", "sort-order-id": -1},
        ],
    }
    for headers in (JAVA, {}):
        created = http.post(f"/namespaces/{namespace}/tables/a+b", json=commit, headers=headers)
        assert created.status_code == (200 if headers else 409)
    listed = http.get(f"/namespaces/{namespace}/tables").json()["identifiers"]
    assert [each["name"] for each in listed] == ["a b"]


def test_a_plus_in_a_path_finds_the_view_that_is_there(http: httpx.Client, namespace: str) -> None:
    path = f"/namespaces/{namespace}/views/a+b"

    def found(**headers: str) -> object:
        return http.get(path, headers=headers).json()["metadata"]["location"]

    create_view(http, namespace, "a b", location="s3://b/space")
    assert found() == "s3://b/space"
    create_view(http, namespace, "a+b", location="s3://b/plus")
    assert (found(), found(**JAVA)) == ("s3://b/plus", "s3://b/space")


def test_a_table_with_a_plus_does_not_hide_a_view_with_a_space(
    http: httpx.Client, namespace: str
) -> None:
    create_view(http, namespace, "a b")
    create(http, "a+b")
    for kind in ("views", "tables"):
        assert http.head(f"/namespaces/{namespace}/{kind}/a+b").status_code == 204
