"""Checks with PyIceberg: faithful, fatal to defects, owned by the run, and recorded."""

import pytest

from icecheck.contract import Level
from icecheck.findings.verdict import Group, Outcome
from icecheck.mock_server.defects import defects
from icecheck.wire.exchange import Step
from tests.kit.contracts import CONTRACT
from tests.laws.golden import key_of, reviewed
from tests.witnesses.judging import ALONE, CHECKS, WITH_SPARK, judged_on

OWNER = "icecheck_kill01"
NAMELESS = {"getConfig", "getToken"}
KILLED_BY = [line for line in reviewed("client_kills.txt") if key_of(line) in ALONE]


def test_every_row_of_the_register_for_pyiceberg_is_proven_by_the_check_of_its_name() -> None:
    rows = sorted(row for row in CONTRACT.requirements if row.startswith("client.pyiceberg."))
    assert sorted(f"client.{check_id}" for check_id in CHECKS) == rows
    for check in CHECKS.values():
        assert check.proves == (f"client.{check.id}",)
        assert (check.group, check.level) == (Group.CLIENTS, Level.INTEROP)


def test_every_check_has_a_defect_that_exists() -> None:
    killed_by = dict(line.split(" | ") for line in reviewed("client_kills.txt"))
    assert sorted(killed_by) == sorted(CHECKS)
    assert set(killed_by.values()) <= set(defects())


def test_checks_that_need_spark_say_so_in_their_names() -> None:
    assert sorted(WITH_SPARK) == sorted(check_id for check_id in CHECKS if "spark" in check_id)


@pytest.mark.parametrize("check_id", ALONE)
def test_a_check_passes_on_the_faithful_mock_and_leaves_nothing(check_id: str) -> None:
    judged = judged_on(check_id)
    assert judged.verdict.outcome is Outcome.PASS, judged.words
    assert (judged.summary.residue, judged.summary.foreign) == ([], [])
    assert judged.summary.created == judged.summary.deleted > 0
    changing = [each for each in judged.exchanges if each.operation not in NAMELESS]
    assert [e.url for e in changing if OWNER not in f"{e.url} {e.request_body!r}"] == []


@pytest.mark.parametrize("line", KILLED_BY, ids=key_of)
def test_a_check_fails_on_a_catalog_with_its_defect(line: str) -> None:
    check_id, defect = line.split(" | ")
    judged = judged_on(check_id, defect)
    assert judged.verdict.outcome is Outcome.FAIL, judged.words
    assert (judged.summary.residue, judged.summary.foreign) == ([], [])


def test_what_pyiceberg_sends_is_recorded_as_it_sends_it_but_for_its_credentials() -> None:
    judged = judged_on("pyiceberg.create-append")
    theirs = [
        dict(each.request_headers)
        for each in judged.exchanges
        if "X-Client-Version" in dict(each.request_headers)
    ]
    assert len(theirs) > 5
    assert {headers["User-Agent"].partition("/")[0] for headers in theirs} == {"PyIceberg"}
    assert "None" not in {headers["Authorization"].removeprefix("Bearer ") for headers in theirs}
    assert {each.step for each in judged.exchanges} == {Step.DO, Step.UNDO}


def test_a_run_that_may_only_read_sends_nothing() -> None:
    judged = judged_on("pyiceberg.create-append", read_only=True)
    assert judged.verdict.outcome is Outcome.SKIP
    assert judged.exchanges == ()
