"""One cause where loads answer what they have answered before."""

from dataclasses import replace

import pytest

from icecheck.findings.causes import causes_of
from icecheck.findings.verdict import Evidence, Group, Verdict
from icecheck.run.collect import collect
from tests.kill.killing import run_checks
from tests.kit.contracts import CONTRACT
from tests.unit.findings.test_merged_causes import causes, evidence, failing


def answered(*answers: str) -> tuple[Evidence, ...]:
    """Answers in this order: an operation of one table, and the version that it answers with."""
    told = (each.partition(" ") for each in answers)
    return tuple(
        replace(
            evidence(operation, body=f'{{"metadata-location":"{version}"}}'),
            ordinal=at,
            request=f"{'GET' if operation.startswith('load') else 'POST'} http://c.test/tables/t?a={at}",
        )
        for at, (operation, _, version) in enumerate(told)
    )


def shown(check: str, symptom: str, *answers: str) -> Verdict:
    given = answered(*answers)
    return failing(check, symptom, "the new one", "the old one", evidence=given)


STALE = shown(
    "latest",
    "stale-read-after-commit",
    "createTable 0",
    "loadTable 0",
    "updateTable 1",
    "loadTable 0",
)
DROPPED = shown("gone", "effect-missing:drop-table", "createTable 0", "dropTable", "loadTable 0")
LOST = shown("kept", "effect-missing:commit", "loadTable 0", "updateTable 1", "loadTable 0")
ANSWER = shown("told", "answer-differs-from-load", "updateTable 1", "updateTable 2")
ELSEWHERE = shown(
    "else", "effect-missing:properties", "loadTable 0", "updateTable 1", "loadTable 1"
)
ANEW = shown(
    "anew", "effect-missing:name", "loadTable 0", "dropTable", "createTable 1", "loadTable 1"
)
UNCHANGED = shown("twice", "effect-missing:load", "loadTable 0", "loadTable 0")


def test_what_loads_show_again_is_one_cause_and_nothing_else_is_part_of_it():
    first, *others = causes(STALE, DROPPED, LOST, ANSWER, ELSEWHERE, ANEW, UNCHANGED)
    assert first.symptom == "stale-read-after-commit"
    assert {*first.members} == {"latest", "gone", "kept", "told"}
    assert {check for cause in others for check in cause.members} == {"else", "anew", "twice"}


def test_commits_or_drops_that_are_lost_are_no_loads_that_are_stale():
    assert len(causes(STALE, LOST)) == 2
    assert len(causes(DROPPED, LOST)) == 2


OF_LOADS = (
    "loadTable.shows-last-commit", "loadTable.etag-changes", "dropTable.leaves-nothing",
    "tableExists.agrees", "second-life.table", "commit.metadata-log", "renameTable.moves-table",
    "alike.tables-of-one-name", "roundtrip.updateTable.set-location",
)  # fmt: skip


@pytest.mark.parametrize(
    ("planted", "wrong"),
    [
        ((), []),
        (("load-cached",), ["stale-read-after-commit"]),
        (
            ("load-cached", "namespace-drop-cascades"),
            ["stale-read-after-commit", "status"],
        ),
    ],
)
def test_a_load_that_is_cached_is_one_cause_and_takes_no_other_with_it(planted, wrong):
    every = collect((Group.CHECKS, Group.GENERATED), CONTRACT)
    wanted = [c for c in every if c.id in OF_LOADS or c.id == "dropNamespace.holds-table"]
    found = causes_of(tuple(run_checks(wanted, planted).values()), CONTRACT)
    assert [cause.symptom for cause in found] == wrong
    if planted:
        assert found[0].operations[0] == "loadTable"
