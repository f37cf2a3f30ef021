"""Law 2: every check is failed by a defect, and every defect fails a check."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import pytest
from tools.kills import proven_by

from icecheck.contract import DEFAULT_SPEC_VERSION, SPEC_VERSIONS, load
from icecheck.findings.verdict import Group, Outcome, Verdict
from icecheck.judging.check import Check
from icecheck.mock_server.defects import Defect, defects
from icecheck.proof.kill_matrix import (
    GROUPS,
    fail_anyway,
    judged_with,
    kills,
    misses,
    planted_in,
)
from icecheck.run.collect import collect
from tests.laws.golden import expect_debts, expect_golden, expect_part, key_of, reviewed, updating

MATRIX = "kill_matrix.txt"
WORKFLOWS = "workflow_kills.txt"
"""The kills of workflows, whose requirements no defect names: a defect for each breaks a step."""
SPARK = "spark_kills.txt"
"""As above, for the checks with Spark: tests/spark proves them."""
CLIENTS = "client_kills.txt"
"""As above, for the checks with PyIceberg: tests/witnesses proves them."""
DATA = "proven_by.json"
HOME = "icecheck.mock_server.defects"
PART_MAX = 60
"""The number of defects in one test: several workers then share them evenly."""


@cache
def checks(version: str = DEFAULT_SPEC_VERSION) -> tuple[Check, ...]:
    return collect(GROUPS, load(version), disruptive=True)


def checks_for(defect: Defect) -> tuple[Check, ...]:
    """Return the checks of the version whose mock gets a defect."""
    return checks(planted_in(defect))


def families() -> dict[str, list[Defect]]:
    """Return the defects by the module that declares them, large modules in parts."""
    found: dict[str, list[Defect]] = {}
    for defect in defects().values():
        found.setdefault(defect.module.removeprefix(f"{HOME}."), []).append(defect)
    parts = range(0, max(map(len, found.values())), PART_MAX)
    return {
        f"{family}-{start // PART_MAX + 1}" if len(every) > PART_MAX else family: part
        for family, every in found.items()
        for start in parts
        if (part := every[start : start + PART_MAX])
    }


def matrix() -> dict[str, list[str]]:
    """Return defect -> the checks of all kinds that it fails, as reviewed."""
    rows = [line.split(" | ") for line in reviewed(MATRIX)]
    found = {name: failed.split() for name, _, failed in rows}
    for file in (WORKFLOWS, SPARK, CLIENTS):
        for check_id, name in (line.split(" | ") for line in reviewed(file)):
            found.setdefault(name, []).append(check_id)
    return found


def test_every_defect_breaks_a_requirement_of_a_register() -> None:
    known = {id_ for version in SPEC_VERSIONS for id_ in load(version).requirements}
    assert [d.name for d in defects().values() if d.breaks not in known] == []


def test_a_defect_says_who_suffers() -> None:
    assert [name for name, d in defects().items() if not d.suffering.endswith(".")] == []


LONG = {
    "commits.crossing_races",
    "commits.long_histories",
    "commits.overlooked_races",
    "listing.large_catalogs",
}
"""Each finding of the drawn histories is shrunk, which takes long, and tests/kill finds them with
one seed; for the lists, hundreds of objects are made."""


@cache
def caught_by() -> dict[str, str]:
    """Return the check of a defect's requirement that the reviewed matrix names first."""
    by_id = {check.id: check for version in SPEC_VERSIONS for check in checks(version)}
    found: dict[str, str] = {}
    for name, failed in matrix().items():
        if name in defects():
            breaks = defects()[name].breaks
            known = [by_id[each] for each in failed if each in by_id]
            proofs = [check.id for check in known if breaks in check.proves]
            # The cheaper ones come first: histories are shrunk before they are told.
            proofs.sort(key=lambda check_id: by_id[check_id].group is not Group.CHECKS)
            if proofs:
                found[name] = proofs[0]
    return found


def judged_by(defect: Defect) -> tuple[Check, ...]:
    """Return the one check that is known to catch a defect, or all where a passive one does."""
    known = caught_by().get(defect.name)
    return tuple(check for check in checks_for(defect) if known in {None, check.id})


def missed(defect: Defect, failed: Sequence[Verdict]) -> str:
    return misses(defect, failed, load(planted_in(defect)))


def first_caught() -> dict[str, list[Defect]]:
    """Return by family, for each check that catches defects, the first of these defects.

    What only passive checks catch is taken once for each requirement.
    """
    met: set[str] = set()
    found: dict[str, list[Defect]] = {}
    for family, every in families().items():
        for defect in every if family not in LONG else ():
            catching = caught_by().get(defect.name, defect.breaks)
            if catching not in met:
                met.add(catching)
                found.setdefault(family, []).append(defect)
    return found


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(
            name,
            marks=pytest.mark.complete("twenty seconds of draws; other families are drawn too")
            if name == "generated.drawn_requests"
            else (),
        )
        for name in first_caught()
    ],
)
def test_each_check_catches_a_defect_of_this_family_that_nothing_before_has_tried(
    family: str,
) -> None:
    """The check that was reviewed as the first to catch a defect still does, at its level."""
    found = {
        defect.name: missed(defect, kills(defect, judged_by(defect)))
        for defect in first_caught()[family]
    }
    assert {name: told for name, told in found.items() if told} == {}


MISSED = (
    "these defects are not caught (nothing is written): change the defect, or write or mend a check"
    " of what it breaks, which has to fail with it at the level of the requirement"
)
FAULTY = (
    "these checks fail on the mock without any defect too, so that they prove none (nothing is "
    "written): mend the mock or the check, until `icecheck run --mock --check <check>` passes"
)
WHOLE = pytest.mark.complete("every defect, and all checks of what it breaks")
FULL = () if updating() else WHOLE


@pytest.mark.parametrize("family", [pytest.param(name, marks=FULL) for name in families()])
def test_the_defects_of_a_family_are_caught_by_what_was_reviewed(family: str) -> None:
    """A check of the broken requirement fails at its level; the golden file has other failures."""
    lines, wrong, faulty = [], [], []
    for defect in families()[family]:
        failed = kills(defect, due := checks_for(defect))
        faulty += (f"{check}, of {defect.name}" for check in fail_anyway(defect, failed, due))
        if told := missed(defect, failed):
            wrong.append(f"{defect.name}: {told}")
        lines.append(f"{defect.name} | {defect.breaks} | {' '.join(v.check for v in failed)}")
    # First: of a defect that is not caught, no line may be written.
    assert not wrong, f"{MISSED}:\n" + "\n".join(wrong)
    assert not faulty, f"{FAULTY}:\n" + "\n".join(faulty)
    expect_part(MATRIX, [defect.name for defect in families()[family]], lines)


def test_the_kill_matrix_is_about_the_defects_that_there_are() -> None:
    expect_golden(MATRIX, [line for line in reviewed(MATRIX) if key_of(line) in defects()])
    if not updating():
        keys = [key_of(line) for line in reviewed(MATRIX)]
        unknown = sorted({*defects()}.symmetric_difference(keys))
        assert not unknown, f"{MATRIX} has no line for these, or no defect: {unknown}"
        assert keys == list(defects())


def test_every_check_is_failed_by_a_defect() -> None:
    groups, every = tuple(Group), map(load, SPEC_VERSIONS)
    due = {check.id for each in every for check in collect(groups, each, disruptive=True)}
    failed = {check_id for found in matrix().values() for check_id in found}
    expect_debts("unkilled", due - failed)


@pytest.mark.parametrize("line", reviewed(WORKFLOWS), ids=key_of)
def test_a_workflow_fails_where_one_of_its_steps_is_broken(line: str) -> None:
    check_id, name = line.split(" | ")
    (check,) = [each for each in checks() if each.id == check_id]
    verdict, *_ = judged_with([defects()[name]], [check])
    assert verdict.outcome is Outcome.FAIL, f"{verdict.outcome}: {verdict.summary}"


def test_what_reports_say_of_proofs_is_the_reviewed_matrix() -> None:
    data = files("icecheck").joinpath("data", DATA)
    if updating():
        with open(str(data), "w", encoding="utf-8") as file:  # noqa: PTH123 - a resource
            file.write(json.dumps(proven_by(matrix()), indent=1) + "\n")
    assert json.loads(data.read_text(encoding="utf-8")) == proven_by(matrix())
