"""Law 2: a defect of less than a MUST fails no check of a MUST, wherever else it shows."""

from functools import cache

import pytest
from tests.laws.golden import key_of, reviewed
from tests.laws.test_killed import families
from tools.kills import reached_by

from icecheck.contract import Level, load
from icecheck.findings.verdict import Group, Outcome
from icecheck.judging.check import Check
from icecheck.mock_server.defects import Defect, defects
from icecheck.proof.kill_matrix import judged_with
from icecheck.proof.reach import Entry, changed_by
from icecheck.run.collect import collect

EXCEPTIONS = "levels.txt"
"""Defects that fail a MUST although theirs is less, as ``defect | why``; no others may."""
WRONG = {Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR}


@cache
def reach() -> dict[Check, frozenset[Entry]]:
    """Return the checks of a MUST with the mock's behaviour that each of them uses."""
    must = [check for check in collect((Group.CHECKS,), load()) if check.level is Level.MUST]
    met = reached_by(must)
    return {check: met[check.id] for check in must}


def is_lesser(defect: Defect) -> bool:
    return load().requirements[defect.breaks].level is not Level.MUST


def is_part_of_a_wider_one(defect: Defect) -> bool:
    """Return whether another defect does the same to all operations.

    Such a defect may fail the checks that the wider one fails.
    """
    name, _, operation_id = defect.name.rpartition("-")
    return operation_id in load().operations and name in defects()


def too_much(defect: Defect) -> list[str]:
    """Return the checks of a MUST that a defect fails or blocks, passive ones included.

    The judged checks are those that use behaviour which the defect changes, on a catalog that has
    it from the start: a run may adapt to it, as to any catalog.
    """
    changed = changed_by(defect)
    concerned = [check for check, met in reach().items() if met & changed]
    verdicts = judged_with((defect,), concerned, from_the_start=True)
    return [v.check for v in verdicts if v.level is Level.MUST and v.outcome in WRONG]


def excepted() -> set[str]:
    return {key_of(line) for line in reviewed(EXCEPTIONS)}


@pytest.mark.parametrize(
    "family", [name for name, found in families().items() if any(map(is_lesser, found))]
)
def test_what_is_no_must_fails_no_check_of_a_must(family: str) -> None:
    lesser = [d for d in families()[family] if is_lesser(d) and not is_part_of_a_wider_one(d)]
    found = {d.name: too_much(d) for d in lesser}
    wrong = {name: failed for name, failed in found.items() if failed}
    mended = [name for name in found if name in excepted() and not found[name]]
    assert {name: wrong[name] for name in wrong if name not in excepted()} == {}
    assert mended == [], f"no longer exceptions: take them out of {EXCEPTIONS}"


def test_every_exception_is_a_lesser_defect_and_says_why() -> None:
    lines = [line.split(" | ") for line in reviewed(EXCEPTIONS)]
    assert [name for name, *_ in lines if not is_lesser(defects()[name])] == []
    assert [name for name, why in lines if not why.endswith(".")] == []
