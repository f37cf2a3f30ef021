"""What answers to a run by 1.11.0 may hold by later documents."""

import pytest

from icecheck.contract import load
from icecheck.replies.schema import schema_judge
from tests.kit.residual_plans import plan_with

CONTRACT = load("1.11.0")
NAME, ID = {"type": "reference", "name": "a"}, {"type": "reference", "id": 1}
FIVE = {"type": "literal", "value": 5, "data-type": "int"}


def problems(predicate: object) -> object:
    """What is wrong with a plan that leaves this predicate; 1.11.0 asks for its id."""
    plan = plan_with(predicate, **{"plan-id": "p"})
    return schema_judge(CONTRACT).response_problems("planTableScan", "200", plan)


@pytest.mark.parametrize(
    "predicate",
    [
        True,
        {"type": "eq", "left": NAME, "right": FIVE},
        {"type": "eq", "term": "a", "value": FIVE},
        {"type": "eq", "left": ID, "value": 5},
        {"type": "not", "child": {"type": "is-null", "child": ID}},
        {"type": "and", "left": False, "right": {"type": "lt", "term": "a", "value": 1}},
        {
            "type": "in",
            "term": "a",
            "values": {"type": "literals", "values": [1], "data-type": "int"},
        },
        {"type": "in", "child": NAME, "values": [1, FIVE]},
    ],
)
def test_a_residual_may_be_a_predicate_of_a_later_document(predicate: object) -> None:
    assert problems(predicate) == ()


@pytest.mark.parametrize(
    "predicate",
    [
        1,
        {"left": 1, "right": 2},
        {"type": "is-null"},
        {"type": "eq", "left": NAME},
        {"type": "eq", "term": "a", "value": {}},
        {"type": "in", "child": NAME},
        {"type": "and", "left": {"type": "eq"}, "right": True},
        {"type": "like", "left": 1, "right": 2},
    ],
)
def test_a_residual_that_no_document_knows_is_blamed(predicate: object) -> None:
    assert problems(predicate) != ()


def test_what_came_with_the_document_itself_is_no_later_fact() -> None:
    before = {fact.name for fact in load("1.10.0").later if fact.release == "unreleased"}
    now = {fact.name for fact in CONTRACT.later}
    assert before <= now
    assert {fact.release for fact in CONTRACT.later} == {"unreleased"}
