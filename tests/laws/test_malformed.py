"""Every answer is judged: a malformed one is the catalog's fault, and never a suite error."""

from collections.abc import Callable
from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import Group, Outcome
from icecheck.judging.judge import judge
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.proof.kill_matrix import judged_with
from icecheck.run.collect import collect
from tests.kill.killing import mock_session
from tests.kit.contracts import CONTRACT
from tests.kit.shares import in_shares, share, some

Alter = Callable[[Any], Any]
CHECKS = collect((Group.CHECKS, Group.GENERATED, Group.SCENARIOS), CONTRACT)
NONSENSE = [None, 1, "x", {}]
OPERATIONS = ["writers", "everybody"]
WRITERS = ("createTable", "registerTable", "updateTable")


def of_another_type(value: Any) -> Any:
    """Return a value with numbers as text and text as numbers, at any depth."""
    match value:
        case dict():
            return {key: of_another_type(inner) for key, inner in value.items()}
        case list():
            return [of_another_type(inner) for inner in value]
        case bool() | str():
            return 7
        case int():
            return str(value)
        case _:
            return value


def every_member(value: Any) -> Alter:
    return lambda body: dict.fromkeys(body, value) if isinstance(body, dict) else value


def every_metadata_member(value: Any) -> Alter:
    """Return an alteration of every member in the metadata of an answer, and of nothing else."""

    def alter(body: Any) -> Any:
        if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
            return body
        kept = {"table-uuid": body["metadata"].get("table-uuid")}
        return body | {"metadata": dict.fromkeys(body["metadata"], value) | kept}

    return alter


ANSWERS: dict[str, Alter] = {
    "an empty object": lambda _body: {},
    "a list": lambda _body: [],
    "null": lambda _body: None,
    "a number": lambda _body: 3,
    "members of another type": of_another_type,
    "members that are null": every_member(None),
    "members that are text": every_member("x"),
    "members that are lists of anything": every_member(NONSENSE),
    "metadata members that are null": every_metadata_member(None),
    "metadata members that are text": every_metadata_member("x"),
    "metadata members that are numbers": every_metadata_member(-5),
    "metadata members that are objects": every_metadata_member({"a": 1}),
    "metadata members that are lists of anything": every_metadata_member(NONSENSE),
}


@in_shares
@pytest.mark.parametrize("where", OPERATIONS)
@pytest.mark.parametrize("answer", some(ANSWERS, 5))
def test_nonsense_is_never_an_error_of_the_suite(answer: str, where: str) -> None:
    with mock_session() as (mock, session):
        for operation_id in WRITERS if where == "writers" else [*mock.registries.operations]:
            if operation_id != "getConfig":
                alter_body(mock.registries, operation_id, ANSWERS[answer])
        turn = [*ANSWERS].index(answer) + OPERATIONS.index(where)
        checks = share(CHECKS, turn // 2, 7, always=lambda _: False)
        verdicts = [judge(check, Catalog(session, check.id)) for check in checks]
    errors = [f"{v.check}: {v.summary}" for v in verdicts if v.outcome is Outcome.ERROR]
    assert errors == []
    assert any(v.outcome in {Outcome.FAIL, Outcome.BLOCKED} for v in verdicts)


@pytest.mark.parametrize("member", ["current-version-id", "schemas", "versions"])
def test_a_view_without_a_required_member_is_no_error_of_the_suite(member: str) -> None:
    """The states of a view are compared with what an earlier answer showed of it."""
    lacking = defects()[f"lacks-loadView-metadata.{member}"]
    verdicts = judged_with([lacking], [c for c in CHECKS if c.id.startswith("states.view")])
    assert [v.summary for v in verdicts if v.outcome is Outcome.ERROR] == []
    assert any(v.outcome in {Outcome.FAIL, Outcome.BLOCKED} for v in verdicts)
