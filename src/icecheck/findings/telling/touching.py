"""Which operations a finding is about, and which of several checks shows a cause most plainly."""

from collections import Counter
from collections.abc import Iterable

from icecheck.contract import Changes, Contract
from icecheck.findings.not_served import NOT_SERVED, ONE_ANSWER
from icecheck.findings.shared_symptoms import (
    ANSWER_DIFFERS_FROM_LOAD,
    CHANGED_ALTHOUGH_REFUSED,
    CHANGED_BESIDE,
    EFFECT_MISSING,
    EFFECT_ON_ANOTHER,
)
from icecheck.findings.verdict import Evidence, Finding, Group, Level, Verdict

FEW_OPERATIONS = 2
"""A check of more operations is a walk: what fails there says nothing of the first of them."""
_SERVER_ERROR = 500
_OF_CHANGES = (
    ANSWER_DIFFERS_FROM_LOAD,
    CHANGED_ALTHOUGH_REFUSED,
    CHANGED_BESIDE,
    EFFECT_MISSING,
    EFFECT_ON_ANOTHER,
)
"""The symptoms of a change that a read shows."""
_DO = "do"
"""The step of an exchange that is no setup."""
_GROUPS = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS, Group.CLIENTS, Group.SPARK)


def touched(verdict: Verdict, contract: Contract) -> tuple[str, ...]:
    """Return the operations that a failed check has found something about, the first one first.

    That is the operation whose answer was wrong, and that one alone if it broke down, or answers
    everything alike. Where a read shows that a change was not carried out as it was answered, it is
    the change. A check of few operations is about its first one too, and about that one alone if it
    reads. Which of its requests a statement of Spark fails at is not known: then there is none.
    """
    main = () if verdict.group is Group.SPARK else verdict.operations[:1]
    few = len(verdict.operations) <= FEW_OPERATIONS
    shown = verdict.shown_by
    if shown is None or shown.operation is None:
        return main
    answered = shown.operation
    if any(map(_is_about_the_answer_alone, verdict.findings[:1])):
        return (answered,)
    if verdict.passive or _changes(answered, contract):
        return tuple(dict.fromkeys((answered, *(main if few else ()))))
    if main and few and not _changes(main[0], contract):
        return main
    is_effect = any(map(_is_about_an_effect, verdict.findings[:1]))
    change = _last_change(verdict, shown, contract) if is_effect else None
    if change is not None:
        return (change,)
    return main if main and few else (answered,)


def operations_of(verdicts: Iterable[Verdict], contract: Contract) -> tuple[str, ...]:
    """Return the operations that failed checks are about, those of most checks first."""
    counts = Counter(id_ for verdict in verdicts for id_ in touched(verdict, contract))
    place = {id_: at for at, id_ in enumerate(contract.operations)}
    return tuple(sorted(counts, key=lambda id_: (-counts[id_], place.get(id_, len(place)), id_)))


def plainest(verdicts: Iterable[Verdict], level: Level) -> Verdict:
    """Return the check that shows a cause most plainly.

    It is of the cause's level, and has an exchange to show. Then come checks of one operation
    before walks, those of the response table before others, the plain groups before drawn
    requests, scenarios and engines, and few requests before many.
    """
    return min(verdicts, key=lambda verdict: _plainness(verdict, level))


def _plainness(verdict: Verdict, level: Level) -> tuple[bool, bool, int, int, bool, int, str]:
    return (
        verdict.level is not level,
        not verdict.evidence,
        _GROUPS.index(verdict.group),
        max(1, len(verdict.operations)),
        not any(map(_is_of_the_response_table, verdict.requirements)),
        verdict.requests,
        verdict.check,
    )


def _is_of_the_response_table(requirement_id: str) -> bool:
    return requirement_id.rpartition(".")[2].isdecimal()


def _is_about_the_answer_alone(finding: Finding) -> bool:
    if any(map(finding.symptom.is_a, (NOT_SERVED, ONE_ANSWER))):
        return True
    return finding.answered is not None and finding.answered >= _SERVER_ERROR


def _is_about_an_effect(finding: Finding) -> bool:
    return any(map(finding.symptom.is_a, _OF_CHANGES))


def _last_change(verdict: Verdict, shown: Evidence, contract: Contract) -> str | None:
    """Return the operation of the last change that a check made before an exchange, or None."""
    asked = (
        each.operation
        for each in reversed(verdict.evidence)
        if each.ordinal < shown.ordinal and each.step == _DO and each.operation
    )
    return next((each for each in asked if _changes(each, contract)), None)


def _changes(operation_id: str, contract: Contract) -> bool:
    known = contract.operations.get(operation_id)
    return known is not None and known.facts.changes is Changes.OBJECTS
