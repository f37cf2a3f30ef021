"""Every row of a response table that no check of the suite proves, brought about on the server.

The rows of 5xx come from fault rules, all others from what is in a request or who sends it.
"""

from collections.abc import Callable

import httpx
import pytest

from icecheck.contract.model import Response
from icecheck.proof.kill_matrix import GROUPS
from icecheck.replies.schema import schema_judge
from icecheck.run.collect import collect
from tests.kit.contracts import CONTRACT
from tests.mock.rows.stocked_server import StockedServer

OPERATIONS = CONTRACT.operations
PROVEN = {requirement for check in collect(GROUPS, CONTRACT) for requirement in check.proves}
ROWS = {
    row.id: row
    for operation in OPERATIONS.values()
    for row in operation.responses.values()
    if row.id not in PROVEN
}
FAULTY = {"500": 500, "502": 502, "503": 503, "504": 504, "5XX": 507}


def malformed(stocked: StockedServer, operation_id: str) -> httpx.Response:
    ordinary = stocked.requests[operation_id]
    if operation_id == "getConfig":
        return stocked.send(ordinary.but(query={"warehouse": "unknown"}))
    last = [*ordinary.names][-1]
    return stocked.send(ordinary.but(names={**ordinary.names, last: "%FF"}))


def answered(stocked: StockedServer, row: Response) -> httpx.Response:
    """The answer that the row documents, however it has to be brought about."""
    if row.status in FAULTY:
        return faulty(stocked, row)
    return BRINGING_ABOUT[row.status](stocked, row.operation_id)


def faulty(stocked: StockedServer, row: Response) -> httpx.Response:
    operation_id, status = row.operation_id, FAULTY[row.status]
    with stocked.mock.fault("server-error", operation=operation_id, status=status) as rule:
        answer = stocked.send(stocked.requests[operation_id])
    assert rule.fired == 1
    return answer


def forbidden(stocked: StockedServer, operation_id: str) -> httpx.Response:
    who = "scoped" if operation_id == "getConfig" else "nobody"
    return stocked.send(stocked.requests[operation_id], stocked.authorization(who))


def unsupported(stocked: StockedServer, operation_id: str) -> httpx.Response:
    del stocked.mock.registries.operations[operation_id]
    return stocked.send(stocked.requests[operation_id])


def expired(stocked: StockedServer, operation_id: str) -> httpx.Response:
    before = stocked.authorization()
    stocked.clock.advance(61_000)
    return stocked.send(stocked.requests[operation_id], before)


BRINGING_ABOUT: dict[str, Callable[[StockedServer, str], httpx.Response]] = {
    "400": malformed,
    "403": forbidden,
    "406": unsupported,
    "419": expired,
}


@pytest.mark.parametrize("row_id", ROWS)
def test_the_server_answers_as_documented(row_id: str) -> None:
    row = ROWS[row_id]
    answer = answered(StockedServer(), row)
    assert str(answer.status_code) == row.status.replace("5XX", "507"), answer.text
    expect_documented(row, answer)


def expect_documented(row: Response, answer: httpx.Response) -> None:
    method = OPERATIONS[row.operation_id].method
    if method == "HEAD":
        assert answer.content == b""
        return
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    found = schema_judge(CONTRACT).response_problems(row.operation_id, row.status, body)
    assert not found
    if answer.status_code >= 400 and "code" in body.get("error", ()):
        assert body["error"]["code"] == answer.status_code
