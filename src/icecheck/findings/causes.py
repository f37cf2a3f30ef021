"""Findings grouped by cause: one root cause is one finding, however many checks it fails."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from icecheck.contract import Contract, Level
from icecheck.findings.merging.groups import Group, Rule, Seen, merged
from icecheck.findings.merging.rules import RULES
from icecheck.findings.never_worked import operation_of_success
from icecheck.findings.not_served import NOT_SERVED, ONE_ANSWER, blocking_id, named_by_operation
from icecheck.findings.statuses import STATUS, Statuses, what_is_wrong
from icecheck.findings.symptoms import NOBODY, Severity, Symptom, declare
from icecheck.findings.telling.cause_titles import consequence_in, what_is_wrong_in
from icecheck.findings.telling.client_impact import hurt_by
from icecheck.findings.telling.touching import operations_of, plainest
from icecheck.findings.verdict import CREDENTIALS, TARGET, Cause, CauseKey, Outcome, Verdict

_LEVELS = {Level.MUST: 0, Level.SHOULD: 1, Level.INTEROP: 2}
_OF_OPERATIONS = (NOT_SERVED, ONE_ANSWER)

_PREREQUISITE = declare(
    "prerequisite",
    "An arrange step fails ({what}), so that what builds on it cannot be judged",
    Severity.REFUSED,
    told=("an arrange step that works", "a failure"),
    answer_in_id=False,
)
_UNREACHABLE = declare(
    TARGET,
    "The catalog could not be reached, or kept throttling",
    Severity.REFUSED,
    told=("an arrange step that works", "a failure"),
    answer_in_id=False,
)
_CREDENTIALS_ENDED = declare(
    CREDENTIALS,
    "The catalog no longer accepts the run's credentials",
    Severity.REFUSED,
    told=("an arrange step that works", "a failure"),
    answer_in_id=False,
)


def causes_of(
    verdicts: Iterable[Verdict],
    contract: Contract,
    rules: Sequence[Rule] = RULES,
) -> tuple[Cause, ...]:
    """Group failed, blocked and erroneous verdicts by cause, the most severe first.

    A failed check belongs to the cause of its first finding, a blocked one to the cause of what
    blocks it. ``rules`` decide which groups are one cause.
    """
    verdicts = tuple(named_by_operation(tuple(verdicts)))
    groups = merged(Seen(_groups(verdicts), verdicts, contract.before_config), rules)
    made = sorted((_cause(group, contract) for group in groups), key=_rank)
    return _with_unique_ids(made)


def _rank(cause: Cause) -> tuple[int, int, int, str, str, str]:
    size = len(cause.checks)
    return (_LEVELS[cause.level], cause.severity, -size, cause.id, cause.expected, cause.actual)


def _groups(verdicts: Sequence[Verdict]) -> tuple[Group, ...]:
    """Return the findings by their keys, with the checks that had them or were blocked by them."""
    members: dict[CauseKey, list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.outcome in {Outcome.FAIL, Outcome.ERROR} and verdict.findings:
            members.setdefault(verdict.findings[0].key, []).append(verdict)
    blocked: dict[CauseKey, list[Verdict]] = {}
    blocking = _blocking(members)
    stopped = [v for v in verdicts if v.outcome is Outcome.BLOCKED]
    named = {name: v for v in reversed(stopped) for name in (*v.requirements, v.check)}
    for verdict in stopped:
        key = _blocked_by(verdict, members, blocking, named)
        blocked.setdefault(key, []).append(verdict)
    return tuple(
        Group(
            key,
            tuple(finding for verdict in members.get(key, ()) for finding in verdict.findings),
            tuple(members.get(key, ())),
            tuple(blocked.get(key, ())),
        )
        for key in {**members, **blocked}
    )


def _blocking(members: Mapping[CauseKey, Sequence[Verdict]]) -> dict[str, CauseKey]:
    """Return what a check may be blocked by -> the group that it then belongs to.

    The names are failed checks, the requirements that these were to prove, and the ids of
    operations that are not served or give one answer. Where several checks failed at one
    requirement, the most severe finding decides, because it blocks most of the checks that build on
    it.
    """
    found: dict[str, tuple[tuple[bool, int, int, str, str, str], CauseKey]] = {}
    for key, failed in members.items():
        size = len(failed)
        for verdict in failed:
            names = [verdict.check, *verdict.requirements]
            if any(key.symptom.is_a(symptom) for symptom in _OF_OPERATIONS):
                names.append(blocking_id(key.symptom, key.actual))
            severity = verdict.findings[0].severity
            for name in names:
                slug = key.symptom.slug
                rank = (name != verdict.check, severity, -size, slug, key.expected, key.actual)
                if name not in found or rank < found[name][0]:
                    found[name] = (rank, key)
    return {name: key for name, (_, key) in found.items()}


def _blocked_by(
    verdict: Verdict,
    members: Mapping[CauseKey, Sequence[Verdict]],
    blocking: Mapping[str, CauseKey],
    named: Mapping[str, Verdict],
    met: frozenset[str] = frozenset(),
) -> CauseKey:
    """Return the key of the group that a blocked check belongs to.

    What a check is blocked by may itself be blocked, and so be no finding: then it is what blocks
    that. ``named`` are the blocked verdicts by check and requirement, ``met`` those on the way.
    """
    by = verdict.blocked_by[0]
    arranged = _arrange_key(verdict)
    if arranged is not None and arranged in members:
        return arranged
    if by in blocking:
        return blocking[by]
    earlier, met = named.get(by), met | {verdict.check}
    if earlier is None or earlier.check in met:
        return _key_of(_nobody_judged(by))
    return _blocked_by(earlier, members, blocking, named, met)


def _nobody_judged(by: str) -> Symptom:
    """Return the symptom of a blocking requirement that no check of the run judged."""
    return {TARGET: _UNREACHABLE, CREDENTIALS: _CREDENTIALS_ENDED}.get(by) or _PREREQUISITE.of(by)


def _key_of(symptom: Symptom) -> CauseKey:
    return CauseKey(symptom, *(symptom.told or ("", "")))


def _arrange_key(verdict: Verdict) -> CauseKey | None:
    """Return the group of findings about the status that a check's arrange step was answered with.

    None if what blocks the check is no arrange step, or one that was not answered with an error:
    the last answer then led up to something else.
    """
    shown = verdict.evidence[-1] if verdict.evidence else None
    status = shown.status if shown is not None else None
    if shown is None or status is None or status < 400:
        return None
    if operation_of_success(verdict.blocked_by[0]) != shown.operation:
        return None
    return CauseKey.of_status(STATUS, *what_is_wrong(Statuses.of(200), status))


def _with_unique_ids(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """Number causes whose symptoms make the same slug, because a report links to them by id."""
    seen: dict[str, int] = {}
    unique = []
    for cause in causes:
        seen[cause.id] = seen.get(cause.id, 0) + 1
        again = seen[cause.id] > 1
        unique.append(replace(cause, id=f"{cause.id}-{seen[cause.id]}") if again else cause)
    return tuple(unique)


def _cause(group: Group, contract: Contract) -> Cause:
    verdicts = list(group.members or group.blocked)
    level = min((v.level for v in verdicts), key=lambda lv: _LEVELS[lv])
    members = [v for v in group.members if v.level is level]
    proven = dict.fromkeys(r for v in members for r in v.requirements)
    told = (who for v in group.members for who in hurt_by(v, contract))
    hurts = [who for who in dict.fromkeys(told) if who != NOBODY]
    named = [v for v in group.members if v.findings and v.findings[0].key == group.key]
    plain = [v for v in named if v.level is level] or verdicts
    operations = dict.fromkeys(
        (*operations_of(named, contract), *operations_of(group.members, contract))
    )
    severity = min((f.severity for f in group.findings), default=group.key.symptom.severity)
    return Cause(
        id=_id(group.key),
        operations=tuple(operations),
        wrong=what_is_wrong_in(group, contract),
        consequence=consequence_in(named or group.members, contract),
        level=level,
        symptom=group.key.symptom.slug,
        expected=group.key.expected,
        actual=group.key.actual,
        severity=int(severity),
        requirements=tuple(proven),
        members=tuple(v.check for v in members),
        blocked=tuple(v.check for v in group.blocked),
        hurts=tuple(hurts) or (NOBODY,),
        witness=plainest(plain, level).check,
        lesser=tuple(v.check for v in group.members if v.level is not level),
    )


def _id(key: CauseKey) -> str:
    parts = [key.symptom.slug]
    if key.due is not None:
        parts += [str(key.came), "for", str(key.due)]
    elif key.symptom.answer_in_id:
        parts.append(key.actual)
    text = "-".join(parts).lower()
    kept = "".join(c if c.isalnum() or c in ".:-" else "-" for c in text)
    while "--" in kept:
        kept = kept.replace("--", "-")
    return kept.strip("-")[:80]
