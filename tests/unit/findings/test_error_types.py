"""Type names of errors: judged by the prose, once for the whole catalog."""

import json
from collections.abc import Sequence

import pytest

from icecheck.contract import Level
from icecheck.findings.causes import causes_of
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.judging.envelopes import REQUIREMENT, prose_types, type_problem
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.replies.schema import schema_judge
from icecheck.wire.exchange import Exchange, Step
from tests.kit.contracts import CONTRACT

CREATE = {"requirements": [{"type": "assert-create"}], "updates": []}
COMMIT = {"requirements": [{"type": "assert-table-uuid", "uuid": "u"}], "updates": []}
DUE = prose_types(CONTRACT)


def refused(operation_id: str, status: int, error_type: object, body: object = None) -> Exchange:
    error = {"error": {"message": "no", "type": error_type, "code": status}}
    return Exchange(
        check="some.check",
        ordinal=1,
        step=Step.DO,
        operation=operation_id,
        method=CONTRACT.operations[operation_id].method,
        url="http://catalog.invalid/v1/x",
        request_headers=(),
        request_body=None if body is None else json.dumps(body).encode(),
        status=status,
        response_headers=(("content-type", "application/json"),),
        response_body=json.dumps(error).encode(),
    )


def judged(exchanges: Sequence[Exchange]) -> Verdict | None:
    verdicts = passive_verdicts(observe(exchanges, schema_judge(CONTRACT)), CONTRACT)
    return next((v for v in verdicts if v.check == REQUIREMENT), None)


def test_the_names_are_those_of_the_responses_that_the_requirement_refers_to() -> None:
    assert {ref.name for ref in CONTRACT.requirements[REQUIREMENT].refs} == {*DUE}


def test_names_are_judged_as_a_should() -> None:
    verdict = judged([refused("loadTable", 404, "NotThere")])
    assert verdict is not None
    assert verdict.level is Level.SHOULD
    assert verdict.outcome is Outcome.FAIL


@pytest.mark.parametrize("error_type", ["NoSuchTableException", "NoSuchNamespaceException"])
def test_a_missing_table_may_be_a_missing_namespace(error_type: str) -> None:
    verdict = judged([refused("loadTable", 404, error_type)])
    assert verdict is not None
    assert verdict.outcome is Outcome.PASS


def test_a_view_is_no_table() -> None:
    assert type_problem(DUE["loadTable.404"], None, "NoSuchViewException") is not None
    assert type_problem(DUE["dropView.404"], None, "NoSuchViewException") is None


def test_a_failed_commit_is_no_other_conflict() -> None:
    assert type_problem(DUE["updateTable.409"], COMMIT, "CommitFailedException") is None
    assert type_problem(DUE["updateTable.409"], COMMIT, "AlreadyExistsException") is not None


def test_a_creation_that_comes_too_late_may_be_said_to_exist() -> None:
    assert type_problem(DUE["updateTable.409"], CREATE, "AlreadyExistsException") is None
    changes = {"table-changes": [COMMIT, CREATE]}
    assert type_problem(DUE["commitTransaction.409"], changes, "AlreadyExistsException") is None


@pytest.mark.parametrize(
    "exchange",
    [
        refused("createNamespace", 409, "Taken"),
        refused("loadTable", 403, "Forbidden"),
        refused("loadTable", 404, None),
    ],
)
def test_names_that_no_prose_gives_are_not_judged(exchange: Exchange) -> None:
    assert judged([exchange]) is None


def test_names_of_its_own_are_one_cause_however_many_there_are() -> None:
    exchanges = [
        refused("loadTable", 404, "my.Missing"),
        refused("dropTable", 404, "my.Gone"),
        refused("updateTable", 409, "my.Conflict", COMMIT),
    ]
    verdict = judged(exchanges)
    assert verdict is not None
    assert [finding.detail for finding in verdict.findings] == [
        "loadTable.404 says my.Missing, due is NoSuchTableException or NoSuchNamespaceException",
        "dropTable.404 says my.Gone, due is NoSuchTableException or NoSuchNamespaceException",
        "updateTable.409 says my.Conflict, due is CommitFailedException",
    ]
    assert len(causes_of([verdict], CONTRACT)) == 1
