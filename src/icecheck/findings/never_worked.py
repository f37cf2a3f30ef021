"""Finds operations that never worked in a run: not served, or with one error for every request."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from icecheck.findings.statuses import Statuses
from icecheck.findings.verdict import Evidence, Outcome, SkipKind, Verdict

NOT_SERVED_STATUSES = frozenset({404, 405, 406, 501})
"""The statuses with which an operation that is not served is answered."""
_SUCCESS = frozenset({"200", "204"})
_SAYS_SO = frozenset({405, 501})
"""The statuses that mean nothing else: 404 may be about an object, 406 about a form."""
# A gateway or an access check may answer these before the request reaches the operation.
_OF_ACCESS = frozenset({401, 403})
_AT_THE_GATE = _OF_ACCESS | {400}
_MISSING = Statuses.of(404)


def proves_success(verdict: Verdict) -> bool:
    """Return whether a check proves that an operation succeeds, and not only what it refuses."""
    return any(map(_is_success, verdict.requirements))


def unserved_operations(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Return operationId -> its only status, of operations that never worked.

    Every check of such an operation's success failed or was blocked, and all its answers in failed
    checks had the same status. If no check of its success was run, the status has to say so.
    """
    return _with_what_they_block(_unserved, tuple(verdicts))


def operations_of_one_answer(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Return operationId -> its only error, of operations that answered every request with it.

    No check of it passed, those of access and of malformed requests aside. A success and something
    else were due of it: otherwise it may be the success alone that fails.
    """
    return _with_what_they_block(_of_one_answer, tuple(verdicts))


def _with_what_they_block(
    found_in: Callable[[Sequence[Verdict], "_Known"], dict[str, int]],
    verdicts: Sequence[Verdict],
) -> dict[str, int]:
    """Return operations that never worked, also those whose success waits for another such one.

    A check that waits for an operation which works, or fails otherwise, tells nothing of its own.
    """
    missed, found = _missed_successes(verdicts), dict[str, int]()
    while (more := found_in(verdicts, _Known(missed, found.keys()))).keys() - found.keys():
        found |= more
    return found


class _Known(NamedTuple):
    """Operations that failed where a success was due, and those that never worked."""

    missed: Collection[str]
    never: Collection[str]


def _unserved(verdicts: Sequence[Verdict], known: _Known) -> dict[str, int]:
    """Return the operations that one more look finds."""
    asked: dict[str, list[Verdict]] = {}
    answers: dict[str, set[int | None]] = {}
    for verdict in verdicts:
        # A check that lacked what it needs tells nothing, and does not speak for the operation.
        lacked = verdict.skip is not None and verdict.skip.kind is SkipKind.MISSING_FIXTURE
        if verdict.passive or (verdict.outcome is Outcome.SKIP and not lacked):
            continue
        for operation_id in _spoken_for(verdict, known):
            asked.setdefault(operation_id, []).append(verdict)
        for evidence in asking(verdict):
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


def _spoken_for(verdict: Verdict, known: _Known) -> set[str]:
    """Return the operations whose success a check proves or has missed."""
    proven = {r.rpartition(".")[0] for r in verdict.requirements if _is_success(r)}
    return {id_ for id_ in proven if not _waits_for_another(verdict, id_, known)}


def _waits_for_another(verdict: Verdict, operation_id: str, known: _Known) -> bool:
    """Return whether a check was blocked by something else before it asked an operation.

    It is taken to be the operation's own doing if that failed elsewhere where a success was due, or
    if what it waits for never worked.
    """
    if verdict.outcome is not Outcome.BLOCKED:
        return False
    by = {each.partition(".")[0] for each in verdict.blocked_by}
    own = operation_id in by or operation_id in known.missed or not by.isdisjoint(known.never)
    return not own and all(e.operation != operation_id for e in asking(verdict))


def _missed_successes(verdicts: Iterable[Verdict]) -> frozenset[str]:
    """Return the operations that failed where a success of them was due."""
    return frozenset(
        str(evidence.operation)
        for verdict in verdicts
        if verdict.outcome is Outcome.FAIL
        for finding in verdict.findings[:1]
        if finding.due is not None and finding.due.all_success
        for evidence in asking(verdict)
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


def _of_one_answer(verdicts: Sequence[Verdict], known: _Known) -> dict[str, int]:
    """Return the operations that one more look finds."""
    due: dict[str, set[bool]] = {}
    answers: dict[str, set[int | None]] = {}
    for verdict in verdicts:
        if verdict.passive or verdict.outcome is Outcome.SKIP:
            continue
        for operation_id, status in _told(verdict):
            answers.setdefault(operation_id, set()).add(status)
        if verdict.outcome is not Outcome.PASS:
            for operation_id, _, what in (r.partition(".") for r in verdict.requirements):
                if not _waits_for_another(verdict, operation_id, known):
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
    for evidence in asking(verdict):
        if evidence.status not in _AT_THE_GATE:
            yield str(evidence.operation), evidence.status


def _is_error(status: int) -> bool:
    return status >= 400 and status not in NOT_SERVED_STATUSES and status not in _AT_THE_GATE


def asking(verdict: Verdict) -> list[Evidence]:
    """Return the exchanges of a check with operations, those that remove things aside."""
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


def _is_success(requirement_id: str) -> bool:
    return requirement_id.rpartition(".")[2] in _SUCCESS


def operation_of_success(requirement_id: str) -> str:
    """Return the operation that a requirement wants to succeed; "" if it wants something else."""
    operation_id, _, status = requirement_id.rpartition(".")
    return operation_id if status in _SUCCESS else ""
