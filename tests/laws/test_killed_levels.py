"""Law 2: a defect of less than a MUST fails no check of a MUST, wherever else it shows."""

import zlib
from functools import cache

import pytest
from tools.kills import reached_by

from icecheck.contract import Level, load
from icecheck.findings.verdict import Group, Outcome
from icecheck.judging.check import Check
from icecheck.mock_server.defects import Defect, defects
from icecheck.mock_server.protocol.served_contract import KNOWN
from icecheck.proof.kill_matrix import judged_with, planted_in
from icecheck.proof.reach import Entry, changed_by
from icecheck.run.collect import collect
from tests.kit.shares import some
from tests.laws.golden import key_of, reviewed
from tests.laws.test_killed import families

EXCEPTIONS = "levels.txt"
"""Defects that fail a MUST although theirs is less, as ``defect | why``; no others may."""
SHARE = 60
"""Of the checks that meet a defect only on the way to what they are about, the usual command judges
one in so many: another one for each defect, so that every check meets many defects."""
WRONG = {Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR}


@cache
def reach(version: str) -> dict[Check, frozenset[Entry]]:
    """Return the checks of a MUST with the mock's behaviour that each of them uses."""
    contract = load(version)
    must = [check for check in collect((Group.CHECKS,), contract) if check.level is Level.MUST]
    met = reached_by(must, version)
    return {check: met[check.id] for check in must}


def is_lesser(defect: Defect) -> bool:
    contract = load(planted_in(defect))
    return contract.requirements[defect.breaks].level is not Level.MUST


def is_part_of_a_wider_one(defect: Defect) -> bool:
    """Return whether another defect does the same to all operations.

    Such a defect may fail the checks that the wider one fails.
    """
    name, _, operation_id = defect.name.rpartition("-")
    return operation_id in KNOWN.operations and name in defects()


def concerned(defect: Defect) -> list[Check]:
    """Return the checks that use behaviour which the defect changes."""
    changed = changed_by(defect)
    return [check for check, met in reach(planted_in(defect)).items() if met & changed]


def some_of(checks: list[Check], defect: Defect) -> list[Check]:
    """Return the checks of what the defect breaks, and one in SHARE of the others."""
    return [
        check
        for check in checks
        if about(check.id) == about(defect.breaks)
        or zlib.crc32(f"{defect.name} {check.id}".encode()) % SHARE == 0
    ]


def about(name: str) -> list[str]:
    """Return the operation or the kind of update in the name of a check or requirement."""
    first, *more = name.split(".")
    return [first, *(more[:1] if first in {"update", "view-update"} else [])]


def too_much(defect: Defect, checks: list[Check]) -> list[str]:
    """Return those of the checks that a defect fails or blocks, and passive ones of a MUST.

    The catalog has the defect from the start: a run may adapt to it, as to any catalog.
    """
    verdicts = judged_with((defect,), checks, from_the_start=True)
    return [v.check for v in verdicts if v.level is Level.MUST and v.outcome in WRONG]


def excepted() -> set[str]:
    return {key_of(line) for line in reviewed(EXCEPTIONS)}


LONG = ("commits.races", "generated.requests-1")
FAMILIES = [
    name for name, found in families().items() if name not in LONG and any(map(is_lesser, found))
]


def lesser(family: str) -> list[Defect]:
    return [d for d in families()[family] if is_lesser(d) and not is_part_of_a_wider_one(d)]


@pytest.mark.parametrize(
    "family",
    [
        *some(FAMILIES, 8),
        *(pytest.param(name, marks=pytest.mark.complete("a long family")) for name in LONG),
    ],
)
def test_what_is_no_must_fails_no_check_of_a_must(family: str) -> None:
    due = [defect for defect in lesser(family) if defect.name not in excepted()]
    found = {d.name: too_much(d, some_of(concerned(d), d)) for d in due}
    assert {name: failed for name, failed in found.items() if failed} == {}


@pytest.mark.complete("every check that meets a defect: the usual command has one in eight of them")
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_no_must_fails_no_check_of_a_must_that_meets_it(family: str) -> None:
    due = [defect for defect in lesser(family) if defect.name not in excepted()]
    found = {d.name: too_much(d, concerned(d)) for d in due}
    assert {name: failed for name, failed in found.items() if failed} == {}


@pytest.mark.parametrize("name", sorted(excepted()))
def test_an_exception_is_still_one(name: str) -> None:
    defect = defects()[name]
    assert too_much(defect, concerned(defect)), f"take it out of {EXCEPTIONS}"


def test_every_exception_is_a_lesser_defect_and_says_why() -> None:
    lines = [line.split(" | ") for line in reviewed(EXCEPTIONS)]
    assert [name for name, *_ in lines if not is_lesser(defects()[name])] == []
    assert [name for name, why in lines if not why.endswith(".")] == []
