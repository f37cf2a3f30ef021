"""Law 2: every check is failed by a defect, and every defect fails a check."""

from collections.abc import Iterator
from functools import cache

from tests.kill.killing import run_checks
from tests.laws.golden import expect_debts, expect_golden

from icecheck.assembly.collect import collect
from icecheck.check import Check
from icecheck.contract import load
from icecheck.mock_server.defects import Defect, defects
from icecheck.verdict import Group, Outcome


@cache
def checks() -> tuple[Check, ...]:
    return collect((Group.CHECKS,), disruptive=True)


@cache
def kill_matrix() -> dict[str, tuple[str, ...]]:
    """Defect -> the checks that fail because of it, passive ones included, sorted.

    A defect is aimed at a requirement: the checks that prove it are judged on a mock that has
    the defect; where none does (a passive check proves it), all of them provide the exchanges.
    """
    return {name: tuple(sorted(_failed(defect))) for name, defect in defects().items()}


def _failed(defect: Defect) -> Iterator[str]:
    aimed = [check for check in checks() if defect.breaks in check.proves]
    for check_id, verdict in run_checks(aimed or checks(), (defect.name,)).items():
        if verdict.outcome is Outcome.FAIL:
            yield check_id


def test_every_defect_breaks_a_requirement_of_the_register() -> None:
    register = load().requirements
    assert [d.name for d in defects().values() if d.breaks not in register] == []


def test_every_defect_fails_a_check() -> None:
    assert [name for name, failed in kill_matrix().items() if not failed] == []


def test_a_defect_fails_what_proves_the_requirement_it_breaks() -> None:
    proofs = {check.id: check.proves for check in checks()}

    def proven(defect: Defect, failed: str) -> bool:
        """By a check of it, a passive one, or the schema verdict of that operation's answers."""
        operation = defect.breaks.partition(".")[0]
        passive = failed == defect.breaks or failed.startswith(f"schema.{operation}.")
        return passive or defect.breaks in proofs.get(failed, ())

    assert [
        name
        for name, failed in kill_matrix().items()
        if not any(proven(defects()[name], each) for each in failed)
    ] == []


def test_a_defect_says_who_suffers() -> None:
    assert [name for name, d in defects().items() if not d.suffering.endswith(".")] == []


def test_every_check_is_failed_by_a_defect() -> None:
    failed = {check_id for ids in kill_matrix().values() for check_id in ids}
    expect_debts("unkilled", {check.id for check in checks()} - failed)


def test_the_kill_matrix_is_as_reviewed() -> None:
    lines = [
        f"{name} | {defects()[name].breaks} | {' '.join(failed)}"
        for name, failed in sorted(kill_matrix().items())
    ]
    expect_golden("kill_matrix.txt", lines)
