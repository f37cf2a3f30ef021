"""Every row of every response table, brought about on the server: one test a row, by its name.

The rows of 5xx come from fault rules, all others from what is in a request or who sends it.
"""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.contracts import CONTRACT
from tests.mock_rows.stocked_server import (
    FORM,
    OPERATIONS,
    SCHEMA,
    Sent,
    StockedServer,
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

MALFORMED: dict[str, Callable[[StockedServer], Sent]] = {
    "getConfig": lambda _: Sent(query={"warehouse": "unknown"}),
    "getToken": lambda _: token_request(grant_type="password"),
    "listNamespaces": lambda _: Sent(query={"pageToken": "", "pageSize": "0"}),
}
"""Requests that break the document in a way of their own; see `malformed` for all others."""

MISSING: dict[str, Callable[[StockedServer], Sent]] = {
    "listNamespaces": lambda _: Sent(query={"parent": "missing"}),
    "renameTable": lambda _: Sent(body=moved("missing")),
    "renameView": lambda _: Sent(body=moved("missing")),
    "commitTransaction": lambda _: Sent(body={"table-changes": [change("missing")]}),
    "fetchScanTasks": lambda stocked: stocked.ordinary("fetchScanTasks"),
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


def malformed(stocked: StockedServer, operation_id: str) -> Sent:
    if operation_id in MALFORMED:
        return MALFORMED[operation_id](stocked)
    ordinary = stocked.ordinary(operation_id)
    if OPERATIONS[operation_id].request_schema is not None:
        return ordinary.but(raw=NOT_JSON, headers={"content-type": "application/json"})
    last = [*ordinary.names][-1]
    return ordinary.but(names={**ordinary.names, last: "%FF"})


def missing(stocked: StockedServer, operation_id: str) -> Sent:
    if operation_id in MISSING:
        return MISSING[operation_id](stocked)
    ordinary = stocked.ordinary(operation_id)
    kind = next(name for name in ("view", "table", "namespace") if name in ordinary.names)
    return ordinary.but(names={**ordinary.names, kind: "missing"})


def conflicting(stocked: StockedServer, operation_id: str) -> Sent:
    if operation_id in CONFLICTING:
        return CONFLICTING[operation_id]
    ordinary = stocked.ordinary(operation_id)
    return ordinary.but(body={**ordinary.body, "name": "t"})


def answered(stocked: StockedServer, row: Response) -> httpx.Response:
    """The answer that the row documents, however it has to be brought about."""
    if row.status in FAULTY:
        return faulty(stocked, row)
    bring_about = BRINGING_ABOUT.get(row.status)
    if bring_about is None:
        return stocked.send(row.operation_id, successful(stocked, row.operation_id))
    return bring_about(stocked, row.operation_id)


def faulty(stocked: StockedServer, row: Response) -> httpx.Response:
    operation_id, status = row.operation_id, FAULTY[row.status]
    with stocked.mock.fault("server-error", operation=operation_id, status=status) as rule:
        answer = stocked.send(operation_id, stocked.ordinary(operation_id))
    assert rule.fired == 1
    return answer


def not_modified(stocked: StockedServer, operation_id: str) -> httpx.Response:
    ordinary = stocked.ordinary(operation_id)
    tag = stocked.send(operation_id, ordinary).headers["etag"]
    return stocked.send(operation_id, ordinary.but(headers={"if-none-match": tag}))


def unauthorized(stocked: StockedServer, operation_id: str) -> httpx.Response:
    if operation_id == "getToken":
        return stocked.send(operation_id, token_request(client_secret="guessed"))
    return stocked.send(operation_id, stocked.ordinary(operation_id), authorization={})


def forbidden(stocked: StockedServer, operation_id: str) -> httpx.Response:
    who = "scoped" if operation_id == "getConfig" else "nobody"
    return stocked.send(operation_id, stocked.ordinary(operation_id), stocked.authorization(who))


def unsupported(stocked: StockedServer, operation_id: str) -> httpx.Response:
    del stocked.mock.registries.operations[operation_id]
    return stocked.send(operation_id, stocked.ordinary(operation_id))


def expired(stocked: StockedServer, operation_id: str) -> httpx.Response:
    before = stocked.authorization()
    stocked.clock.advance(61_000)
    return stocked.send(operation_id, stocked.ordinary(operation_id), before)


def set_and_removed(stocked: StockedServer, operation_id: str) -> httpx.Response:
    both: dict[str, Any] = {"updates": {"a": "b"}, "removals": ["a"]}
    return stocked.send(operation_id, stocked.ordinary(operation_id).but(body=both))


def successful(stocked: StockedServer, operation_id: str) -> Sent:
    ordinary = stocked.ordinary(operation_id)
    if operation_id == "createTable":
        return ordinary.but(body={"name": "another", "schema": SCHEMA})
    return ordinary


BRINGING_ABOUT: dict[str, Callable[[StockedServer, str], httpx.Response]] = {
    "304": not_modified,
    "400": lambda stocked, operation_id: stocked.send(
        operation_id, malformed(stocked, operation_id)
    ),
    "401": unauthorized,
    "403": forbidden,
    "404": lambda stocked, operation_id: stocked.send(operation_id, missing(stocked, operation_id)),
    "406": unsupported,
    "409": lambda stocked, operation_id: stocked.send(
        operation_id, conflicting(stocked, operation_id)
    ),
    "419": expired,
    "422": set_and_removed,
}


@pytest.mark.parametrize("row_id", [id_ for id_ in ROWS if id_ != "fetchScanTasks.200"])
def test_the_server_answers_as_documented(row_id: str) -> None:
    row = ROWS[row_id]
    answer = answered(StockedServer(), row)
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
    found = schema_judge(CONTRACT).response_problems(row.operation_id, row.status, body)
    assert not found
    if answer.status_code >= 400 and "code" in body.get("error", ()):
        assert body["error"]["code"] == answer.status_code


def test_there_are_as_many_rows_as_in_the_document() -> None:
    assert len(ROWS) == 259
    assert sum(row.status in FAULTY for row in ROWS.values()) == 68


def test_forms_are_what_the_token_endpoint_reads() -> None:
    assert OPERATIONS["getToken"].request_media_type == FORM
