"""Tables and views share one name space, and each operation looks only at its own kind."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

VIEWS, TABLES = "/namespaces/ns/views", "/namespaces/ns/tables"
SCHEMA = {
    "type": "struct",
    "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}],
}
VIEW_TAKEN = (409, "AlreadyExistsException", "View with same name already exists: ns.v")
TABLE_TAKEN = (409, "AlreadyExistsException", "Table with same name already exists: ns.t")

Json = dict[str, Any]
Respond = Callable[..., httpx.Response]
Refusal = Callable[[httpx.Response], tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _nothing_changes_where_something_is_refused(http: httpx.Client, view: str, table: str) -> Any:
    """A view `v` and a table `t` are there, and after every test still are what they were."""
    before = http.get(view).json(), http.get(table).json()
    yield
    assert (http.get(view).json(), http.get(table).json()) == before
    assert [each["name"] for each in http.get(VIEWS).json()["identifiers"]] == ["v"]
    assert [each["name"] for each in http.get(TABLES).json()["identifiers"]] == ["t"]


@pytest.mark.parametrize("staged", [False, True])
def test_a_table_is_not_created_over_a_view(
    http: httpx.Client, refusal: Refusal, staged: bool
) -> None:
    body = {"name": "v", "schema": SCHEMA, "stage-create": staged}
    assert refusal(http.post(TABLES, json=body)) == VIEW_TAKEN


def test_a_view_is_not_created_over_a_table(create: Respond, refusal: Refusal) -> None:
    assert refusal(create("t")) == TABLE_TAKEN


def create_commit(metadata: Json) -> Json:
    return {
        "requirements": [{"type": "assert-create"}],
        "updates": [
            {"action": "assign-uuid", "uuid": metadata["table-uuid"]},
            {"action": "upgrade-format-version", "format-version": 2},
            {"action": "add-schema", "schema": metadata["schemas"][0]},
            {"action": "set-current-schema", "schema-id": -1},
            {"action": "add-spec", "spec": {"fields": []}},
            {"action": "set-default-spec", "spec-id": -1},
            {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
            {"action": "set-default-sort-order", "sort-order-id": -1},
            {"action": "set-location", "location": metadata["location"]},
        ],
    }


def test_a_staged_table_is_not_committed_over_a_view_that_came_between(
    http: httpx.Client, create: Respond, refusal: Refusal
) -> None:
    staged = http.post(TABLES, json={"name": "x", "schema": SCHEMA, "stage-create": True}).json()
    view = create("x").json()
    commit = create_commit(staged["metadata"])
    taken = (409, "AlreadyExistsException", "View with same name already exists: ns.x")
    assert refusal(http.post(f"{TABLES}/x", json=commit)) == taken
    change = {"identifier": {"namespace": ["ns"], "name": "x"}, **commit}
    assert refusal(http.post("/transactions/commit", json={"table-changes": [change]})) == taken
    assert http.get(f"{VIEWS}/x").json() == view
    http.delete(f"{VIEWS}/x")
    assert http.post(f"{TABLES}/x", json=commit).status_code == 200
    http.delete(f"{TABLES}/x")


@pytest.mark.parametrize("overwrite", [False, True, None])
def test_a_table_is_not_registered_over_a_view(
    http: httpx.Client, table: str, refusal: Refusal, overwrite: bool | None
) -> None:
    location = http.get(table).json()["metadata-location"]
    body = {"name": "v", "metadata-location": location, "overwrite": overwrite}
    assert refusal(http.post("/namespaces/ns/register", json=body)) == VIEW_TAKEN


def rename(http: httpx.Client, kind: str, source: str, target: str) -> httpx.Response:
    return http.post(
        f"/{kind}/rename",
        json={
            "source": {"namespace": ["ns"], "name": source},
            "destination": {"namespace": ["ns"], "name": target},
        },
    )


def test_nothing_is_renamed_onto_the_other_kind(http: httpx.Client, refusal: Refusal) -> None:
    type_ = "AlreadyExistsException"
    onto_view = "Cannot rename ns.t to ns.v. View already exists"
    onto_table = "Cannot rename ns.v to ns.t. Table already exists"
    assert refusal(rename(http, "tables", "t", "v")) == (409, type_, onto_view)
    assert refusal(rename(http, "views", "v", "t")) == (409, type_, onto_table)


def test_a_rename_looks_for_its_own_kind(http: httpx.Client, refusal: Refusal) -> None:
    assert refusal(rename(http, "tables", "v", "x"))[:2] == (404, "NoSuchTableException")
    assert refusal(rename(http, "views", "t", "x"))[:2] == (404, "NoSuchViewException")
    assert refusal(rename(http, "tables", "v", "v"))[:2] == (404, "NoSuchTableException")
    assert refusal(rename(http, "views", "t", "t"))[:2] == (404, "NoSuchViewException")


@pytest.mark.parametrize("method", ["GET", "DELETE", "POST", "HEAD"])
def test_loads_commits_drops_and_existence_look_only_at_their_own_kind(
    http: httpx.Client, refusal: Refusal, method: str
) -> None:
    body = {"requirements": [], "updates": []} if method == "POST" else None
    no_table = http.request(method, f"{TABLES}/v", json=body)
    no_view = http.request(method, f"{VIEWS}/t", json=body)
    if method == "HEAD":
        assert (no_table.status_code, no_view.status_code) == (404, 404)
    else:
        table = (404, "NoSuchTableException", "Table does not exist: ns.v")
        assert refusal(no_table) == table
        assert refusal(no_view) == (404, "NoSuchViewException", "View does not exist: ns.t")


def test_a_report_about_a_view_is_about_no_table(http: httpx.Client, refusal: Refusal) -> None:
    report = {
        "report-type": "commit-report", "table-name": "v", "snapshot-id": 1,
        "sequence-number": 1, "operation": "append", "metrics": {},
    }  # fmt: skip
    refused = http.post(f"{TABLES}/v/metrics", json=report)
    assert refusal(refused)[:2] == (404, "NoSuchTableException")


def test_a_namespace_with_views_is_not_dropped(
    http: httpx.Client, view: str, view_body: Callable[..., Json], refusal: Refusal
) -> None:
    http.post("/namespaces", json={"namespace": ["only_views"]})
    views = "/namespaces/only_views/views"
    assert http.post(views, json=view_body("w")).status_code == 200
    not_empty = (409, "NamespaceNotEmptyException", "Namespace only_views is not empty.")
    assert refusal(http.delete("/namespaces/only_views")) == not_empty
    assert http.delete(f"{views}/w").status_code == 204
    assert http.delete("/namespaces/only_views").status_code == 204


def test_a_name_is_free_again_for_either_kind(
    http: httpx.Client, create: Respond, view_body: Callable[..., Json]
) -> None:
    assert create("x").status_code == 200
    assert http.delete(f"{VIEWS}/x").status_code == 204
    assert http.post(TABLES, json={"name": "x", "schema": SCHEMA}).status_code == 200
    assert http.delete(f"{TABLES}/x").status_code == 204
    assert create("x").status_code == 200
    assert http.delete(f"{VIEWS}/x").status_code == 204


def test_properties_of_a_namespace_change_and_its_views_stay(http: httpx.Client) -> None:
    body = {"updates": {"k": "v"}}
    assert http.post("/namespaces/ns/properties", json=body).status_code == 200
