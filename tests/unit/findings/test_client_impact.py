"""Who is hurt: whom the register names, or what Spark and PyIceberg make of the answer."""

import pytest

from icecheck.contract import Level
from icecheck.findings.telling.client_impact import NOBODY, hurt_by
from icecheck.findings.verdict import Group, Outcome, Verdict
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_finding

REGISTER = CONTRACT.requirements
UNSAID = "renameTable.404"


def told(symptom: str, expected: str, actual: str, operation: str = "", proves: str = UNSAID):
    operation = operation or proves.partition(".")[0]
    finding = a_finding(symptom, expected, actual)
    verdict = Verdict("x", "x", Group.CHECKS, Level.MUST, (proves,), (operation,), "write",
                      Outcome.FAIL, findings=(finding,))  # fmt: skip
    (words,) = hurt_by(verdict, CONTRACT)
    return words


def test_the_register_has_the_first_word() -> None:
    named = next(r for r in REGISTER.values() if r.hurts != NOBODY)
    assert REGISTER[UNSAID].hurts == NOBODY
    assert told("status", "404", "200", proves=named.id) == named.hurts


@pytest.mark.parametrize(
    ("due", "actual", "operation", "words"),
    [
        ("409", "204", "commitTransaction", "no error"),
        ("4xx", "200", "createTable", "no error"),
        ("200", "201", "createTable", "201 is no success"),
        ("404", "500", "updateTable", "CommitStateUnknownException"),
        ("200", "502", "replaceView", "CommitStateUnknownException"),
        ("200", "500", "createTable", "ServiceFailureException"),
        ("404", "418", "createView", "RESTException), PyIceberg (RESTError): the error does not"),
        ("404 or 409", "400", "renameTable", "BadRequestException"),
        ("409", "422", "updateTable", "commits are not tried again"),
        ("200 or 204", "400", "dropTable", "nothing is wrong with it"),
        ("200", "404", "loadTable", "nothing is wrong with it"),
        ("400", "501", "createTable", "UnsupportedOperationException"),
    ],
)
def test_a_status_is_told_as_the_two_commonest_clients_take_it(
    due: str, actual: str, operation: str, words: str
) -> None:
    assert words in told("status", due, actual, operation)


@pytest.mark.parametrize(
    ("symptom", "due", "actual"),
    [("status", "204", "200"), ("status", "400", "422"), ("status", "200", "302"),
     ("value:x", "1", "2"), ("schema:required", "a", "b")],
)  # fmt: skip
def test_what_neither_of_them_notices_is_not_made_up(symptom: str, due: str, actual: str) -> None:
    assert told(symptom, due, actual) == NOBODY


def test_a_success_without_a_member_is_one_that_cannot_be_read() -> None:
    nobody = next(i for i, r in REGISTER.items() if i.endswith(".200") and r.hurts == NOBODY)
    assert "cannot be read" in told("schema:required", "a", "b", proves=nobody)
    assert "cannot be read" in told("schema:not-json", "a", "b")


def test_a_success_with_a_member_of_a_wrong_type_is_one_that_java_cannot_read() -> None:
    nobody = next(i for i, r in REGISTER.items() if i.endswith(".200") and r.hurts == NOBODY)
    mistyped = told("schema:type", "a", '"1" is not of type "integer"', proves=nobody)
    assert "IllegalArgumentException" in mistyped
    null = told("schema:type", "a", 'null is not of type "string"', proves=nobody)
    assert "demand the member" in null
    # What Java does not demand of the body of a refusal, it reads past.
    assert told("schema:type", "a", '"1" is not of type "integer"') == NOBODY


@pytest.mark.parametrize(
    "symptom",
    ["effect-missing:x", "effect-on-another:x", "changed-although-refused", "anomaly:lost-update"],
)
def test_what_is_lost_or_changed_hurts_everybody(symptom: str) -> None:
    assert told(symptom, "a", "b").startswith("every client: ")
