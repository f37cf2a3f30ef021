"""Commits to a view: requirements, the eight updates, what counts as a change, what is refused."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.contracts import CONTRACT

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.commits.assertions import VIEW_ASSERTIONS
from icecheck.mock_server.updates import UPDATES, VIEW_UPDATES

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


# Requirements


def test_a_commit_asserts_the_uuid_in_any_case(
    http: httpx.Client, view: str, commit: Respond
) -> None:
    uuid = http.get(view).json()["metadata"]["view-uuid"]
    for number, written in enumerate((uuid, uuid.upper())):
        committed = commit(view, set_properties(k=str(number)), uuid=written)
        assert committed.json()["metadata"]["properties"] == {"k": str(number)}


def test_another_uuid_is_refused_and_nothing_changes(
    http: httpx.Client, view: str, commit: Respond, refusal: Refusal
) -> None:
    before = http.get(view).json()
    uuid = before["metadata"]["view-uuid"]
    refused = refusal(commit(view, set_properties(k="v"), uuid=OTHER_UUID))
    assert refused == (
        409,
        "CommitFailedException",
        f"Requirement failed: view UUID does not match: expected {uuid} != {OTHER_UUID}",
    )
    assert http.get(view).json() == before


@pytest.mark.parametrize("requirements", [[], None])
def test_a_commit_may_require_nothing(http: httpx.Client, view: str, requirements: Any) -> None:
    body = {"requirements": requirements, "updates": [set_properties(k="v")]}
    assert http.post(view, json=body).status_code == 200


@pytest.mark.parametrize(
    "requirement",
    [
        {"type": "assert-create"},
        {"type": "assert-table-uuid", "uuid": OTHER_UUID},
        {"type": "assert-current-schema-id", "current-schema-id": 0},
        {"type": "assert-banana"},
        {"type": "assert-view-uuid"},
        {"type": "assert-view-uuid", "uuid": None},
        {"uuid": OTHER_UUID},
        {},
        None,
    ],
)
def test_what_is_no_requirement_of_a_view_is_refused(
    http: httpx.Client, view: str, refusal: Refusal, requirement: Any
) -> None:
    body = {"requirements": [requirement], "updates": [set_properties(k="v")]}
    assert refusal(http.post(view, json=body))[:2] == BAD_REQUEST
    assert "properties" not in http.get(view).json()["metadata"]


def test_a_table_cannot_assert_a_views_uuid(
    http: httpx.Client, table: str, refusal: Refusal
) -> None:
    requirement = {"type": "assert-view-uuid", "uuid": OTHER_UUID}
    body = {"requirements": [requirement], "updates": []}
    assert refusal(http.post(table, json=body))[:2] == BAD_REQUEST


def test_refusals_come_in_order(
    http: httpx.Client, view: str, commit: Respond, refusal: Refusal
) -> None:
    """Malformed, then missing, then a failing requirement, then an invalid update."""
    missing = "/namespaces/ns/views/no"
    malformed = {"action": "set-location"}
    invalid = set_location("")
    assert refusal(commit(missing, malformed, uuid=OTHER_UUID))[0] == 400
    assert refusal(commit(missing, invalid, uuid=OTHER_UUID))[0] == 404
    assert refusal(commit(view, invalid, uuid=OTHER_UUID))[0] == 409
    assert refusal(commit(view, invalid))[0] == 400


# Changes


def test_an_effective_commit_writes_the_next_file(
    mock: MockCatalog, http: httpx.Client, view: str, commit: Respond
) -> None:
    first = http.get(view).json()
    second = commit(view, set_properties(k="v"))
    assert second.status_code == 200
    location = first["metadata"]["location"]
    assert second.json()["metadata-location"].startswith(f"{location}/metadata/00001-")
    for loaded in (first, second.json()):
        assert json.loads(mock.files.read(loaded["metadata-location"])) == loaded["metadata"]
    assert http.get(view).json() == second.json()


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


def test_an_unsound_list_of_updates_changes_nothing(
    http: httpx.Client, view: str, commit: Respond, refusal: Refusal
) -> None:
    before = http.get(view).json()
    refused = commit(view, set_properties(k="v"), set_location("s3://b/x"), set_location(""))
    assert refusal(refused)[:2] == BAD_REQUEST
    assert http.get(view).json() == before


def test_the_path_names_the_view_and_an_identifier_in_the_body_does_not(
    http: httpx.Client, view: str
) -> None:
    identifier = {"namespace": ["elsewhere"], "name": "other"}
    body = {"identifier": identifier, "updates": [set_properties(k="v")]}
    assert http.post(view, json=body).json()["metadata"]["properties"] == {"k": "v"}


# Updates that tables have too


def test_properties_are_merged_and_removed(view: str, commit: Respond) -> None:
    commit(view, set_properties(a="1", b="2"))
    merged = commit(view, set_properties(b="3"), remove_properties("a", "unknown"))
    assert merged.json()["metadata"]["properties"] == {"b": "3"}
    emptied = commit(view, remove_properties("b"))
    assert "properties" not in emptied.json()["metadata"]


def test_equal_properties_and_unknown_keys_are_a_change_all_the_same(
    http: httpx.Client, view: str, commit: Respond
) -> None:
    updates = (set_properties(k="v"), set_properties(k="v"), remove_properties("unknown"))
    locations = {commit(view, update).json()["metadata-location"] for update in updates}
    assert len({http.get(view).json()["metadata-location"], *locations}) == 3


def test_a_view_moves_and_later_files_go_there(view: str, commit: Respond) -> None:
    moved = commit(view, set_location("s3://bucket/new/")).json()
    assert moved["metadata"]["location"] == "s3://bucket/new/"
    assert moved["metadata-location"].startswith("s3://bucket/new/metadata/00001-")


@pytest.mark.parametrize(
    "update",
    [
        {"action": "assign-uuid", "uuid": OTHER_UUID},
        {"action": "assign-uuid", "uuid": ""},
        {"action": "assign-uuid", "uuid": None},
        {"action": "upgrade-format-version", "format-version": 0},
        {"action": "upgrade-format-version", "format-version": 2},
        {"action": "upgrade-format-version"},
        {"action": "set-location", "location": ""},
        {"action": "set-location", "location": "/"},
        {"action": "set-properties", "updates": {"k": 1}},
        {"action": "set-properties", "updates": {"version.history.num-entries": "0"}},
        {"action": "set-properties", "updates": {"version.history.num-entries": "1.5"}},
        {"action": "set-properties", "updates": {"write.metadata.compression-codec": "x"}},
        {"action": "remove-properties", "removals": [1]},
        {"action": "add-schema", "schema": {"type": "struct"}},
        {"action": "add-schema"},
        {"action": "add-view-version"},
        {"action": "add-view-version", "view-version": {}},
        {"action": "set-current-view-version", "view-version-id": 2},
        {"action": "set-current-view-version", "view-version-id": -1},
        {"action": "set-current-view-version", "view-version-id": "1"},
        {"action": "set-current-view-version"},
        {"action": "make-it-so"},
        {"action": None},
        {},
        None,
    ],
)
def test_an_invalid_update_is_refused(
    http: httpx.Client, view: str, commit: Respond, refusal: Refusal, update: Any
) -> None:
    before = http.get(view).json()
    assert refusal(commit(view, update))[:2] == BAD_REQUEST
    assert http.get(view).json() == before


@pytest.mark.parametrize("body", [{}, {"updates": {}}, {"updates": 0}, {"requirements": []}])
def test_a_commit_has_updates(http: httpx.Client, view: str, refusal: Refusal, body: Json) -> None:
    assert refusal(http.post(view, json=body))[:2] == BAD_REQUEST


TABLE_ONLY = {
    "set-current-schema": {"schema-id": 0},
    "add-spec": {"spec": {"fields": []}},
    "set-default-spec": {"spec-id": 0},
    "add-sort-order": {"sort-order": {"order-id": 0, "fields": []}},
    "set-default-sort-order": {"sort-order-id": 0},
    "add-snapshot": {"snapshot": {"snapshot-id": 1, "timestamp-ms": 1, "manifest-list": "m",
                                  "summary": {"operation": "append"}}},
    "set-snapshot-ref": {"ref-name": "main", "type": "branch", "snapshot-id": 1},
    "remove-snapshots": {"snapshot-ids": []},
    "remove-snapshot-ref": {"ref-name": "main"},
    "set-statistics": {"statistics": {"snapshot-id": 1, "statistics-path": "s",
                                      "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1,
                                      "blob-metadata": []}},
    "remove-statistics": {"snapshot-id": 1},
    "set-partition-statistics": {"partition-statistics": {
        "snapshot-id": 1, "statistics-path": "s", "file-size-in-bytes": 1}},
    "remove-partition-statistics": {"snapshot-id": 1},
    "remove-partition-specs": {"spec-ids": []},
    "remove-schemas": {"schema-ids": []},
    "add-encryption-key": {"encryption-key": {"key-id": "k", "encrypted-key-metadata": "c2Vj"}},
    "remove-encryption-key": {"key-id": "k"},
}  # fmt: skip


@pytest.mark.parametrize("action", sorted(set(UPDATES) - set(VIEW_UPDATES)))
def test_an_update_that_only_tables_have_is_refused(
    http: httpx.Client, view: str, commit: Respond, refusal: Refusal, action: str
) -> None:
    before = http.get(view).json()
    update = {"action": action, **TABLE_ONLY[action]}
    assert refusal(commit(view, set_properties(k="v"), update))[:2] == BAD_REQUEST
    assert http.get(view).json() == before


@pytest.mark.parametrize(
    "update",
    [
        {"action": "add-view-version", "view-version": {
            "version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {},
            "default-namespace": [],
            "representations": [{"type": "sql", "sql": "SELECT 1", "dialect": "spark"}]}},
        {"action": "set-current-view-version", "view-version-id": 1},
    ],
)  # fmt: skip
def test_an_update_that_only_views_have_is_refused_by_tables(
    http: httpx.Client, table: str, refusal: Refusal, update: Json
) -> None:
    body = {"requirements": [], "updates": [update]}
    assert refusal(http.post(table, json=body))[:2] == BAD_REQUEST


# Registries


def test_a_servers_registries_decide_what_its_view_commits_do(
    mock: MockCatalog, view: str, table: str, commit: Respond, http: httpx.Client
) -> None:
    mock.registries.view_updates["set-properties"] = lambda _update, _draft: None
    mock.registries.view_assertions["assert-view-uuid"] = lambda _assertion, _metadata: None
    unchanged = commit(view, set_properties(k="v"), uuid=OTHER_UUID)
    assert "properties" not in unchanged.json()["metadata"]
    body = {"requirements": [], "updates": [set_properties(k="v")]}
    assert http.post(table, json=body).json()["metadata"]["properties"]["k"] == "v"
