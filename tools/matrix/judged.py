"""Judges a defect by the checks of one family, and keeps what failed."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from icecheck.client.catalog import Catalog
from icecheck.contract import Level, load
from icecheck.findings.verdict import Outcome
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.mock_server.defects import Defect, defects
from icecheck.proof.defective import defective_session
from tools.matrix.plan import VERSION, Cell, judging_checks


@dataclass(frozen=True, slots=True)
class Judged:
    """The failures that the checks of one cell had or showed.

    ``failed``: check -> its level. ``shown``: passive check -> its level and the checks among whose
    answers it failed. ``errors``: check -> the error of the suite that ended it.
    """

    failed: Mapping[str, Level] = field(default_factory=dict)
    shown: Mapping[str, tuple[Level, tuple[str, ...]]] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)


def judged(defect: Defect, checks: Iterable[Check]) -> Judged:
    """Return what the checks find on one mock with the defect, each among its own answers."""
    failed: dict[str, Level] = {}
    shown: dict[str, tuple[Level, tuple[str, ...]]] = {}
    errors: dict[str, str] = {}
    with defective_session([defect.install], spec=VERSION) as (_, session):
        for check in checks:
            session.exchanges.clear()
            verdict = judge(check, Catalog(session, check.id))
            if verdict.outcome is Outcome.FAIL:
                failed[check.id] = verdict.level
            elif verdict.outcome is Outcome.ERROR:
                errors[check.id] = verdict.summary
            seen = observe(session.exchanges, session.schemas, None, verdict)
            wrong = {name: found for name, found in seen.items() if found.findings}
            for passive in passive_verdicts(wrong, session.contract) if wrong else ():
                _, before = shown.get(passive.check, (passive.level, ()))
                shown[passive.check] = passive.level, (*before, check.id)
    return Judged(failed, shown, errors)


def prepare_worker() -> None:
    """Silence the log of a mock that fails on purpose."""
    logging.disable(logging.CRITICAL)


def judge_cells(cells: Iterable[Cell]) -> list[tuple[Cell, Judged]]:
    """Judge cells in this process."""
    known = _checks()
    return [
        (cell, judged(defects()[cell.defect], [known[each] for each in cell.checks]))
        for cell in cells
    ]


@cache
def _checks() -> dict[str, Check]:
    return {check.id: check for check in judging_checks(load(VERSION))}
