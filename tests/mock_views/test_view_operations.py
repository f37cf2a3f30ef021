"""Views loaded, dropped, listed and renamed: statuses, types, and what comes of it."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog

VIEWS = "/namespaces/ns/views"
NO_VIEW = (404, "NoSuchViewException", "View does not exist: ns.no")
NO_NAMESPACE = (404, "NoSuchNamespaceException", "Namespace does not exist: no")

Respond = Callable[..., httpx.Response]
Refusal = Callable[[httpx.Response], tuple[int, str, str]]
Body = Callable[..., dict[str, Any]]


# Loading, existence, dropping


def test_a_loaded_view_is_the_created_one(create: Respond, http: httpx.Client) -> None:
    created = create()
    loaded = http.get(f"{VIEWS}/v")
    assert (loaded.status_code, loaded.json()) == (200, created.json())
    assert loaded.headers["content-type"] == "application/json"


def test_a_view_exists_until_it_is_dropped(http: httpx.Client, view: str) -> None:
    found = http.head(view)
    assert (found.status_code, found.content) == (204, b"")
    dropped = http.delete(view)
    assert (dropped.status_code, dropped.content) == (204, b"")
    gone = http.head(view)
    assert (gone.status_code, gone.content) == (404, b"")


def test_a_dropped_view_is_gone(
    http: httpx.Client, view: str, create: Respond, refusal: Refusal
) -> None:
    before = http.get(view).json()["metadata"]["view-uuid"]
    http.delete(view)
    gone = (404, "NoSuchViewException", "View does not exist: ns.v")
    assert refusal(http.get(view)) == gone
    assert refusal(http.delete(view)) == gone
    assert http.get(VIEWS).json()["identifiers"] == []
    assert create().json()["metadata"]["view-uuid"] != before


def test_dropping_a_view_leaves_its_files_alone(
    mock: MockCatalog, http: httpx.Client, view: str
) -> None:
    loaded = http.get(view).json()
    http.delete(view)
    assert json.loads(mock.files.read(loaded["metadata-location"])) == loaded["metadata"]


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize("namespace", ["ns", "missing"])
def test_what_is_no_view_is_404_also_in_missing_namespaces(
    http: httpx.Client, refusal: Refusal, method: str, namespace: str
) -> None:
    body = {"updates": []} if method == "POST" else None
    refused = refusal(http.request(method, f"/namespaces/{namespace}/views/no", json=body))
    assert refused == (404, "NoSuchViewException", f"View does not exist: {namespace}.no")
    assert http.head(f"/namespaces/{namespace}/views/no").status_code == 404


# Listing


def names_in(response: httpx.Response) -> list[str]:
    assert response.status_code == 200
    assert {tuple(each["namespace"]) for each in response.json()["identifiers"]} <= {("ns",)}
    return [each["name"] for each in response.json()["identifiers"]]


def test_views_are_listed_by_name_and_tables_are_not_among_them(
    http: httpx.Client, create: Respond, table: str
) -> None:
    for name in ("b", "a", "é"):
        create(name)
    listed = http.get(VIEWS)
    assert names_in(listed) == ["a", "b", "é"]
    assert listed.json()["next-page-token"] is None
    assert names_in(http.get("/namespaces/ns/tables")) == ["t"]


def test_the_views_of_a_missing_namespace_cannot_be_listed(
    http: httpx.Client, refusal: Refusal
) -> None:
    assert refusal(http.get("/namespaces/no/views")) == NO_NAMESPACE


def test_views_are_listed_in_pages(http: httpx.Client, create: Respond) -> None:
    for number in range(5):
        create(f"v{number}")
    assert len(names_in(http.get(VIEWS, params={"pageSize": "2"}))) == 5
    token, pages = "", []
    while token is not None:
        page = http.get(VIEWS, params={"pageToken": token, "pageSize": "2"})
        pages.append(names_in(page))
        token = page.json()["next-page-token"]
        assert token != ""
        http.delete(f"{VIEWS}/v0")
        create("v00")
    assert pages == [["v0", "v1"], ["v2", "v3"], ["v4"]]


def test_a_token_of_one_listing_is_no_token_of_the_other(
    http: httpx.Client, create: Respond, table: str, refusal: Refusal
) -> None:
    create("a"), create("b")
    page = http.get(VIEWS, params={"pageToken": "", "pageSize": "1"}).json()
    params = {"pageToken": page["next-page-token"]}
    assert names_in(http.get(VIEWS, params=params)) == ["b"]
    assert refusal(http.get("/namespaces/ns/tables", params=params))[0] == 400


@pytest.mark.parametrize("params", [{"pageSize": "0"}, {"pageSize": "x"}, {"pageToken": "bad"}])
def test_bad_paging_is_refused(
    http: httpx.Client, refusal: Refusal, params: dict[str, str]
) -> None:
    assert refusal(http.get(VIEWS, params=params))[:2] == (400, "BadRequestException")


# Renaming


def rename(
    http: httpx.Client, source: str, target: str, target_namespace: str = "ns"
) -> httpx.Response:
    body = {
        "source": {"namespace": ["ns"], "name": source},
        "destination": {"namespace": [target_namespace], "name": target},
    }
    return http.post("/views/rename", json=body)


def test_a_renamed_view_is_the_same_view(http: httpx.Client, view: str) -> None:
    http.post("/namespaces", json={"namespace": ["other"]})
    before = http.get(view).json()
    renamed = rename(http, "v", "w", "other")
    assert (renamed.status_code, renamed.content) == (204, b"")
    assert http.head(view).status_code == 404
    assert http.get("/namespaces/other/views/w").json() == before


def test_renaming_refuses_what_is_missing_or_in_the_way(
    http: httpx.Client, view: str, create: Respond, refusal: Refusal
) -> None:
    create("w")
    assert refusal(rename(http, "no", "x")) == NO_VIEW
    assert refusal(rename(http, "v", "x", "no")) == NO_NAMESPACE
    assert refusal(rename(http, "no", "x", "no")) == NO_NAMESPACE
    assert refusal(rename(http, "no", "no")) == NO_VIEW
    in_the_way = "Cannot rename ns.v to ns.w. View already exists"
    assert refusal(rename(http, "v", "w")) == (409, "AlreadyExistsException", in_the_way)
    assert rename(http, "v", "v").status_code == 204
    assert names_in(http.get(VIEWS)) == ["v", "w"]


SOURCE = {"namespace": ["ns"], "name": "v"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"source": SOURCE},
        {"source": SOURCE, "destination": None},
        {"source": SOURCE, "destination": {"name": "u"}},
        {"source": SOURCE, "destination": {"namespace": ["ns"]}},
        {"source": SOURCE, "destination": {"namespace": [], "name": "u"}},
        {"source": SOURCE, "destination": {"namespace": ["ns"], "name": ""}},
    ],
)
def test_a_rename_needs_two_identifiers(
    http: httpx.Client, view: str, refusal: Refusal, body: object
) -> None:
    assert refusal(http.post("/views/rename", json=body))[:2] == (400, "BadRequestException")
    assert http.head(view).status_code == 204


# Serving


def test_what_is_served_is_announced(http: httpx.Client) -> None:
    announced = set(http.get("http://mock/v1/config?warehouse=wh").json()["endpoints"])
    assert {each for each in announced if "view" in each} == {
        "GET /v1/{prefix}/namespaces/{namespace}/views",
        "POST /v1/{prefix}/namespaces/{namespace}/views",
        "GET /v1/{prefix}/namespaces/{namespace}/views/{view}",
        "POST /v1/{prefix}/namespaces/{namespace}/views/{view}",
        "DELETE /v1/{prefix}/namespaces/{namespace}/views/{view}",
        "HEAD /v1/{prefix}/namespaces/{namespace}/views/{view}",
        "POST /v1/{prefix}/views/rename",
    }


@pytest.mark.parametrize(
    "name", ["a b", "a+b", "a/b", "a%b", "é", "a.b", "views", "rename", "a\x1fb"]
)
def test_any_name_comes_back(http: httpx.Client, create: Respond, name: str) -> None:
    from urllib.parse import quote

    create(name)
    assert names_in(http.get(VIEWS)) == [name]
    assert http.get(f"{VIEWS}/{quote(name, safe='')}").status_code == 200


def test_a_plus_in_a_path_finds_the_view_that_is_there(http: httpx.Client, create: Respond) -> None:
    create("a b", location="s3://b/space")
    found = http.get(f"{VIEWS}/a+b").json()["metadata"]
    assert found["location"] == "s3://b/space"
    create("a+b", location="s3://b/plus")
    assert http.get(f"{VIEWS}/a+b").json()["metadata"]["location"] == "s3://b/plus"
    java = {"x-client-version": "Apache Iceberg 1.10.2"}
    found = http.get(f"{VIEWS}/a+b", headers=java).json()["metadata"]
    assert found["location"] == "s3://b/space"


def test_a_table_with_a_plus_does_not_hide_a_view_with_a_space(
    http: httpx.Client, create: Respond
) -> None:
    create("a b")
    body = {"name": "a+b", "schema": {"type": "struct", "fields": []}}
    assert http.post("/namespaces/ns/tables", json=body).status_code == 200
    assert http.head(f"{VIEWS}/a+b").status_code == 204
    assert http.head("/namespaces/ns/tables/a+b").status_code == 204


def test_equal_requests_to_equal_servers_give_equal_bytes(
    serving_views: Callable[[MockCatalog], MockCatalog], view_body: Body
) -> None:
    answers = []
    for _ in range(2):
        mock = serving_views(MockCatalog(seed=3, clock=5, root="memory://root"))
        with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1") as client:
            client.post("/namespaces", json={"namespace": ["ns"]})
            answers.append(client.post(VIEWS, json=view_body()).content)
    assert answers[0] == answers[1]
