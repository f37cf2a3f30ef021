"""Paths are routed undecoded and decoded once; names may contain nearly anything."""

from urllib.parse import quote

import httpx
import pytest

ODD_NAMES = [
    "a/b",
    "a b",
    "a+b",
    "a%2Fb",
    "ü名",
    ".",
    "..",
    "a.b",
    "tables",
    "namespaces/x/tables",
    '"quoted"',
    "#?&=;",
    "a\tb",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_survives_the_round_trip_through_a_path(http: httpx.Client, name: str) -> None:
    http.post("/namespaces", json={"namespace": ["outer", name]})
    # The client must not normalise dot segments away, so every dot is escaped too.
    path = "outer%1F" + quote(name, safe="").replace(".", "%2E")
    assert http.get(f"/namespaces/{path}").json()["namespace"] == ["outer", name]
    listed = http.get("/namespaces", params={"parent": "outer"}).json()["namespaces"]
    assert listed == [["outer", name]]


@pytest.mark.parametrize("separator", ["%1F", "%1f"])
def test_levels_are_separated_in_either_spelling(http: httpx.Client, separator: str) -> None:
    http.post("/namespaces", json={"namespace": ["a", "b"]})
    assert http.head(f"/namespaces/a{separator}b").status_code == 204


def test_a_slash_in_a_name_does_not_reach_another_operation(http: httpx.Client, table: str) -> None:
    assert http.get("/namespaces/ns%2Ftables%2Ft").json()["error"]["type"] == (
        "NoSuchNamespaceException"
    )
    assert http.get("/namespaces/ns/tables%2Ft").status_code == 404


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
    java = {"x-client-version": "Apache Iceberg 1.10.2 (commit 57396d6)"}
    assert http.get("/namespaces/a+b", headers=java).json()["namespace"] == ["a b"]
    assert http.get("/namespaces/a%2Bb", headers=java).json()["namespace"] == ["a+b"]


@pytest.mark.parametrize("path", ["%FF", "%C3%28", "a%1F", "a%1F%1Fb", "%00", "%zz", "%2"])
def test_a_segment_that_is_no_name_is_400(http: httpx.Client, path: str) -> None:
    target = httpx.URL("http://mock").copy_with(raw_path=b"/v1/wh/namespaces/" + path.encode())
    response = http.get(target)
    assert (response.status_code, response.json()["error"]["code"]) == (400, 400)


def test_the_first_of_two_query_values_counts(http: httpx.Client) -> None:
    http.post("/namespaces", json={"namespace": ["a", "b"]})
    listed = http.get("/namespaces?parent=a&parent=no").json()
    assert listed["namespaces"] == [["a", "b"]]


@pytest.mark.parametrize("query", ["parent=%FF", "parent=%C3%28", "parent=%zz"])
def test_a_query_that_is_not_utf8_is_400(http: httpx.Client, query: str) -> None:
    assert http.get(f"http://mock/v1/wh/namespaces?{query}").status_code == 400


@pytest.mark.parametrize(
    "path",
    ["/", "/v1", "/v1/", "/v2/wh/namespaces", "/v1/wh", "/v1/wh/", "/v1/wh/nope",
     "/v1/other/namespaces", "/v1/wh/namespaces/", "/v1/wh/namespaces//tables",
     "/v1/wh//namespaces", "//v1/wh/namespaces", "/v1/wh/namespaces/a/tables/t/x",
     "/v1/wh/NAMESPACES"],
)  # fmt: skip
def test_an_unknown_path_is_404_with_an_error_body(http: httpx.Client, path: str) -> None:
    response = http.get(httpx.URL("http://mock").copy_with(raw_path=path.encode()))
    assert response.status_code == 404
    assert response.json()["error"]["code"] == 404


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/namespaces", "GET, POST"),
        ("PATCH", "/namespaces/a", "DELETE, GET, HEAD"),
        ("OPTIONS", "/tables/rename", "POST"),
        ("DELETE", "/namespaces/a/tables", "GET, POST"),
    ],
)
def test_a_method_that_a_path_does_not_take_is_405(
    http: httpx.Client, method: str, path: str, allow: str
) -> None:
    response = http.request(method, path)
    assert response.status_code == 405
    assert response.headers["allow"] == allow
    assert response.json()["error"]["code"] == 405


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
    java = {"x-client-version": "Apache Iceberg 1.10.2 (commit 57396d6)"}
    for headers in (java, {}):
        created = http.post(f"/namespaces/{namespace}/tables/a+b", json=commit, headers=headers)
        assert created.status_code == (200 if headers else 409)
    listed = http.get(f"/namespaces/{namespace}/tables").json()["identifiers"]
    assert [each["name"] for each in listed] == ["a b"]
