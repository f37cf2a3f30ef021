"""Tells of operations that a catalog claims and does not serve; all of them are one cause."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from icecheck.findings.never_worked import (
    asking,
    operation_of_success,
    operations_of_one_answer,
    unserved_operations,
)
from icecheck.findings.shared_symptoms import ENDPOINT_NOT_SERVED
from icecheck.findings.symptoms import Severity, Symptom, declare
from icecheck.findings.verdict import Evidence, Finding, Outcome, Verdict

NOT_SERVED = declare(
    "not-served",
    "Claims operations that it does not implement, and answers them with {actual}",
    Severity.REFUSED,
)
ONE_ANSWER = declare(
    "one-answer",
    "Answers {actual}, whatever is asked, where {expected} are due",
    Severity.REFUSED,
)
"""The symptom of operations that answer every request with the same error.

A 5xx has the severity of a wrong status.
"""
_BREAKS_DOWN = replace(ONE_ANSWER, severity=Severity.WRONG_STATUS)

_NAMED_MAX = 8


def blocking_id(symptom: Symptom, status: int | str) -> str:
    """Return the id that blocks a check which needs operations with this symptom."""
    return f"{symptom.slug}.{status}"


def failed_where_not_served(
    verdicts: Sequence[Verdict], passive: Iterable[Verdict] = ()
) -> tuple[Verdict, ...]:
    """Return the verdicts; a check fails if the operation that it is about is not served.

    Such a check is blocked by the success of that operation, its first one: it is no prerequisite
    there that is at fault, but what the check looks at. Or it has taken what the router says for
    the refusal that was due. Whatever else it says follows from that, and is not told. ``passive``
    verdicts are only looked at.
    """
    unserved = unserved_operations((*verdicts, *passive))
    return tuple(_failed(verdict, unserved) for verdict in verdicts)


def _failed(verdict: Verdict, unserved: Mapping[str, int]) -> Verdict:
    match verdict.outcome:
        case Outcome.PASS:
            # The evidence was there for this look; what no route has answered proves nothing.
            proven = [r for r in verdict.requirements if r.partition(".")[0] not in unserved]
            proven = proven or [*verdict.requirements]
            kept = replace(verdict, evidence=(), requirements=tuple(proven))
            operation_id = next(iter(verdict.operations), "")
            if not any(e.operation == operation_id for e in _met(verdict, unserved)):
                return kept
        case Outcome.FAIL if verdict.findings:
            kept = verdict
            operation_id = _told_of(verdict, unserved)
        case Outcome.BLOCKED:
            kept = verdict
            operation_id = operation_of_success(verdict.blocked_by[0])
            if verdict.operations[:1] != (operation_id,):
                return kept
        case _:
            return verdict
    if operation_id not in unserved:
        return kept
    status = unserved[operation_id]
    asked = [e.ordinal for e in asking(verdict) if e.operation == operation_id]
    told = verdict.summary
    if verdict.outcome is not Outcome.BLOCKED:
        told = f"{operation_id} answers {status} whatever is asked"
        if verdict.operations[:1] != (operation_id,):  # how the check came to it
            told += f": {verdict.findings[0].detail}" if verdict.findings[0].detail else ""
    finding = _finding(unserved, status, told, max(asked, default=None))
    if verdict.outcome is Outcome.FAIL:
        finding = replace(finding, due=verdict.findings[0].due)
    summary = verdict.summary if verdict.outcome is Outcome.BLOCKED else _summary(finding)
    return replace(
        verdict, outcome=Outcome.FAIL, blocked_by=(), findings=(finding,), summary=summary
    )


def _told_of(verdict: Verdict, unserved: Mapping[str, int]) -> str:
    """Return the unserved operation that a failure is about: the check's, or the one judged."""
    own = next(iter(verdict.operations), "")
    if own in unserved:
        return own
    judged = verdict.findings[0].exchange
    return next((str(e.operation) for e in _met(verdict, unserved) if e.ordinal == judged), "")


def _summary(finding: Finding) -> str:
    return f"expected {finding.expected}, got {finding.actual} ({finding.detail})"


def _met(verdict: Verdict, unserved: Mapping[str, int]) -> list[Evidence]:
    return [e for e in asking(verdict) if _is_of(e, unserved)]


def named_by_operation(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts with the findings of both kinds: not served, and one answer to all.

    Both are looked for in the original verdicts; a check that met both has the one answer only.
    """
    each = zip(verdicts, named_by_one_answer(verdicts), named_by_endpoint(verdicts), strict=True)
    return [one if one is not was else served for was, one, served in each]


def named_by_endpoint(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts; those that met an operation that is not served have that finding."""
    unserved = unserved_operations(verdicts)
    return [_named(v, unserved, NOT_SERVED) for v in verdicts] if unserved else [*verdicts]


def named_by_one_answer(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts; those that met an operation with one error for all have it as a finding.

    It makes no difference what was due of such an operation: a success, 404, or 401.
    """
    broken = operations_of_one_answer(verdicts)
    return [_named(v, broken, ONE_ANSWER) for v in verdicts] if broken else [*verdicts]


def _named(verdict: Verdict, unserved: Mapping[str, int], symptom: Symptom) -> Verdict:
    match verdict.outcome:
        case Outcome.FAIL if verdict.findings:
            first = verdict.findings[0]
            about = verdict.operations
            # A check that tries every route may have been refused one beside what it judges.
            met = [
                e
                for e in asking(verdict)
                if _is_of(e, unserved)
                and (verdict.passive or e.ordinal == first.exchange or e.operation in about)
            ]
            if not met and (first.symptom != ENDPOINT_NOT_SERVED or symptom != NOT_SERVED):
                return verdict
            # The exchange that was judged tells more than those that led to it.
            judged = [e for e in met if e.ordinal == first.exchange] or met[-1:]
            status = (judged[0].status if judged else None) or min(unserved.values())
            finding = _finding(unserved, status, first.detail, first.exchange, symptom)
            return replace(verdict, findings=(finding, *verdict.findings))
        case Outcome.BLOCKED if operation_of_success(verdict.blocked_by[0]) in unserved:
            operation_id = operation_of_success(verdict.blocked_by[0])
            return replace(verdict, blocked_by=(blocking_id(symptom, unserved[operation_id]),))
        case _:
            return verdict


def _finding(
    unserved: Mapping[str, int],
    status: int,
    detail: str,
    exchange: int | None,
    symptom: Symptom = NOT_SERVED,
) -> Finding:
    names = sorted(id_ for id_, answer in unserved.items() if answer == status)
    listed = ", ".join(names[:_NAMED_MAX])
    if len(names) > _NAMED_MAX:
        listed += f" and {len(names) - _NAMED_MAX} more"
    served = symptom == NOT_SERVED
    what = "what is claimed to be served:" if served else "answers of"
    return Finding(
        _BREAKS_DOWN if not served and status >= 500 else symptom,
        f"{what} {listed}",
        str(status),
        detail,
        exchange=exchange,
    )


def _is_of(evidence: Evidence, unserved: Mapping[str, int]) -> bool:
    return unserved.get(str(evidence.operation)) == evidence.status
