"""planTableScan and its kin over HTTP: what is answered, refused, kept and forgotten."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.mock.planning.handmade import File, Handmade, Manifest, make_table
from tests.mock.planning.serving import all_tasks, checked, paths, plan

SCHEMA = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "Word", "required": False, "type": "string"},
    ],
}


def file(name: str, **others: Any) -> File:
    return File(f"file:///t/{name}.parquet", **others)


@pytest.fixture
def table(http: httpx.Client, tmp_path: Path) -> Handmade:
    return make_table(http, tmp_path, "t", SCHEMA)


def refused(http: httpx.Client, body: Any, table: str = "t") -> tuple[int, str]:
    answer = http.post(f"/namespaces/ns/tables/{table}/plan", json=body)
    return answer.status_code, checked("planTableScan", answer)["error"]["message"]


def test_a_range_of_snapshots_without_manifest_lists_has_only_its_own_files(
    http: httpx.Client, tmp_path: Path
) -> None:
    table = make_table(http, tmp_path, "t", SCHEMA, version=1)
    first, second = (table.commit(Manifest([file(name)]), v1_list=True) for name in "ab")
    tasks = all_tasks(http, "t", {"start-snapshot-id": first, "end-snapshot-id": second})
    assert paths(tasks) == ["file:///t/b.parquet"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"snapshot-id": 1001, "start-snapshot-id": 1001, "end-snapshot-id": 1002}, "not both"),
        ({"snapshot-id": 1001, "end-snapshot-id": 1002}, "not both"),
        ({"start-snapshot-id": 1001}, "needs start-snapshot-id and end-snapshot-id"),
        ({"end-snapshot-id": 1002}, "needs start-snapshot-id and end-snapshot-id"),
        ({"start-snapshot-id": 1002, "end-snapshot-id": 1001}, "is not an ancestor"),
        ({"start-snapshot-id": 5, "end-snapshot-id": 1001}, "is not an ancestor"),
        ({"start-snapshot-id": 1001, "end-snapshot-id": 5}, "does not exist: 5"),
        ({"snapshot-id": 5}, "does not exist: 5"),
        ({"snapshot-id": "1001"}, "Malformed"),
        ({"snapshot-id": 2**63}, "Malformed"),
        ({"select": ["id", "absent"]}, "does not exist: absent"),
        ({"stats-fields": ["absent"]}, "does not exist: absent"),
        ({"filter": {"type": "eq", "term": "absent", "value": 1}}, "does not exist: absent"),
        ({"filter": {"type": "like", "term": "id", "value": 1}}, "Unknown expression type"),
        ({"filter": {"type": "eq", "term": "id", "value": "a"}}, "Invalid value for long"),
        ({"filter": None}, "Cannot parse expression"),
        ({"case-sensitive": "yes"}, "Malformed"),
        ([], "Malformed"),
    ],
)
def test_a_request_that_means_nothing_is_refused(
    http: httpx.Client, table: Handmade, body: Any, said: str
) -> None:
    table.commit(Manifest([file("a")]))
    table.commit(Manifest([file("b")]))
    status, message = refused(http, body)
    assert status == 400
    assert said in message


def test_null_is_the_same_as_nothing_but_for_the_filter(
    http: httpx.Client, table: Handmade
) -> None:
    table.commit(Manifest([file("a")]))
    members = (
        "snapshot-id", "select", "case-sensitive", "use-snapshot-schema",
        "start-snapshot-id", "end-snapshot-id", "stats-fields", "min-rows-requested",
    )  # fmt: skip
    assert paths(all_tasks(http, "t", dict.fromkeys(members))) == ["file:///t/a.parquet"]


def test_names_are_found_without_case_if_the_client_says_so(
    http: httpx.Client, table: Handmade
) -> None:
    body = {"select": ["WORD"], "filter": {"type": "is-null", "term": "wOrd"}}
    assert refused(http, body)[0] == 400
    assert plan(http, "t", {**body, "case-sensitive": False})["status"] == "completed"


def test_engines_may_select_metadata_columns(http: httpx.Client, table: Handmade) -> None:
    select = ["id", "_file", "_pos", "_partition", "_partition.id", "_row_id", "*"]
    assert plan(http, "t", {"select": select})["status"] == "completed"


def test_the_schema_of_the_snapshot_is_used_when_asked_for(
    http: httpx.Client, table: Handmade
) -> None:
    old = table.commit(Manifest([file("a")]))
    fields = [*SCHEMA["fields"][:1], {"id": 3, "name": "new", "required": False, "type": "int"}]
    table.update(
        {"action": "add-schema", "schema": {"type": "struct", "fields": fields}},
        {"action": "set-current-schema", "schema-id": -1},
    )
    on_old = {"snapshot-id": old, "filter": {"type": "is-null", "term": "Word"}}
    on_new = {"snapshot-id": old, "filter": {"type": "is-null", "term": "new"}}
    assert refused(http, on_old)[0] == 400
    assert plan(http, "t", {**on_old, "use-snapshot-schema": True})["status"] == "completed"
    assert refused(http, {**on_new, "use-snapshot-schema": True})[0] == 400
    assert plan(http, "t", on_new)["status"] == "completed"
