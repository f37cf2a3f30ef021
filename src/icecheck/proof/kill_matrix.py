"""The kill matrix: every defect of the mock, and the checks that fail on it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from icecheck.client.catalog import Catalog
from icecheck.contract import DEFAULT_SPEC_VERSION, Contract, first_with
from icecheck.contract.releases import newest
from icecheck.findings.verdict import Group, Level, Outcome, Verdict
from icecheck.judging import losers
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.judging.observed import Observed
from icecheck.judging.passive import observe
from icecheck.judging.settling import settled_with_passive
from icecheck.mock_server.defects import Defect
from icecheck.proof.defective import defective_session
from icecheck.proof.reach import changed_by

GROUPS = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)
"""The groups that need only a catalog."""
_MANY, _OF_EACH = 60, 4
"""Of more checks than many, so many of each operation are tried first."""


def planted_in(defect: Defect) -> str:
    """Return the version that a mock has to serve for a defect: the oldest that can show it."""
    return newest([first_with(defect.breaks).version, *filter(None, [defect.since])])


def judged_with(
    defects: Iterable[Defect],
    checks: Iterable[Check],
    *,
    spec: str | None = None,
    from_the_start: bool = False,
) -> list[Verdict]:
    """Return the verdicts on one mock with all these defects, those of passive checks last.

    ``spec`` is the version that is served and judged by: by default the oldest one that has the
    requirements which the defects break. With ``from_the_start`` the run meets the defects before
    its first check too, and may adapt to them.
    """
    planted = [*defects]
    broken = [planted_in(defect) for defect in planted]
    version = spec or newest([DEFAULT_SPEC_VERSION, *broken])
    installs = [defect.install for defect in planted]
    with defective_session(installs, spec=version, from_the_start=from_the_start) as (_, session):
        verdicts: list[Verdict] = []
        observed: dict[str, Observed] = {}
        for check in checks:
            session.exchanges.clear()
            verdicts.append(judge(check, Catalog(session, check.id)))
            observe(session.exchanges, session.schemas, observed, verdicts[-1])
        known, passive = settled_with_passive(
            verdicts, session.permitted, observed, session.contract
        )
        return [*known, *passive]


def aimed_at(defect: Defect, checks: Sequence[Check]) -> Sequence[Check]:
    """Return the checks that a defect is to fail: those of the requirement which it breaks.

    If none proves it, a passive check has to notice the defect in the answers that others get:
    these are the plain checks of an operation that the defect changes, or else all plain checks.
    """
    if aimed := [check for check in checks if defect.breaks in check.proves]:
        return aimed
    plain = [each for each in checks if each.group is Group.CHECKS and not each.disruptive]
    if defect.breaks == losers.REQUIREMENT:  # only races have losers
        plain = [each for each in checks if each.id.startswith("race.")]
    changed = {entry for registry, entry in changed_by(defect) if registry == "operations"}
    return [check for check in plain if changed.intersection(check.operations)] or plain


def kills(defect: Defect, checks: Sequence[Check]) -> tuple[Verdict, ...]:
    """Return the failures of the checks that a defect is to fail, sorted by check.

    The checks are those of the version in which it is planted (`planted_in`).
    """
    aimed = aimed_at(defect, checks)
    for some in (_few_of(aimed), aimed):
        verdicts = judged_with((defect,), some)
        failed = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
        if failed:
            break
    return tuple(sorted(failed, key=lambda verdict: verdict.check))


def fail_anyway(
    defect: Defect, failed: Sequence[Verdict], checks: Sequence[Check]
) -> tuple[str, ...]:
    """Return those of the failures of a defect that the mock without a defect has too.

    They prove nothing about the defect. A passive check judges the answers that others get, so it
    is judged by the few that are about the defect.
    """
    ids = {verdict.check for verdict in failed}
    aimed = aimed_at(defect, checks)
    asked = {check for check in aimed if check.id in ids}
    if any(verdict.passive for verdict in failed):
        asked |= {*_few_of(aimed)}
    spec = planted_in(defect)
    faulty = {id_ for check in asked for id_ in _failures_without_a_defect(check, spec)}
    return tuple(sorted(ids & faulty))


@cache
def _failures_without_a_defect(check: Check, spec: str) -> frozenset[str]:
    """Return what fails when this check alone is judged on the faithful mock."""
    verdicts = judged_with((), [check], spec=spec)
    return frozenset(v.check for v in verdicts if v.outcome is Outcome.FAIL)


def _few_of(aimed: Sequence[Check]) -> Sequence[Check]:
    """Return some checks about each operation; a defect of every answer shows in a few of them."""
    if len(aimed) <= _MANY:
        return aimed
    seen: Counter[tuple[str, ...]] = Counter()
    few = []
    for check in aimed:
        about = check.operations[:1]
        seen[about] += 1
        if seen[about] <= _OF_EACH:
            few.append(check)
    return few


def is_proof(defect: Defect, verdict: Verdict) -> bool:
    """Return whether a failure is about what the defect breaks.

    It is if its check proves the requirement, or judges the shape of that operation's answers.
    """
    operation = defect.breaks.partition(".")[0]
    shape = verdict.passive and verdict.check.startswith(f"schema.{operation}.")
    return shape or verdict.check == defect.breaks or defect.breaks in verdict.requirements


def misses(defect: Defect, failed: Sequence[Verdict], contract: Contract) -> str:
    """Return what is wrong with how a defect was noticed; "" if nothing is.

    A check about what it breaks has to fail, for a MUST one of level MUST; a defect of less than
    a MUST may fail no check of a MUST.
    """
    level = contract.requirements[defect.breaks].level
    proofs = [verdict for verdict in failed if is_proof(defect, verdict)]
    if not proofs:
        return f"no check of the broken requirement fails: {defect.breaks}"
    if level is Level.MUST and all(verdict.level is not Level.MUST for verdict in proofs):
        return f"{defect.breaks} is a must, and {proofs[0].check} is a {proofs[0].level}"
    too_much = [verdict.check for verdict in failed if verdict.level is Level.MUST]
    if level is not Level.MUST and too_much:
        return f"{defect.breaks} is a {level}, and {', '.join(too_much)} fails"
    return ""
