"""A cause says which operations do what wrong, and what comes of it."""

from dataclasses import replace
from typing import Any

import pytest

from icecheck.findings.causes import causes_of
from icecheck.findings.verdict import Cause, Outcome, Verdict, in_words
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_finding
from tests.kit.finished_runs import verdict
from tests.unit.findings.test_merged_causes import evidence, missed
from tests.unit.findings.test_merging import NOT_READ_EITHER, UNREAD, malformed


def failed(check: str, due: str, came: str, symptom: str = "status", **members: Any) -> Verdict:
    return verdict(check, Outcome.FAIL, findings=(a_finding(symptom, due, came, ""),), **members)


def cause(*verdicts: Verdict) -> Cause:
    (only,) = causes_of(verdicts, CONTRACT)
    return only


@pytest.mark.parametrize(
    ("due", "came", "wrong"),
    [
        ("404", "200", "Accepts what names something that is not there (2xx where 404 is due)"),
        ("409", "204", "Accepts names that are in use (2xx where 409 is due)"),
        ("400", "200", "Accepts what is malformed or cannot be done (2xx where 4xx is due)"),
        ("400", "503", "Breaks down at what is malformed or cannot be done (503 where 4xx is due)"),
        ("409", "500", "Breaks down at names that are in use (500 where 409 is due)"),
        ("200", "404", "Refuses what is valid (4xx where 2xx is due)"),
        ("200", "500", "Breaks down at what is valid (500 where 2xx is due)"),
        ("204", "200", "Answers 200 where 204 is due"),
        ("409", "400", "Answers 400 where 409 is due"),
        ("404 or 409", "200", "Answers 2xx where 404 or 409 is due"),
        ("401", "200", "Answers 2xx where 401 is due"),
    ],
)  # fmt: skip
def test_a_wrong_status_is_told_by_what_was_asked(due: str, came: str, wrong: str) -> None:
    assert cause(failed("a", due, came)).wrong == wrong


def test_a_title_is_operations_fault_and_consequence() -> None:
    found = cause(failed("a", "409", "200", operations=("createTable",)))
    assert found.title == (
        "createTable: accepts names that are in use (2xx where 409 is due); "
        "Spark, PyIceberg: see no error; what was to be refused counts as done"
    )
    assert found.heading == found.title.partition(";")[0]


@pytest.mark.parametrize(
    ("operations", "asked"),
    [
        (("createTable", "renameView"), "names that are in use"),
        (("dropNamespace",), "the drop of what is not empty"),
        (("dropNamespace", "createTable"), "what conflicts with what is there"),
        ((), "what conflicts with what is there"),
    ],
)
def test_a_conflict_is_told_by_what_was_to_be_done(operations: tuple[str, ...], asked: str) -> None:
    checks = [failed(each, "409", "200", operations=(each,)) for each in operations]
    found = cause(*checks or [failed("a", "409", "200", operations=())])
    assert found.wrong == f"Accepts {asked} (2xx where 409 is due)"


def test_a_title_leaves_out_what_is_not_known() -> None:
    found = cause(failed("a", "x", "y", "suite-error", operations=()))
    assert found.title == found.wrong == "The suite itself failed"


def test_an_abbreviation_keeps_its_capitals() -> None:
    found = cause(failed("a", "x", "y", "existence-contradicts-load", operations=("tableExists",)))
    assert found.heading.startswith("tableExists: HEAD and GET disagree")


def test_the_consequence_is_that_of_the_most_severe_finding() -> None:
    lost = failed("z", "409", "200", "requirement-ignored", operations=("updateTable",))
    status = failed("a", "409", "400", requirements=("commit.requirements-before-updates",))
    found = cause(status, lost)
    assert found.members == ("z", "a")
    assert "overwrite each other" in found.consequence


@pytest.mark.parametrize(
    ("operations", "words"),
    [
        ((), ""),
        (("a",), "a"),
        (("a", "b"), "a and b"),
        (("a", "b", "c"), "a, b and c"),
        (("a", "b", "c", "d"), "a, b and 2 more operations"),
    ],
)
def test_few_operations_are_named_and_many_counted(operations: tuple[str, ...], words: str) -> None:
    assert in_words(operations) == words


def test_a_merged_cause_names_every_status_that_came() -> None:
    (cause,) = causes_of([*UNREAD, *NOT_READ_EITHER, malformed("o", "409")], CONTRACT)
    what = "Accepts what is malformed or cannot be done, or breaks down at it"
    assert cause.wrong == f"{what} (2xx, 404, 409 or 500 where 400 is due)"
    assert cause.id == "status-2xx-or-500-for-4xx"
    (cause,) = causes_of([*UNREAD, malformed("o0", "500")], CONTRACT)
    assert cause.wrong == f"{what} (2xx or 500 where 4xx is due)"
    more = (malformed(f"o{s}", s) for s in ("409", "500", "503"))
    (cause,) = causes_of([*UNREAD, *NOT_READ_EITHER, *more], CONTRACT)
    assert cause.wrong == f"{what} (2xx, 4xx or 5xx where 400 is due)"
    ways = [missed("c", "404", "410"), missed("a", "404 or 409", "410")]
    ways.append(replace(missed("a", "404 or 409", "422"), check="a2"))
    (cause,) = causes_of(ways, CONTRACT)
    assert cause.wrong == "Answers 410 or 422 where 404 is due"


def lost(check: str, *actions: str) -> Verdict:
    """A check whose last commit, with updates of these actions, shows no effect."""
    updates = ",".join(f'{{"action": "{action}"}}' for action in actions)
    sent = replace(evidence("updateTable"), request_body=f'{{"updates":[{updates}]}}')
    given = {"operations": ("updateTable",), "evidence": (sent, evidence("loadTable"))}
    return failed(check, "a commit that takes effect", "another", "effect-missing:commit", **given)


def test_lost_commits_of_one_kind_of_update_name_it():
    plain = "Accepts a change and shows something else afterwards: commit"
    assert cause(lost("a", "set-properties")).wrong == f"{plain} (set-properties)"
    both = lost("a", "set-properties"), lost("b", "add-schema", "set-properties")
    assert cause(*both).wrong == f"{plain} (set-properties)"
    assert cause(*both, lost("c", "add-schema")).wrong == plain
    assert cause(lost("a", "add-schema", "set-current-schema")).wrong == plain
    assert cause(lost("a")).wrong == plain
