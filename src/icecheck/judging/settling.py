"""Settles the verdicts at the end of a run, when all is known that they depend on."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from icecheck.contract import Contract
from icecheck.findings.never_worked import operation_of_success, unserved_operations
from icecheck.findings.not_served import failed_where_not_served
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.judging.observed import Observed
from icecheck.judging.passive import passive_verdicts


def settled(
    verdicts: Iterable[Verdict], permitted: Collection[str], passive: Iterable[Verdict] = ()
) -> tuple[Verdict, ...]:
    """Return the verdicts of checks at the end of a run; no verdict depends on their order.

    ``permitted`` are the operations that succeeded with the run's credentials, before a check or
    after it; ``passive`` are the verdicts on what all checks were answered. A check that passed
    without an effect is blocked by its loss if no other check of the run tells of that. One that is
    about an operation which is claimed and not served fails.
    """
    known = failed_where_not_served(_of_rights(verdicts, permitted), passive)
    wrong = [v for v in known if v.outcome in {Outcome.FAIL, Outcome.BLOCKED}]
    told = {name for verdict in wrong for name in (*verdict.requirements, *verdict.blocked_by)}
    failing = {operation for verdict in wrong for operation in verdict.operations[:1]}

    def is_told(effect: str) -> bool:
        operation_id, _, what = effect.rpartition(".")
        return effect in told or (what.isdecimal() and operation_id in failing)

    return tuple(
        replace(verdict, outcome=Outcome.BLOCKED, blocked_by=untold)
        if verdict.outcome is Outcome.PASS
        and (untold := tuple(each for each in verdict.without if not is_told(each)))
        else verdict
        for verdict in known
    )


def settled_with_passive(
    verdicts: Iterable[Verdict],
    permitted: Collection[str],
    observed: Mapping[str, Observed],
    contract: Contract,
) -> tuple[tuple[Verdict, ...], tuple[Verdict, ...]]:
    """Return the verdicts of checks, and the passive ones, without what no route has answered."""
    passive = passive_verdicts(observed, contract)
    known = settled(verdicts, permitted, passive)
    if unserved := unserved_operations((*known, *passive)):
        told = {**dict.fromkeys(_unjudged(known), min(unserved.values())), **unserved}
        passive = passive_verdicts(observed, contract, told)
    return known, tuple(passive)


def _unjudged(verdicts: Iterable[Verdict]) -> frozenset[str]:
    """Return the operations whose success was never judged: each check of it was blocked."""
    outcomes: dict[str, set[Outcome]] = {}
    for verdict in verdicts:
        for operation_id in filter(None, map(operation_of_success, verdict.requirements)):
            outcomes.setdefault(operation_id, set()).add(verdict.outcome)
    blocked, judged = {Outcome.BLOCKED}, {Outcome.PASS, Outcome.FAIL}
    return frozenset(id_ for id_, seen in outcomes.items() if seen & blocked and not seen & judged)


def _of_rights(verdicts: Iterable[Verdict], permitted: Collection[str]) -> tuple[Verdict, ...]:
    return tuple(
        verdict.if_permitted
        if verdict.if_permitted and verdict.skip and verdict.skip.lacks in permitted
        else replace(verdict, if_permitted=None)
        for verdict in verdicts
    )
