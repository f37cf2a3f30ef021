"""Versions of a view: their ids and schemas, the log, how many are kept, which dialects stay."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog

Json = dict[str, Any]
Respond = Callable[..., httpx.Response]
Refusal = Callable[[httpx.Response], tuple[int, str, str]]
Body = Callable[..., Json]
BAD_REQUEST = (400, "BadRequestException")
NOW_MS = 1_700_000_000_000
CREATED_MS = NOW_MS - 5000


def add_version(version: Json) -> Json:
    return {"action": "add-view-version", "view-version": version}


def set_current(version_id: int = -1) -> Json:
    return {"action": "set-current-view-version", "view-version-id": version_id}


def set_properties(updates: dict[str, str]) -> Json:
    return {"action": "set-properties", "updates": updates}


def add_schema(*names: str, **members: Any) -> Json:
    fields = [
        {"id": number, "name": name, "required": False, "type": "long"}
        for number, name in enumerate(names, 1)
    ]
    return {"action": "add-schema", "schema": {"type": "struct", "fields": fields, **members}}


def accepted(response: httpx.Response) -> Json:
    assert response.status_code == 200, response.text
    metadata: Json = response.json()["metadata"]
    return metadata


def version_ids(metadata: Json) -> list[int]:
    return [version["version-id"] for version in metadata["versions"]]


def log(metadata: Json) -> list[tuple[int, int]]:
    return [(entry["version-id"], entry["timestamp-ms"]) for entry in metadata["version-log"]]


@pytest.fixture
def replace(view: str, version: Body, commit: Respond) -> Respond:
    """Add a version that is the `number`th of its kind and make it current, as Spark does."""

    def replace(number: int, *updates: Json, **members: Any) -> httpx.Response:
        sent = {"summary": {"number": str(number)}, "schema_id": 0, "timestamp_ms": number}
        added = add_version(version(**{**sent, **members}))
        return commit(view, *updates, added, set_current())

    return replace


# Ids


@pytest.mark.parametrize(("sent", "given"), [(1, 2), (0, 2), (-7, 2), (2, 2), (50, 50)])
def test_a_version_id_is_kept_only_above_all_others(
    replace: Respond, sent: int, given: int
) -> None:
    metadata = accepted(replace(1, version_id=sent))
    assert version_ids(metadata) == [1, given]
    assert metadata["current-version-id"] == given


def test_when_ids_run_out_a_version_is_refused(replace: Respond, refusal: Refusal) -> None:
    accepted(replace(1, version_id=2**31 - 1))
    assert refusal(replace(2))[:2] == BAD_REQUEST


def test_an_added_version_is_not_current_and_not_in_the_log(
    view: str, version: Body, commit: Respond
) -> None:
    added = accepted(commit(view, add_version(version(schema_id=0, summary={}))))
    assert (version_ids(added), added["current-version-id"]) == ([1, 2], 1)
    assert log(added) == [(1, CREATED_MS)]


def test_an_equal_version_is_reused(view: str, version: Body, commit: Respond) -> None:
    new = version(schema_id=0, summary={"n": "1"})
    same = {**new, "version-id": 9, "timestamp-ms": 9}
    metadata = accepted(commit(view, add_version(new), add_version(same), set_current()))
    assert (version_ids(metadata), metadata["current-version-id"]) == ([1, 2], 2)
    assert metadata["versions"][1]["timestamp-ms"] == CREATED_MS


@pytest.mark.parametrize(
    "member",
    [
        {"summary": {}},
        {"default_catalog": "other"},
        {"default_catalog": None},
        {"default_namespace": []},
        {"schema_id": -1},
        {"representations": [{"type": "sql", "sql": "SELECT 2", "dialect": "spark"}]},
    ],
)
def test_a_version_that_differs_in_anything_is_another(
    view: str, version: Body, commit: Respond, member: Json
) -> None:
    new = version(**{"schema_id": 0, **member})
    metadata = accepted(commit(view, add_schema("other"), add_version(new)))
    assert version_ids(metadata) == [1, 2]


def test_the_version_a_view_had_is_not_the_last_added(
    view: str, version: Body, commit: Respond, refusal: Refusal
) -> None:
    new, old = version(schema_id=0, summary={}), version(schema_id=0)
    assert refusal(commit(view, add_version(old), set_current()))[:2] == BAD_REQUEST
    refused = commit(view, add_version(new), add_version(old), set_current())
    assert refusal(refused)[:2] == BAD_REQUEST
    metadata = accepted(commit(view, add_version(old), add_version(new), set_current()))
    assert metadata["current-version-id"] == 2


# Schemas


def test_an_equal_schema_is_reused(view: str, commit: Respond) -> None:
    twice = (add_schema("a"), add_schema("a", **{"schema-id": 6, "identifier-field-ids": []}))
    metadata = accepted(commit(view, *twice))
    assert [schema["schema-id"] for schema in metadata["schemas"]] == [0, 1]


def test_a_schema_that_is_reused_is_not_the_last_added(
    view: str, version: Body, commit: Respond, refusal: Refusal
) -> None:
    accepted(commit(view, add_schema("a")))
    of_last = add_version(version(schema_id=-1))
    assert refusal(commit(view, add_schema("a"), of_last))[:2] == BAD_REQUEST
    metadata = accepted(commit(view, add_schema("b"), add_schema("a"), of_last))
    assert metadata["versions"][-1]["schema-id"] == 2


# The log


def test_a_version_that_was_there_comes_back_at_the_servers_time(
    view: str, replace: Respond, commit: Respond
) -> None:
    accepted(replace(1))
    metadata = accepted(commit(view, set_current(1)))
    assert metadata["current-version-id"] == 1
    assert log(metadata) == [(1, CREATED_MS), (2, 1), (1, NOW_MS)]


def test_one_commit_leaves_one_entry_for_its_last_move(
    view: str, version: Body, commit: Respond
) -> None:
    first, second = (version(schema_id=0, summary={"n": n}, timestamp_ms=int(n)) for n in "34")
    metadata = accepted(
        commit(view, add_version(first), set_current(), add_version(second), set_current())
    )
    assert version_ids(metadata) == [1, 2, 3]
    assert log(metadata) == [(1, CREATED_MS), (3, 4)]


# History


def test_ten_versions_are_kept_unless_told_otherwise(replace: Respond) -> None:
    for number in range(1, 13):
        metadata = accepted(replace(number))
    assert version_ids(metadata) == [13, 12, 11, 10, 9, 8, 7, 6, 5, 4]
    assert [entry[0] for entry in log(metadata)] == [4, 5, 6, 7, 8, 9, 10, 11, 12, 13]


def test_a_property_says_how_many_versions_are_kept(
    view: str, replace: Respond, commit: Respond
) -> None:
    for number in range(1, 5):
        accepted(replace(number))
    metadata = accepted(commit(view, set_properties({"version.history.num-entries": "2"})))
    assert version_ids(metadata) == [5, 4]
    assert [entry[0] for entry in log(metadata)] == [4, 5]


def test_the_current_version_is_kept_however_old(
    view: str, replace: Respond, commit: Respond
) -> None:
    for number in range(1, 4):
        accepted(replace(number))
    history = set_properties({"version.history.num-entries": "2"})
    metadata = accepted(commit(view, set_current(1), history))
    assert (version_ids(metadata), metadata["current-version-id"]) == ([1, 4], 1)
    # The log has no holes: what came before an expired version is forgotten.
    assert [entry[0] for entry in log(metadata)] == [4, 1]


def test_as_many_versions_are_kept_as_the_commit_added(
    view: str, version: Body, commit: Respond
) -> None:
    added = [add_version(version(schema_id=0, summary={"n": str(n)})) for n in range(3)]
    history = set_properties({"version.history.num-entries": "1"})
    metadata = accepted(commit(view, history, *added, set_current()))
    assert version_ids(metadata) == [4, 3, 2]


def test_the_current_version_is_kept_besides_those_the_commit_added(
    view: str, version: Body, commit: Respond
) -> None:
    added = [add_version(version(schema_id=0, summary={"n": str(n)})) for n in range(3)]
    history = set_properties({"version.history.num-entries": "1"})
    metadata = accepted(commit(view, history, *added))
    assert version_ids(metadata) == [1, 2, 3, 4]
    assert log(metadata) == [(1, CREATED_MS)]


# Dialects


def test_a_dialect_is_not_lost_by_accident(
    http: httpx.Client, view: str, replace: Respond, refusal: Refusal, version: Body
) -> None:
    both = version("spark", "trino")["representations"]
    before = accepted(replace(1, representations=both))
    trino = version("Trino")["representations"]
    status, _, message = refusal(replace(2, representations=trino))
    assert (status, "spark" in message) == (400, True)
    assert http.get(view).json()["metadata"] == before


def test_a_dialect_may_be_dropped_if_a_property_allows_it(
    replace: Respond, version: Body, refusal: Refusal
) -> None:
    trino = version("trino")["representations"]
    denied = set_properties({"replace.drop-dialect.allowed": "yes"})
    assert refusal(replace(1, denied, representations=trino))[:2] == BAD_REQUEST
    allowed = set_properties({"replace.drop-dialect.allowed": "TRUE"})
    metadata = accepted(replace(1, allowed, representations=trino))
    assert metadata["current-version-id"] == 2


def test_dialects_are_compared_with_the_version_before_the_commit(
    view: str, version: Body, commit: Respond
) -> None:
    """Passing through a version with fewer dialects loses none."""
    trino = version("trino", schema_id=0)
    both = version("SPARK", "trino", schema_id=0)
    updates = (add_version(trino), set_current(), add_version(both), set_current())
    assert accepted(commit(view, *updates))["current-version-id"] == 3


# Concurrency


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


def test_a_version_needs_a_query(
    view: str, version: Body, commit: Respond, refusal: Refusal
) -> None:
    refused = commit(view, add_version(version(schema_id=0, representations=[])))
    assert refusal(refused)[:2] == BAD_REQUEST
