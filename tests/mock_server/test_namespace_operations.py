"""Every status of the namespace operations that the mock can be brought to."""

import httpx
import pytest
from tests.mock_server.asking import error_of

from icecheck.mock_server import MockCatalog


def create(http: httpx.Client, *levels: str, **properties: str) -> httpx.Response:
    return http.post("/namespaces", json={"namespace": levels, "properties": properties})


def own_properties(http: httpx.Client, path: str) -> dict[str, str]:
    """The properties of a namespace without the location that the server gave it."""
    properties = http.get(f"/namespaces/{path}").json()["properties"]
    assert properties.pop("location").startswith("memory://root/wh/")
    return dict(properties)


def test_a_created_namespace_is_there_with_its_properties(http: httpx.Client) -> None:
    created = create(http, "a", owner="me")
    assert created.status_code == 200
    properties = {"owner": "me", "location": "memory://root/wh/a"}
    assert created.json() == {"namespace": ["a"], "properties": properties}
    assert http.get("/namespaces/a").json() == created.json()
    assert http.head("/namespaces/a").status_code == 204


def test_a_namespace_can_be_created_with_explicit_null_properties(http: httpx.Client) -> None:
    response = http.post("/namespaces", json={"namespace": ["a"], "properties": None})
    properties = {"location": "memory://root/wh/a"}
    assert response.json() == {"namespace": ["a"], "properties": properties}


def test_creating_a_namespace_twice_is_409(http: httpx.Client) -> None:
    create(http, "a")
    assert error_of(create(http, "a")) == (409, "AlreadyExistsException")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"namespace": []}',
        b'{"namespace": [""]}',
        b'{"namespace": ["a", ""]}',
        b'{"namespace": ["a\\u0000b"]}',
        b'{"namespace": "a"}',
        b'{"namespace": null}',
        b'{"namespace": [null]}',
        b'{"namespace": ["a"], "properties": {"k": 1}}',
        b'{"namespace": ["a"], "properties": {"k": null}}',
        b'{"namespace": ["a"], "properties": []}',
        b'{"namespace": ["\xff"]}',
        b'{"namespace": ["\\ud800"]}',
        b'{"namespace": ["a"], "properties": NaN}',
        b'{"namespace":' + b"[" * 200_000,
    ],
)
def test_a_body_that_is_not_a_create_request_is_400(http: httpx.Client, body: bytes) -> None:
    assert error_of(http.post("/namespaces", content=body)) == (400, "BadRequestException")
    assert http.get("/namespaces").json()["namespaces"] == []


def test_unknown_members_are_accepted(http: httpx.Client) -> None:
    body = b'{"namespace": ["a"], "later": {"x": 1}}'
    assert http.post("/namespaces", content=body).status_code == 200


def test_missing_ancestors_come_into_being_with_their_descendant(http: httpx.Client) -> None:
    create(http, "a", "b", "c")
    assert http.get("/namespaces/a%1Fb").json()["namespace"] == ["a", "b"]
    assert own_properties(http, "a%1Fb") == {}
    assert error_of(create(http, "a")) == (409, "AlreadyExistsException")


def test_only_the_top_level_is_listed_without_parent(http: httpx.Client) -> None:
    create(http, "b")
    create(http, "a", "x")
    expected = {"namespaces": [["a"], ["b"]], "next-page-token": None}
    assert http.get("/namespaces").json() == expected
    assert http.get("/namespaces?parent=").json() == expected


def test_direct_children_are_listed_under_their_parent(http: httpx.Client) -> None:
    for levels in (("a", "x"), ("a", "x", "deep"), ("a", "x!"), ("a", "y"), ("ab", "z")):
        create(http, *levels)
    listed = http.get("/namespaces", params={"parent": "a"}).json()["namespaces"]
    assert listed == [["a", "x"], ["a", "x!"], ["a", "y"]]
    below = http.get("/namespaces", params={"parent": "a\x1fx"}).json()["namespaces"]
    assert below == [["a", "x", "deep"]]


def test_listing_under_an_unknown_parent_is_404(http: httpx.Client) -> None:
    assert error_of(http.get("/namespaces?parent=no")) == (404, "NoSuchNamespaceException")


def test_an_unknown_namespace_is_404_everywhere(http: httpx.Client) -> None:
    missing = (404, "NoSuchNamespaceException")
    assert error_of(http.get("/namespaces/no")) == missing
    assert error_of(http.delete("/namespaces/no")) == missing
    assert error_of(http.post("/namespaces/no/properties", json={})) == missing
    head = http.head("/namespaces/no")
    assert (head.status_code, head.content) == (404, b"")


def test_a_dropped_namespace_is_gone(http: httpx.Client) -> None:
    create(http, "a")
    dropped = http.delete("/namespaces/a")
    assert (dropped.status_code, dropped.content) == (204, b"")
    assert http.head("/namespaces/a").status_code == 404


def test_a_namespace_with_children_cannot_be_dropped(http: httpx.Client) -> None:
    create(http, "a", "b")
    assert error_of(http.delete("/namespaces/a")) == (409, "NamespaceNotEmptyException")
    assert http.delete("/namespaces/a%1Fb").status_code == 204
    assert http.delete("/namespaces/a").status_code == 204


def test_a_namespace_with_tables_cannot_be_dropped(http: httpx.Client, table: str) -> None:
    assert error_of(http.delete("/namespaces/ns")) == (409, "NamespaceNotEmptyException")
    http.delete(table)
    assert http.delete("/namespaces/ns").status_code == 204


def test_properties_are_set_removed_and_reported(http: httpx.Client) -> None:
    create(http, "a", keep="1", change="1", drop="1")
    body = {"removals": ["drop", "absent"], "updates": {"change": "2", "new": "3"}}
    response = http.post("/namespaces/a/properties", json=body)
    assert response.json() == {
        "updated": ["change", "new"],
        "removed": ["drop"],
        "missing": ["absent"],
    }
    assert own_properties(http, "a") == {"keep": "1", "change": "2", "new": "3"}


@pytest.mark.parametrize("body", [{}, {"removals": None, "updates": None}])
def test_an_update_of_nothing_answers_three_empty_lists(http: httpx.Client, body: object) -> None:
    create(http, "a", keep="1")
    response = http.post("/namespaces/a/properties", json=body)
    assert response.json() == {"updated": [], "removed": [], "missing": []}
    assert own_properties(http, "a") == {"keep": "1"}


def test_a_key_both_set_and_removed_is_422_before_anything_else(http: httpx.Client) -> None:
    create(http, "a", k="1")
    body = {"removals": ["k"], "updates": {"k": "2"}}
    refused = (422, "UnprocessableEntityException")
    assert error_of(http.post("/namespaces/a/properties", json=body)) == refused
    assert error_of(http.post("/namespaces/no/properties", json=body)) == refused
    assert own_properties(http, "a") == {"k": "1"}


def test_a_key_removed_twice_is_400(http: httpx.Client) -> None:
    create(http, "a", k="1")
    refused = http.post("/namespaces/a/properties", json={"removals": ["k", "k"]})
    assert error_of(refused) == (400, "BadRequestException")
    assert own_properties(http, "a") == {"k": "1"}


def test_updating_properties_keeps_the_tables(http: httpx.Client, table: str) -> None:
    http.post("/namespaces/ns/properties", json={"updates": {"k": "v"}})
    assert http.head(table).status_code == 204


def test_warehouses_do_not_see_each_other(mock: MockCatalog) -> None:
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as client:
        for warehouse in ("one", "two"):
            client.get("/v1/config", params={"warehouse": warehouse})
        client.post("/v1/one/namespaces", json={"namespace": ["a"]})
        assert client.head("/v1/one/namespaces/a").status_code == 204
        assert client.head("/v1/two/namespaces/a").status_code == 404
