"""Commits to a view: whose registries are asked, and what the Java library is not asked about.

Other commits are compared with its view engine, in test_view_spark.py.
"""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.commits.assertions import VIEW_ASSERTIONS
from icecheck.mock_server.updates import UPDATES, VIEW_UPDATES
from tests.kit.contracts import CONTRACT

Json = dict[str, Any]
Respond = Callable[..., httpx.Response]
Refusal = Callable[[httpx.Response], tuple[int, str, str]]
Body = Callable[..., Json]
OTHER_UUID = "99999999-2222-4333-8444-555555555555"
BAD_REQUEST = (400, "BadRequestException")
NOW_MS = 1_700_000_000_000
CREATED_MS = NOW_MS - 5000
SET: Json = {"action": "set-properties", "updates": {"k": "v"}}


def add_version(version: Json) -> Json:
    return {"action": "add-view-version", "view-version": version}


def set_current(version_id: int = -1) -> Json:
    return {"action": "set-current-view-version", "view-version-id": version_id}


def accepted(response: httpx.Response) -> Json:
    assert response.status_code == 200, response.text
    metadata: Json = response.json()["metadata"]
    return metadata


@pytest.fixture
def replace(view: str, version: Body, commit: Respond) -> Respond:
    """Add a version that is the `number`th of its kind and make it current, as Spark does."""

    def replace(number: int, **members: Any) -> httpx.Response:
        sent = {"summary": {"number": str(number)}, "schema_id": 0, "timestamp_ms": number}
        added = add_version(version(**{**sent, **members}))
        return commit(view, added, set_current())

    return replace


def test_when_ids_run_out_a_version_is_refused(replace: Respond, refusal: Refusal) -> None:
    accepted(replace(1, version_id=2**31 - 1))
    assert refusal(replace(2))[:2] == BAD_REQUEST


def test_a_version_that_was_there_comes_back_at_the_servers_time(
    view: str, replace: Respond, commit: Respond
) -> None:
    accepted(replace(1))
    metadata = accepted(commit(view, set_current(1)))
    assert metadata["current-version-id"] == 1
    log = [(entry["version-id"], entry["timestamp-ms"]) for entry in metadata["version-log"]]
    assert log == [(1, CREATED_MS), (2, 1), (1, NOW_MS)]


def test_of_racing_replacements_none_is_lost(mock: MockCatalog, view: str, version: Body) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def replace(number: int) -> int:
        transport = mock.httpx_transport()
        with httpx.Client(transport=transport, base_url="http://mock/v1/wh") as client:
            sent = version(schema_id=0, summary={"number": str(number)})
            body = {"updates": [add_version(sent), set_current()]}
            return int(client.post(view, json=body).json()["metadata"]["current-version-id"])

    with ThreadPoolExecutor(4) as pool:
        given = list(pool.map(replace, range(40)))
    assert sorted(given) == list(range(2, 42))


def test_a_version_needs_a_query(replace: Respond, refusal: Refusal) -> None:
    assert refusal(replace(1, representations=[]))[:2] == BAD_REQUEST


def test_the_views_updates_and_assertions_are_those_of_the_contract() -> None:
    assert set(VIEW_UPDATES) == set(CONTRACT.view_updates)
    assert {*UPDATES, *VIEW_UPDATES} == {*CONTRACT.table_updates, *CONTRACT.view_updates}
    assert set(VIEW_ASSERTIONS) == set(CONTRACT.view_assertions)


def test_a_servers_registries_decide_what_its_view_commits_do(
    mock: MockCatalog, view: str, table: str, commit: Respond, http: httpx.Client
) -> None:
    mock.registries.view_updates["set-properties"] = lambda _update, _draft: None
    mock.registries.view_assertions["assert-view-uuid"] = lambda _assertion, _metadata: None
    unchanged = commit(view, SET, uuid=OTHER_UUID)
    assert "properties" not in unchanged.json()["metadata"]
    body = {"requirements": [], "updates": [SET]}
    assert http.post(table, json=body).json()["metadata"]["properties"]["k"] == "v"
