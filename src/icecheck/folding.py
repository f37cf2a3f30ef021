"""Groups of findings made fewer: what one root brings about in several forms is one cause."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from icecheck.contract import Level, load
from icecheck.verdict import CREDENTIALS, TARGET, Evidence, Finding, Outcome, Verdict

__all__ = ["Gathering", "fold"]

_TAKEN_TWICE = ("status", "409", "2xx")
_LOST_IN_TRANSACTION = "effect-missing:second-change-of-a-table"
_HALF_VISIBLE = "anomaly:half-visible"
_LEVELS = tuple(Level)
# From so many operations on, one and the same answer to all of them is no coincidence.
_SAME_ANSWER_OPERATIONS_MIN = 5
_SAME_ANSWER_SHARE_MIN = 0.98
_NEVER_REFUSES_GROUPS_MIN = 3


@dataclass(slots=True)
class Gathering:
    """Findings with one symptom, one expectation and one answer, and the checks that had them.

    ``blocked`` are the checks that could not be judged because of them.
    """

    symptom: str
    expected: str
    actual: str
    findings: list[Finding] = field(default_factory=list)
    members: dict[str, Verdict] = field(default_factory=dict)
    blocked: dict[str, Verdict] = field(default_factory=dict)


def fold(groups: list[Gathering], verdicts: Sequence[Verdict]) -> list[Gathering]:
    """Return fewer groups, each with one root; ``verdicts`` are all of the run."""
    folded = _fold_one_demand(_fold_same_value(_fold_races(_fold_transactions(groups))))
    folded = _fold_choices(_fold_never_refuses(folded, verdicts))
    return _fold_same_answer(folded, verdicts)


def _fold_transactions(groups: list[Gathering]) -> list[Gathering]:
    """Make one cause of a transaction that is carried out as commits on their own.

    Whoever loses the second of two changes of one table has not put the changes together; that a
    reader comes between two tables follows from it. What is seen between them alone, without such
    a loss, is a cause of its own, or one with other contradictions of rivals.
    """
    whole = next((g for g in groups if g.symptom == _LOST_IN_TRANSACTION), None)
    parts = [g for g in groups if whole is not None and g.symptom == _HALF_VISIBLE]
    for part in parts:
        _take_over(whole or part, part)
    return [g for g in groups if g not in parts]


def _fold_races(groups: list[Gathering]) -> list[Gathering]:
    """Make one cause of names that are given twice, to clients one after the other or at once.

    What else clients at the same time are told that cannot be true together has one root as well:
    the catalog does not keep them apart. The most demanding of those names the cause.
    """
    whole = next((g for g in groups if (g.symptom, g.expected, g.actual) == _TAKEN_TWICE), None)
    twice = [g for g in groups if whole and g.symptom == "anomaly:duplicate-success"]
    others = [g for g in groups if g.symptom.startswith("anomaly:") and g not in twice]
    first = min(others, key=_least_level, default=None)
    kept = []
    for group in groups:
        if whole is not None and group in twice:
            _take_over(whole, group)
        elif first is not None and group is not first and group in others:
            _take_over(first, group)
        else:
            kept.append(group)
    return kept


def _least_level(group: Gathering) -> int:
    """Return 0 for a group with a MUST, more for lesser ones."""
    return min((_LEVELS.index(v.level) for v in group.members.values()), default=len(_LEVELS))


def _fold_same_value(groups: list[Gathering]) -> list[Gathering]:
    """Make one cause of effects that are missing and of answers that tell of them otherwise.

    Where a change was not carried out and where its answer contradicts a later look, the same
    member has the same wrong value.
    """
    values = {_value(g): g for g in groups if g.symptom.startswith("effect-missing:")}
    kept = []
    for group in groups:
        whole = values.get(_value(group))
        if group.symptom == "answer-differs-from-load" and whole is not None:
            _take_over(whole, group)
        else:
            kept.append(group)
    return kept


def _fold_choices(groups: list[Gathering]) -> list[Gathering]:
    """Make one cause of an answer that is due nowhere, where the document leaves choices open.

    A catalog that says 410 for what is missing says it where 404 is due, and where 404 is one of
    the answers that may be given. The fewer a demand leaves open, the better it names the cause.
    """
    stati = [g for g in groups if g.symptom == "status"]
    wholes: list[tuple[Gathering, set[str]]] = []
    taken: list[Gathering] = []
    for group in sorted(stati, key=lambda g: (g.expected.count(" or "), -len(g.members))):
        due = {*group.expected.split(" or ")}
        alike = (w for w in wholes if w[0].actual == group.actual and w[1] & due)
        found = next(alike, None) if len(due) > 1 else None
        if found is None:
            wholes.append((group, due))
            continue
        whole, common = found
        common &= due
        _take_over(whole, group)
        taken.append(group)
    return [g for g in groups if g not in taken]


def _fold_one_demand(groups: list[Gathering]) -> list[Gathering]:
    """Make one cause of the ways in which one status of one operation is missed.

    The operation is the one that was seen to answer: a walk is about many.
    """
    first: dict[tuple[str, str], Gathering] = {}
    kept = []
    for group in groups:
        operations = {_seen(v) for v in group.members.values()}
        if group.symptom != "status" or len(operations) != 1 or operations == {()}:
            kept.append(group)
            continue
        ((operation,),) = operations
        whole = first.setdefault((operation, group.expected), group)
        if whole is group:
            kept.append(group)
        else:
            _take_over(whole, group)
            whole.actual = " or ".join(sorted({*whole.actual.split(" or "), group.actual}))
    return kept


def _seen(verdict: Verdict) -> tuple[str, ...]:
    """Return the operation whose answer a failed check ends with."""
    last = verdict.evidence[-1].operation if verdict.evidence else None
    return verdict.operations[:1] if last is None else (last,)


def _value(group: Gathering) -> tuple[str, str, str] | None:
    first = group.findings[0] if group.findings else None
    return (first.pointer, first.expected, first.actual) if first and first.pointer else None


def _fold_never_refuses(groups: list[Gathering], verdicts: Iterable[Verdict]) -> list[Gathering]:
    """Make one cause of a catalog that accepts whatever must be refused, with any status."""
    accepting = [g for g in groups if g.symptom == "status" and _accepts_what_is_due_refused(g)]
    refuses = any(
        v.outcome is Outcome.PASS and not v.passive and any(_is_refusal(r) for r in v.requirements)
        for v in verdicts
    )
    if refuses or len(accepting) < _NEVER_REFUSES_GROUPS_MIN:
        return groups
    due = sorted({status for g in accepting for status in g.expected.split(" or ")})
    answers = sorted({g.actual for g in accepting})
    return _folded(groups, accepting, "never-refuses", " or ".join(due), " or ".join(answers))


def _fold_same_answer(groups: list[Gathering], verdicts: Iterable[Verdict]) -> list[Gathering]:
    """Make one cause of a catalog whose answer does not depend on what it is asked.

    What stands before the catalog may have an answer of its own to a few requests.
    """
    wrong = [v for v in verdicts if v.outcome in {Outcome.FAIL, Outcome.BLOCKED}]
    evidence = [e for v in wrong for e in v.evidence if _tells_of_sameness(e)]
    answers = Counter((e.status, e.response_body) for e in evidence)
    if not answers:
        return groups
    (status, body), many = answers.most_common(1)[0]
    operations = {e.operation for e in evidence if (e.status, e.response_body) == (status, body)}
    if many < _SAME_ANSWER_SHARE_MIN * len(evidence):
        return groups
    if len(operations) < _SAME_ANSWER_OPERATIONS_MIN:
        return groups
    alike = [g for g in groups if g.symptom not in {"suite-error", TARGET, CREDENTIALS}]
    said = f"{status} {body[:60]}".strip()
    return _folded(groups, alike, "same-answer", "answers that depend on the request", said)


def _tells_of_sameness(evidence: Evidence) -> bool:
    """Whether an answer was to differ from others: those to HEAD and of the start are apart."""
    head = evidence.request.startswith("HEAD ")
    start = evidence.operation in load().before_config
    return evidence.status is not None and not head and not start


def _folded(
    groups: list[Gathering], parts: list[Gathering], symptom: str, expected: str, actual: str
) -> list[Gathering]:
    whole = Gathering(symptom, expected, actual)
    for part in parts:
        _take_over(whole, part)
    return [whole, *(g for g in groups if g not in parts)]


def _take_over(whole: Gathering, part: Gathering) -> None:
    whole.findings += part.findings
    whole.members |= part.members
    whole.blocked |= part.blocked


def _accepts_what_is_due_refused(group: Gathering) -> bool:
    due = group.expected.split(" or ")
    return group.actual.startswith("2") and all(status.startswith("4") for status in due)


def _is_refusal(requirement_id: str) -> bool:
    status = requirement_id.rpartition(".")[2]
    return status.isdecimal() and status.startswith("4")
