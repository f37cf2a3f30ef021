"""Finds operations that a catalog claims and does not serve; all of them are one cause."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from icecheck.findings.shared_symptoms import ENDPOINT_NOT_SERVED
from icecheck.findings.statuses import Statuses
from icecheck.findings.symptoms import Severity, Symptom, declare
from icecheck.findings.verdict import Evidence, Finding, Outcome, SkipKind, Verdict

NOT_SERVED_STATUSES = frozenset({404, 405, 406, 501})
"""The statuses with which an operation that is not served is answered."""
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

_SUCCESS = frozenset({"200", "204"})
_SAYS_SO = frozenset({405, 501})
"""The statuses that mean nothing else: 404 may be about an object, 406 about a form."""
# A gateway or an access check may answer these before the request reaches the operation.
_OF_ACCESS = frozenset({401, 403})
_AT_THE_GATE = _OF_ACCESS | {400}
_MISSING = Statuses.of(404)
_NAMED_MAX = 8


def proves_success(verdict: Verdict) -> bool:
    """Return whether a check proves that an operation succeeds, and not only what it refuses."""
    return any(map(_is_success, verdict.requirements))


def unserved_operations(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Return operationId -> its only status, of operations that never worked.

    Every check of such an operation's success failed or was blocked, and all its answers in failed
    checks had the same status. If no check of its success was run, the status has to say so.
    """
    verdicts = tuple(verdicts)
    missed = _missed_successes(verdicts)
    asked: dict[str, list[Verdict]] = {}
    answers: dict[str, set[int | None]] = {}
    for verdict in verdicts:
        # A check that lacked what it needs tells nothing, and does not speak for the operation.
        lacked = verdict.skip is not None and verdict.skip.kind is SkipKind.MISSING_FIXTURE
        if verdict.passive or (verdict.outcome is Outcome.SKIP and not lacked):
            continue
        for operation_id in _spoken_for(verdict, missed):
            asked.setdefault(operation_id, []).append(verdict)
        for evidence in _asking(verdict):
            if _is_perhaps_a_refusal(verdict, evidence):
                continue
            if evidence.status not in _AT_THE_GATE:
                found = None if _knows_what_is_missing(evidence) else evidence.status
                answers.setdefault(str(evidence.operation), set()).add(found)
    unserved = {}
    for operation_id, mine in asked.items():
        status, *others = answers.get(operation_id, {None})
        if others or status is None or status not in NOT_SERVED_STATUSES:
            continue
        outcomes = {v.outcome for v in mine}
        if Outcome.PASS not in outcomes and outcomes != {Outcome.SKIP}:
            unserved[operation_id] = status
    tried = {id_ for id_, mine in asked.items() if any(v.outcome is not Outcome.SKIP for v in mine)}
    return {**unserved, **_said_not_to_be_served(verdicts, answers, tried)}


def _spoken_for(verdict: Verdict, missed: Collection[str]) -> set[str]:
    """Return the operations whose success a check proves or has missed."""
    proven = {r.rpartition(".")[0] for r in verdict.requirements if _is_success(r)}
    return {id_ for id_ in proven if id_ in missed or not _waits_for_another(verdict, id_)}


def _waits_for_another(verdict: Verdict, operation_id: str) -> bool:
    """Return whether a check was blocked by something else before it asked an operation."""
    blocked = verdict.outcome is Outcome.BLOCKED
    own = any(by.partition(".")[0] == operation_id for by in verdict.blocked_by)
    return blocked and not own and all(e.operation != operation_id for e in _asking(verdict))


def _missed_successes(verdicts: Iterable[Verdict]) -> frozenset[str]:
    """Return the operations that failed where a success of them was due."""
    return frozenset(
        str(evidence.operation)
        for verdict in verdicts
        if verdict.outcome is Outcome.FAIL
        for finding in verdict.findings[:1]
        if finding.due is not None and finding.due.all_success
        for evidence in _asking(verdict)
        if evidence.ordinal == finding.exchange
    )


def _said_not_to_be_served(
    verdicts: Iterable[Verdict], answers: Mapping[str, set[int | None]], tried: Iterable[str]
) -> dict[str, int]:
    """Return the same of operations of whose success no check was run: the status says so.

    404 says so where several other refusals were due: nothing that is asked is missing every time.
    A passed check of what may be refused with any status tells nothing of the operation, and
    neither does one of access, or of the status that comes always.
    """
    verdicts = tuple(verdicts)
    found = {
        id_: status
        for id_, (status, *others) in answers.items()
        if not others and (status in _SAYS_SO or (status == 404 and _misses_several(id_, verdicts)))
    }
    known = {*tried}
    for verdict in verdicts:
        answered = _succeeded(verdict) if verdict.passive else verdict.outcome is Outcome.PASS
        parts = (r.rpartition(".") for r in verdict.requirements)
        known |= {
            id_
            for id_, _, status in parts
            if answered and status.isdecimal() and int(status) not in {found.get(id_), *_OF_ACCESS}
        }
    return {id_: status for id_, status in found.items() if status and id_ not in known}


def _misses_several(operation_id: str, verdicts: Iterable[Verdict]) -> bool:
    """Return whether refusals of two kinds were due of an operation, none of them a 404."""
    missed = {
        finding.due
        for verdict in verdicts
        if verdict.outcome is Outcome.FAIL and verdict.operations == (operation_id,)
        for finding in verdict.findings[:1]
        if finding.due and finding.due.all_refusal and not finding.due & _MISSING
    }
    return len(missed) > 1


def _succeeded(verdict: Verdict) -> bool:
    """Return whether a passive verdict is about successes that came."""
    return verdict.outcome is not Outcome.SKIP and proves_success(verdict)


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
    asked = [e.ordinal for e in _asking(verdict) if e.operation == operation_id]
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
    return [e for e in _asking(verdict) if _is_of(e, unserved)]


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
    broken = _operations_of_one_answer(verdicts)
    return [_named(v, broken, ONE_ANSWER) for v in verdicts] if broken else [*verdicts]


def _operations_of_one_answer(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Return operationId -> its only error, of operations that answered every request with it.

    No check of it passed, those of access and of malformed requests aside. A success and something
    else were due of it: otherwise it may be the success alone that fails.
    """
    verdicts = tuple(verdicts)
    missed = _missed_successes(verdicts)
    due: dict[str, set[bool]] = {}
    answers: dict[str, set[int | None]] = {}
    for verdict in verdicts:
        if verdict.passive or verdict.outcome is Outcome.SKIP:
            continue
        for operation_id, status in _told(verdict):
            answers.setdefault(operation_id, set()).add(status)
        if verdict.outcome is not Outcome.PASS:
            for operation_id, _, what in (r.partition(".") for r in verdict.requirements):
                if operation_id in missed or not _waits_for_another(verdict, operation_id):
                    due.setdefault(operation_id, set()).add(what in _SUCCESS)
    broken = {}
    for operation_id, kinds in due.items():
        status, *others = answers.get(operation_id, {None})
        if status is not None and not others and len(kinds) > 1 and _is_error(status):
            broken[operation_id] = status
    return broken


def _told(verdict: Verdict) -> Iterator[tuple[str, int | None]]:
    """Yield operations with the status that a check got from them; None for a right answer."""
    if verdict.outcome is Outcome.PASS:
        for operation_id, _, what in (r.partition(".") for r in verdict.requirements):
            if what not in map(str, _AT_THE_GATE):
                yield operation_id, None
        return
    for evidence in _asking(verdict):
        if evidence.status not in _AT_THE_GATE:
            yield str(evidence.operation), evidence.status


def _is_error(status: int) -> bool:
    return status >= 400 and status not in NOT_SERVED_STATUSES and status not in _AT_THE_GATE


def _named(verdict: Verdict, unserved: Mapping[str, int], symptom: Symptom) -> Verdict:
    match verdict.outcome:
        case Outcome.FAIL if verdict.findings:
            first = verdict.findings[0]
            about = verdict.operations
            # A check that tries every route may have been refused one beside what it judges.
            met = [
                e
                for e in _asking(verdict)
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


def _asking(verdict: Verdict) -> list[Evidence]:
    return [e for e in verdict.evidence if e.operation and e.step != "undo"]


def _is_perhaps_a_refusal(verdict: Verdict, evidence: Evidence) -> bool:
    """Return whether an answer was taken for the refusal that was due: it tells nothing then."""
    status = evidence.status
    passed = verdict.outcome is Outcome.PASS and status in NOT_SERVED_STATUSES
    return passed and not _knows_what_is_missing(evidence)


def _knows_what_is_missing(evidence: Evidence) -> bool:
    """Return whether a 404 names the missing object as the document does.

    Such an operation is served.
    """
    return evidence.status == 404 and '"NoSuch' in evidence.response_body


def _is_of(evidence: Evidence, unserved: Mapping[str, int]) -> bool:
    return unserved.get(str(evidence.operation)) == evidence.status


def _is_success(requirement_id: str) -> bool:
    return requirement_id.rpartition(".")[2] in _SUCCESS


def operation_of_success(requirement_id: str) -> str:
    """Return the operation that a requirement wants to succeed; "" if it wants something else."""
    operation_id, _, status = requirement_id.rpartition(".")
    return operation_id if status in _SUCCESS else ""
