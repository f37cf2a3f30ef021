"""A server that errs is noticed by the corpus: these tests would fail if the others could not."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from icecheck.mock_server.core.context import Call, Context, Operation, Outcome, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.protocol import problem, replies
from tests.interop.corpus.running import run_against
from tests.interop.corpus.stocked_server import StockedServer, new_stocked_server

OPERATION = "createNamespace"


@pytest.fixture
def stocked(tmp_path: Path) -> StockedServer:
    return new_stocked_server(tmp_path)


def always(reply: Reply) -> Operation:
    def operation(_context: Context, state: WarehouseState, _call: Call) -> Outcome:
        return Outcome(state, reply)

    return operation


def crashing(_context: Context, _state: WarehouseState, _call: Call) -> Outcome:
    raise KeyError("a bug")


def code_404(status: int) -> Reply:
    return replies.json_reply({"error": {"message": "m", "type": "t", "code": 404}}, status)


WRONG: dict[str, tuple[Operation, str]] = {
    "crashes": (crashing, "a server error"),
    "answers what is not documented": (
        always(replies.error_reply(418, "Teapot", "m")),
        "418 is not documented",
    ),
    "answers another shape": (always(replies.json_reply({"namespace": "a"})), "body /namespace"),
    "answers text": (always(Reply(400, (("content-type", "text/plain"),), b"{}")), "content type"),
    "says another code": (always(code_404(400)), "error.code 404 in an answer with 400"),
    "takes everything": (
        always(replies.json_reply({"namespace": ["a"], "properties": {}})),
        "taken although invalid",
    ),
    "refuses everything": (
        always(replies.problem_reply(problem.bad_request("no"))),
        "refused although valid",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_server_that_errs_is_noticed(stocked: StockedServer, what: str) -> None:
    operation, said = WRONG[what]
    assert run_against(stocked, OPERATION).problems == []
    stocked.mock.registries.operations[OPERATION] = operation
    problems = run_against(stocked, OPERATION).problems
    assert any(each.startswith(said) for each in problems), problems[:3]
    assert all("curl -i -X " in each for each in problems)


def test_one_value_more_that_is_refused_or_taken_is_noticed(stocked: StockedServer) -> None:
    faithful = stocked.mock.registries.operations[OPERATION]

    def with_body(change: Callable[[dict[str, object]], None]) -> Operation:
        def operation(context: Context, state: WarehouseState, call: Call) -> Outcome:
            body = msgspec.json.decode(call.request.body)
            change(body)
            request = msgspec.structs.replace(call.request, body=msgspec.json.encode(body))
            return faithful(context, state, msgspec.structs.replace(call, request=request))

        return operation

    def needs_properties(body: dict[str, object]) -> None:
        if "properties" not in body:
            raise problem.bad_request("properties are missing")

    def takes_one_number(body: dict[str, object]) -> None:
        if body["namespace"] == [0]:
            body["namespace"] = ["0"]

    for change, said in (
        (needs_properties, "refused although valid"),
        (takes_one_number, "taken although invalid: body /namespace/* type"),
    ):
        stocked.mock.registries.operations[OPERATION] = with_body(change)
        problems = run_against(stocked, OPERATION).problems
        assert any(each.startswith(said) for each in problems), problems[:3]
