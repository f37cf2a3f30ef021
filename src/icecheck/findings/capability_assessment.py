"""Compares what a catalog claims with what it does: a row for each operation and capability.

Capabilities that no endpoint announces get a row too.
"""

from collections.abc import Container, Iterable, Mapping, Sequence

from icecheck.contract import Changes, Contract, Operation
from icecheck.findings.never_worked import NOT_SERVED_STATUSES, proves_success, unserved_operations
from icecheck.findings.not_served import NOT_SERVED, named_by_endpoint
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.findings.statuses import STATUS, Statuses
from icecheck.findings.telling.touching import touched
from icecheck.findings.verdict import Capability, Finding, Outcome, Verdict
from icecheck.targets.offer import Offer

_GONE = 404
_READING = ("load", "list")
_EXISTS = "Exists"


def capabilities_of(
    verdicts: Sequence[Verdict],
    offer: Offer | None,
    contract: Contract,
    *,
    undeclared: Mapping[str, str] | None = None,
    probed: Mapping[str, bool | None] | None = None,
    needed_by: Mapping[str, Sequence[str]] | None = None,
    traits: Mapping[str, tuple[str, str]] | None = None,
    shown_late: Container[str] = (),
) -> tuple[Capability, ...]:
    """Return the rows: every operation of the document, then what was ``probed``.

    ``undeclared``: operationId -> what trying an operation that is not claimed showed. ``traits``:
    capability -> the operation that it is part of, and what engines lose without it. A capability
    of an operation that is not served is unknown, not absent. ``shown_late`` are failed checks for
    which it was a load that showed an older version: what they changed may have been changed.
    """
    tried, ids = undeclared or {}, {v.check for v in verdicts}
    unserved = unserved_operations(verdicts)
    # A check that met an operation that is not served shows nothing about any other operation.
    verdicts = [v for v in named_by_endpoint(verdicts) if not _met_nobody(v)]
    rows = []
    for operation in contract.operations.values():
        declared = None if offer is None else offer.claims(operation.id, contract)
        mine = [v for v in verdicts if v.operations and v.operations[0] == operation.id]
        changes = operation.facts.changes is Changes.OBJECTS
        about = [
            v
            for v in mine
            if not _failed_at_others(v, operation.id, contract)
            and not (changes and v.check in shown_late)
        ]
        observed = _observed(operation, about, unserved) if declared else tried.get(operation.id)
        rows.append(
            Capability(
                id=f"endpoint:{operation.endpoint}",
                declared=declared,
                observed=observed or "not-probed",
                assessment=_assess(observed or "not-probed", declared=declared),
                checks=tuple(v.check for v in mine),
            )
        )
    for name, present in sorted((probed or {}).items()):
        checks = tuple(id_ for id_ in (needed_by or {}).get(name, ()) if id_ in ids)
        operation_id, loses = (traits or {}).get(name, ("", ""))
        known = None if operation_id in unserved else present
        rows.append(_capability(name, known, checks, loses))
    return tuple(rows)


def _capability(name: str, present: bool | None, checks: tuple[str, ...], loses: str) -> Capability:
    observed, assessment = {
        True: ("works", "supported"),
        False: ("absent", "not-supported"),
        None: ("not-probed", "unknown"),
    }[present]
    return Capability(f"capability:{name}", None, observed, assessment, checks, loses)


def _is_false_acceptance(verdict: Verdict, operation_id: str, unserved: Container[str]) -> bool:
    """Return whether a failed check shows that an operation was answered 2xx and did nothing.

    Either the finding says so, or the finding is about a request that reads through another
    operation (one that is served), and the check expected no refusal: the accepted change cannot be
    seen.
    """
    if verdict.outcome is not Outcome.FAIL or any(map(_is_refusal, verdict.requirements)):
        return False
    first = verdict.findings[0]
    if first.symptom.is_a(EFFECT_MISSING):
        return True
    return _is_seen_elsewhere(verdict, operation_id, unserved) and _is_the_opposite(first)


def _is_seen_elsewhere(verdict: Verdict, operation_id: str, unserved: Container[str]) -> bool:
    """Return whether a check's first finding is the status of a read by another operation."""
    first = verdict.findings[0]
    shown = [e.operation or "" for e in verdict.evidence if e.ordinal == first.exchange]
    return first.symptom == STATUS and any(
        other != operation_id
        and other not in unserved
        and (other.startswith(_READING) or other.endswith(_EXISTS))
        for other in shown
    )


def _is_of_another(verdict: Verdict, operation_id: str, unserved: Container[str]) -> bool:
    """Return whether a check failed because of another operation's answer.

    Such a check shows nothing about this operation.
    """
    return (
        verdict.outcome is Outcome.FAIL
        and _is_seen_elsewhere(verdict, operation_id, unserved)
        and not _is_the_opposite(verdict.findings[0])
    )


def _failed_at_others(verdict: Verdict, operation_id: str, contract: Contract) -> bool:
    """Return whether a check has found something, and about other operations alone."""
    about = touched(verdict, contract) if verdict.outcome is Outcome.FAIL else ()
    return bool(about) and operation_id not in about


def _is_the_opposite(finding: Finding) -> bool:
    """Return whether an object that must exist is missing, or one that must be gone still exists.

    Other statuses show neither.
    """
    came = Statuses.of(finding.answered or 0)
    if finding.due is not None and _GONE in finding.due.single:
        return came.all_success
    return finding.answered == _GONE


def _met_nobody(verdict: Verdict) -> bool:
    return any(finding.symptom == NOT_SERVED for finding in verdict.findings[:1])


def _is_refusal(requirement_id: str) -> bool:
    return requirement_id.rpartition(".")[2].startswith("4")


def _observed(operation: Operation, verdicts: Iterable[Verdict], unserved: Container[str]) -> str:
    operation_id = operation.id
    if operation_id in unserved:
        return "absent"
    # A passive verdict does not show what the operation does, and refusing a bad request does not
    # show that a good one works.
    ran = [
        v
        for v in verdicts
        if v.outcome in {Outcome.PASS, Outcome.FAIL}
        and not v.passive
        and not _is_of_another(v, operation_id, unserved)
    ]
    judged = [v for v in ran if proves_success(v)]
    # A read accepts nothing: what it shows wrongly is no change that was not carried out.
    changes = operation.facts.changes is Changes.OBJECTS
    in_vain = [v for v in ran if changes and _is_false_acceptance(v, operation_id, unserved)]
    failed = [v for v in judged or ran if v.outcome is Outcome.FAIL and v not in in_vain]
    if judged and failed and all(map(_has_another_success, failed)):
        failed = []
    if failed:
        answers = {f.answered for v in failed for f in v.findings if f.symptom == STATUS}
        return "absent" if answers and answers <= NOT_SERVED_STATUSES else "broken"
    if in_vain:
        return "silent-no-op"
    return "works" if judged else "not-probed"


def _has_another_success(verdict: Verdict) -> bool:
    """Return whether every finding is one success status where another success status is due."""
    return all(
        f.symptom == STATUS
        and f.due is not None
        and f.due.any_success
        and Statuses.of(f.answered or 0).all_success
        for f in verdict.findings
    )


def _assess(observed: str, *, declared: bool | None) -> str:
    match observed:
        case "not-probed":
            return "not-supported" if declared is False else "unknown"
        case "works":
            return "supported" if declared else "served-but-undeclared"
        case "silent-no-op":
            return "false-acceptance"
        case _:
            return "false-advertising" if declared else "not-supported"
