"""Every row of every response table, brought about on the server: one test a row, by its name.

The rows of 5xx come from fault rules, all others from what is in a request or who sends it.
"""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.mock_rows.world import (
    FORM,
    OPERATIONS,
    SCHEMA,
    Sent,
    World,
    change,
    commit,
    moved,
    token_request,
)

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.conformance.kit.manifest_files import PlannedFile, given_files
from icecheck.contract.model import Response
from icecheck.mock_server import MockCatalog, PlanningSettings
from icecheck.replies.schema import schema_judge
from icecheck.targets.target import Target

ROWS = {row.id: row for operation in OPERATIONS.values() for row in operation.responses.values()}
FAULTY = {"500": 500, "502": 502, "503": 503, "504": 504, "5XX": 507}
WRONG_UUID = {"type": "assert-table-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"}
WRONG_VIEW_UUID = {**WRONG_UUID, "type": "assert-view-uuid"}

NOT_JSON = b"{"

MALFORMED: dict[str, Callable[[World], Sent]] = {
    "getConfig": lambda _: Sent(query={"warehouse": "unknown"}),
    "getToken": lambda _: token_request(grant_type="password"),
    "listNamespaces": lambda _: Sent(query={"pageToken": "", "pageSize": "0"}),
}
"""Requests that break the document in a way of their own; see `malformed` for all others."""

MISSING: dict[str, Callable[[World], Sent]] = {
    "listNamespaces": lambda _: Sent(query={"parent": "missing"}),
    "renameTable": lambda _: Sent(body=moved("missing")),
    "renameView": lambda _: Sent(body=moved("missing")),
    "commitTransaction": lambda _: Sent(body={"table-changes": [change("missing")]}),
    "fetchScanTasks": lambda world: world.ordinary("fetchScanTasks"),
    "fetchPlanningResult": lambda _: Sent({"namespace": "ns", "table": "t", "plan-id": "unknown"}),
}
"""Requests for what does not exist, where it is not the last name in the path."""

CONFLICTING: dict[str, Sent] = {
    "createNamespace": Sent(body={"namespace": ["ns"]}),
    "dropNamespace": Sent({"namespace": "ns"}),
    "createTable": Sent({"namespace": "ns"}, {"name": "v", "schema": SCHEMA}),
    "updateTable": Sent({"namespace": "ns", "table": "t"}, commit(**WRONG_UUID)),
    "commitTransaction": Sent(body={"table-changes": [change("t", **WRONG_UUID)]}),
    "renameTable": Sent(body=moved("t", "v")),
    "renameView": Sent(body=moved("v", "t")),
    "replaceView": Sent({"namespace": "ns", "view": "v"}, commit(**WRONG_VIEW_UUID)),
}


def malformed(world: World, operation_id: str) -> Sent:
    if operation_id in MALFORMED:
        return MALFORMED[operation_id](world)
    ordinary = world.ordinary(operation_id)
    if OPERATIONS[operation_id].request_schema is not None:
        return ordinary.but(raw=NOT_JSON, headers={"content-type": "application/json"})
    last = [*ordinary.names][-1]
    return ordinary.but(names={**ordinary.names, last: "%FF"})


def missing(world: World, operation_id: str) -> Sent:
    if operation_id in MISSING:
        return MISSING[operation_id](world)
    ordinary = world.ordinary(operation_id)
    kind = next(name for name in ("view", "table", "namespace") if name in ordinary.names)
    return ordinary.but(names={**ordinary.names, kind: "missing"})


def conflicting(world: World, operation_id: str) -> Sent:
    if operation_id in CONFLICTING:
        return CONFLICTING[operation_id]
    ordinary = world.ordinary(operation_id)
    return ordinary.but(body={**ordinary.body, "name": "t"})


def answered(world: World, row: Response) -> httpx.Response:
    """The answer that the row documents, however it has to be brought about."""
    if row.status in FAULTY:
        return faulty(world, row)
    bring_about = BRINGING_ABOUT.get(row.status)
    if bring_about is None:
        return world.send(row.operation_id, successful(world, row.operation_id))
    return bring_about(world, row.operation_id)


def faulty(world: World, row: Response) -> httpx.Response:
    operation_id, status = row.operation_id, FAULTY[row.status]
    with world.mock.fault("server-error", operation=operation_id, status=status) as rule:
        answer = world.send(operation_id, world.ordinary(operation_id))
    assert rule.fired == 1
    return answer


def not_modified(world: World, operation_id: str) -> httpx.Response:
    ordinary = world.ordinary(operation_id)
    tag = world.send(operation_id, ordinary).headers["etag"]
    return world.send(operation_id, ordinary.but(headers={"if-none-match": tag}))


def unauthorized(world: World, operation_id: str) -> httpx.Response:
    if operation_id == "getToken":
        return world.send(operation_id, token_request(client_secret="guessed"))
    return world.send(operation_id, world.ordinary(operation_id), authorization={})


def forbidden(world: World, operation_id: str) -> httpx.Response:
    who = "scoped" if operation_id == "getConfig" else "nobody"
    return world.send(operation_id, world.ordinary(operation_id), world.authorization(who))


def unsupported(world: World, operation_id: str) -> httpx.Response:
    del world.mock.registries.operations[operation_id]
    return world.send(operation_id, world.ordinary(operation_id))


def expired(world: World, operation_id: str) -> httpx.Response:
    before = world.authorization()
    world.clock.advance(61_000)
    return world.send(operation_id, world.ordinary(operation_id), before)


def set_and_removed(world: World, operation_id: str) -> httpx.Response:
    both: dict[str, Any] = {"updates": {"a": "b"}, "removals": ["a"]}
    return world.send(operation_id, world.ordinary(operation_id).but(body=both))


def successful(world: World, operation_id: str) -> Sent:
    ordinary = world.ordinary(operation_id)
    if operation_id == "createTable":
        return ordinary.but(body={"name": "another", "schema": SCHEMA})
    return ordinary


BRINGING_ABOUT: dict[str, Callable[[World, str], httpx.Response]] = {
    "304": not_modified,
    "400": lambda world, operation_id: world.send(operation_id, malformed(world, operation_id)),
    "401": unauthorized,
    "403": forbidden,
    "404": lambda world, operation_id: world.send(operation_id, missing(world, operation_id)),
    "406": unsupported,
    "409": lambda world, operation_id: world.send(operation_id, conflicting(world, operation_id)),
    "419": expired,
    "422": set_and_removed,
}


@pytest.mark.parametrize("row_id", [id_ for id_ in ROWS if id_ != "fetchScanTasks.200"])
def test_the_server_answers_as_documented(row_id: str) -> None:
    row = ROWS[row_id]
    answer = answered(World(), row)
    assert str(answer.status_code) == row.status.replace("5XX", "507"), answer.text
    expect_documented(row, answer)


@pytest.mark.parametrize("row_id", ["fetchScanTasks.200"])
def test_a_plan_task_is_answered_as_documented(row_id: str) -> None:
    mock = MockCatalog(seed=4, planning=PlanningSettings(files_per_task=1))
    target = Target("http://mock.test", warehouse="wh", isolation="flat")
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock.test") as http:
        session = open_session(target, run_id="rows", transport=mock.httpx_transport())
        with given_files(Catalog(session, row_id)) as files:
            files.append(PlannedFile("a.parquet"), PlannedFile("b.parquet"))
            path = f"/v1/wh/namespaces/{files.table.namespace[0]}/tables/{files.table.name}"
            [plan_task] = http.post(f"{path}/plan", json={}).json()["plan-tasks"]
            answer = http.post(f"{path}/tasks", json={"plan-task": plan_task})
    mock.stop()
    assert answer.status_code == 200
    assert len(answer.json()["file-scan-tasks"]) == 1
    expect_documented(ROWS[row_id], answer)


def expect_documented(row: Response, answer: httpx.Response) -> None:
    method = OPERATIONS[row.operation_id].method
    if method == "HEAD" or answer.status_code in {204, 304}:
        assert answer.content == b""
        return
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    found = schema_judge().response_problems(row.operation_id, row.status, body)
    assert not found
    if answer.status_code >= 400 and "code" in body.get("error", ()):
        assert body["error"]["code"] == answer.status_code


def test_there_are_as_many_rows_as_in_the_document() -> None:
    assert len(ROWS) == 259
    assert sum(row.status in FAULTY for row in ROWS.values()) == 68


def test_forms_are_what_the_token_endpoint_reads() -> None:
    assert OPERATIONS["getToken"].request_media_type == FORM
