"""Commits to a view: what counts as a change, and whose registries are asked."""

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
OTHER_UUID = "99999999-2222-4333-8444-555555555555"
BAD_REQUEST = (400, "BadRequestException")


def set_properties(**updates: str) -> Json:
    return {"action": "set-properties", "updates": updates}


def remove_properties(*removals: str) -> Json:
    return {"action": "remove-properties", "removals": removals}


def set_location(location: str) -> Json:
    return {"action": "set-location", "location": location}


def test_the_views_updates_and_assertions_are_those_of_the_contract() -> None:
    assert set(VIEW_UPDATES) == set(CONTRACT.view_updates)
    assert {*UPDATES, *VIEW_UPDATES} == {*CONTRACT.table_updates, *CONTRACT.view_updates}
    assert set(VIEW_ASSERTIONS) == set(CONTRACT.view_assertions)


@pytest.mark.parametrize(
    "updates",
    [
        [],
        [set_properties()],
        [remove_properties()],
        [{"action": "upgrade-format-version", "format-version": 1}],
        [{"action": "set-current-view-version", "view-version-id": 1}],
    ],
)
def test_a_commit_without_effect_answers_the_present_version(
    http: httpx.Client, view: str, commit: Respond, updates: list[Json]
) -> None:
    before = http.get(view).json()
    committed = commit(view, *updates)
    assert (committed.status_code, committed.json()) == (200, before)
    assert http.get(view).json() == before


def test_what_is_there_already_is_no_change(http: httpx.Client, view: str, commit: Respond) -> None:
    before = http.get(view).json()
    metadata = before["metadata"]
    updates = [
        {"action": "assign-uuid", "uuid": metadata["view-uuid"].upper()},
        set_location(metadata["location"]),
        {"action": "add-schema", "schema": {**metadata["schemas"][0], "schema-id": 9}},
        {"action": "add-view-version",
         "view-version": {**metadata["versions"][0], "version-id": 9, "timestamp-ms": 9}},
    ]  # fmt: skip
    assert commit(view, *updates).json() == before


def test_equal_properties_and_unknown_keys_are_a_change_all_the_same(
    http: httpx.Client, view: str, commit: Respond
) -> None:
    updates = (set_properties(k="v"), set_properties(k="v"), remove_properties("unknown"))
    locations = {commit(view, update).json()["metadata-location"] for update in updates}
    assert len({http.get(view).json()["metadata-location"], *locations}) == 3


def test_a_servers_registries_decide_what_its_view_commits_do(
    mock: MockCatalog, view: str, table: str, commit: Respond, http: httpx.Client
) -> None:
    mock.registries.view_updates["set-properties"] = lambda _update, _draft: None
    mock.registries.view_assertions["assert-view-uuid"] = lambda _assertion, _metadata: None
    unchanged = commit(view, set_properties(k="v"), uuid=OTHER_UUID)
    assert "properties" not in unchanged.json()["metadata"]
    body = {"requirements": [], "updates": [set_properties(k="v")]}
    assert http.post(table, json=body).json()["metadata"]["properties"]["k"] == "v"
