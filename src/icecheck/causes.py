"""Findings grouped by cause: one root cause is one finding, however many checks it fails."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from icecheck.contract import Level, Requirement
from icecheck.unserved import SYMPTOM, named_by_endpoint
from icecheck.verdict import CREDENTIALS, TARGET, Cause, Evidence, Finding, Outcome, Verdict

__all__ = ["causes_of", "severity_of"]

_LEVELS = {Level.MUST: 0, Level.SHOULD: 1, Level.INTEROP: 2}

# Verdict-rules 18: the order of severity in every list; smaller is worse.
_FALSE_ACCEPTANCE = 0
_EXPOSED = 1
_WRONG_STATUS = 2
_REFUSED = 3
_SHAPE = 4
_WORDING = 5

_FALSE_ACCEPTANCES = (
    "effect", "lost-update", "false-acceptance", "changed-although", "anomaly:",
)  # fmt: skip

_TITLES = {
    "status": "Answers {actual} where {expected} is due",
    "member-missing": "Leaves out a member that is due: {expected}",
    "error-code": "error.code differs from the HTTP status",
    "body-on-204": "Sends a body with status 204",
    "schema:required": "Leaves out required members of answers",
    "schema:not-json": "Answers without the JSON body that is due",
    "body-is-no-json": "Answers without the JSON body that is due",
    "suite-error": "The suite itself failed",
    "target": "The catalog could not be reached, or kept throttling",
    "credentials": "The catalog accepts the run's credentials no more",
    "same-answer": "Whatever was asked, the failed checks got the same answer: {actual}",
    "never-refuses": "Refuses nothing: answers {actual} where {expected} is due",
    "page-tokens": "Asks for page tokens, or gives them out, otherwise than documented",
    "names-run-together": "Takes names for other names, or gives them back altered",
    "changed-although-refused": "Refuses a request and changes something all the same",
    SYMPTOM: "Claims operations and answers them with {actual}, as if nobody had written them",
}
_TITLE_STARTS = {
    "prerequisite:": "An arrange step fails ({what}), so that what builds on it cannot be judged",
    "schema:": "Answers do not have the documented shape ({what})",
    "effect-missing:": "Accepts a change and does not carry it out: {what}",
    "effect-on-another:": "A change reaches more than it names: {what}",
    "anomaly:": "Clients that work at the same time are told what cannot be true together: {what}",
}
# Symptoms of one root cause, whatever member they name.
_FAMILY = {
    "body-is-no-json": "schema:not-json",
    "member-missing": "schema:required",
    "mistyped-value-accepted": "status",
    "name-altered": "names-run-together",
    "cut-short-without-token": "page-tokens",
    "last-page-token": "page-tokens",
}
# Symptoms that say all there is to say: what was expected and came differs by the check's data.
_VALUES_ASIDE = (
    "effect-missing:", "effect-on-another:", "changed-although-refused", "lost-update",
    "names-run-together", "page-tokens",
)  # fmt: skip
_TAKEN_TWICE = ("status", "409", "2xx")
# From so many operations on, one and the same answer to all of them is no coincidence.
_SAME_ANSWER_OPERATIONS_MIN = 5
_SAME_ANSWER_SHARE_MIN = 0.98
_NEVER_REFUSES_GROUPS_MIN = 3
_NAMED_BY_SYMPTOM = (
    "schema:", "prerequisite:", TARGET, CREDENTIALS, "same-answer", "never-refuses",
)  # fmt: skip


@dataclass(slots=True)
class _Group:
    symptom: str
    expected: str
    actual: str
    findings: list[Finding] = field(default_factory=list)
    members: dict[str, Verdict] = field(default_factory=dict)
    blocked: dict[str, Verdict] = field(default_factory=dict)


def causes_of(
    verdicts: Iterable[Verdict], requirements: Mapping[str, Requirement]
) -> tuple[Cause, ...]:
    """Group failed, blocked and erroneous verdicts by cause, the gravest first.

    A failed check belongs to the cause of each distinct finding's family (its first finding
    decides); a blocked one to the cause of what blocks it.
    """
    verdicts = named_by_endpoint(list(verdicts))
    groups: dict[tuple[str, str, str], _Group] = {}
    cause_of_check: dict[str, _Group] = {}
    for verdict in verdicts:
        if verdict.outcome in {Outcome.FAIL, Outcome.ERROR} and verdict.findings:
            group = _group(groups, _key(verdict.findings[0]))
            group.findings += verdict.findings
            group.members[verdict.check] = verdict
            names = (verdict.check, *verdict.requirements)
            if group.symptom == SYMPTOM:
                names = (*names, f"{SYMPTOM}.{group.actual}")
            for name in names:
                cause_of_check.setdefault(name, group)
    for verdict in verdicts:
        if verdict.outcome is Outcome.BLOCKED:
            by = verdict.blocked_by[0]
            blocking = groups.get(_arrange_key(verdict)) or cause_of_check.get(by)
            if blocking is None:
                symptom = by if by in {TARGET, CREDENTIALS} else f"prerequisite:{by}"
                blocking = _group(groups, (symptom, "an arrange step that works", "a failure"))
            blocking.blocked[verdict.check] = verdict
    folded = _fold_one_demand(_fold_same_value(_fold_races(list(groups.values()))))
    folded = _fold_same_answer(_fold_never_refuses(folded, verdicts), verdicts)
    made = _with_unique_ids([_cause(group, requirements) for group in folded])
    made.sort(key=lambda c: (_LEVELS[c.level], c.severity, -len(c.members) - len(c.blocked), c.id))
    return tuple(made)


def severity_of(finding: Finding) -> int:
    """Return how grave a finding is, 0 the gravest (verdict-rules 18)."""
    symptom, expected, actual = finding.key
    if symptom.startswith(_FALSE_ACCEPTANCES):
        return _FALSE_ACCEPTANCE
    if symptom.startswith(("leak", "unauthorised")):
        return _EXPOSED
    if symptom == SYMPTOM:
        return _REFUSED
    if symptom == "status":
        if actual.startswith("2") and not expected.startswith("2"):
            return _FALSE_ACCEPTANCE if expected == "409" else _WRONG_STATUS
        return _REFUSED if expected.startswith("2") and actual.startswith("4") else _WRONG_STATUS
    if symptom == "error-type":
        return _WORDING
    return _SHAPE


def _group(groups: dict[tuple[str, str, str], _Group], key: tuple[str, str, str]) -> _Group:
    return groups.setdefault(key, _Group(*key))


def _key(finding: Finding) -> tuple[str, str, str]:
    symptom = _FAMILY.get(finding.symptom, finding.symptom)
    if symptom.startswith("schema:"):
        # Required members left out of forty bodies are one sloppy serialiser.
        return (symptom, "the documented shape", "another shape")
    if symptom.startswith(_VALUES_ASIDE):
        return (symptom, "the change, and nothing else", "another state")
    if symptom == "status":
        return (symptom, *_statuses(finding.expected, finding.actual))
    return (symptom, finding.expected, finding.actual)


def _statuses(expected: str, actual: str) -> tuple[str, str]:
    """Return a wrong status as what is wrong with it, whichever operation gave it.

    A request that breaks the contract is due a 400, or any other refusal. What came instead has the
    same root whether it is the 200 of one operation or the 204 of another, and a server that falls
    over does so for what it should have refused and for what it need not have served alike.
    """
    due = expected.split(" or ")
    refusal = due[-1] in {"4xx", "a refusal"} or due[0] == "400"
    success = all(status.startswith("2") for status in due)
    if actual.startswith("5"):
        kind = "4xx" if refusal else "2xx" if success else expected
        return (kind, actual)
    if actual.startswith("2") and not success:
        return ("4xx" if refusal else expected, "2xx")
    if actual.startswith("4") and success:
        return ("2xx", "4xx")
    return (expected, actual)


def _arrange_key(verdict: Verdict) -> tuple[str, str, str]:
    """Return the group of checks that miss what an arrange step missed, if it had an answer."""
    shown = verdict.evidence[-1] if verdict.evidence else None
    status = shown.status if shown is not None else None
    if status is None or status < 400:
        return ("", "", "")
    return ("status", *_statuses("200", str(status)))


def _fold_races(groups: list[_Group]) -> list[_Group]:
    """Make one cause of names that are given twice, to clients one after the other or at once."""
    whole = next((g for g in groups if (g.symptom, g.expected, g.actual) == _TAKEN_TWICE), None)
    kept = []
    for group in groups:
        if whole is not None and group.symptom == "anomaly:duplicate-success":
            _take_over(whole, group)
        else:
            kept.append(group)
    return kept


def _fold_same_value(groups: list[_Group]) -> list[_Group]:
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


def _fold_one_demand(groups: list[_Group]) -> list[_Group]:
    """Make one cause of the ways in which one status of one operation is missed."""
    first: dict[tuple[str, str], _Group] = {}
    kept = []
    for group in groups:
        operations = {v.operations[:1] for v in group.members.values()}
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


def _value(group: _Group) -> tuple[str, str, str] | None:
    first = group.findings[0] if group.findings else None
    return (first.pointer, first.expected, first.actual) if first and first.pointer else None


def _fold_never_refuses(groups: list[_Group], verdicts: Iterable[Verdict]) -> list[_Group]:
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


def _fold_same_answer(groups: list[_Group], verdicts: Iterable[Verdict]) -> list[_Group]:
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
    start = evidence.operation in {"getConfig", "getToken"}
    return evidence.status is not None and not head and not start


def _folded(
    groups: list[_Group], parts: list[_Group], symptom: str, expected: str, actual: str
) -> list[_Group]:
    whole = _Group(symptom, expected, actual)
    for part in parts:
        _take_over(whole, part)
    return [whole, *(g for g in groups if g not in parts)]


def _take_over(whole: _Group, part: _Group) -> None:
    whole.findings += part.findings
    whole.members |= part.members
    whole.blocked |= part.blocked


def _accepts_what_is_due_refused(group: _Group) -> bool:
    due = group.expected.split(" or ")
    return group.actual.startswith("2") and all(status.startswith("4") for status in due)


def _is_refusal(requirement_id: str) -> bool:
    status = requirement_id.rpartition(".")[2]
    return status.isdecimal() and status.startswith("4")


def _with_unique_ids(causes: list[Cause]) -> list[Cause]:
    """Number causes whose symptoms make the same slug: a report links to them by id."""
    seen: dict[str, int] = {}
    unique = []
    for cause in causes:
        seen[cause.id] = seen.get(cause.id, 0) + 1
        again = seen[cause.id] > 1
        unique.append(replace(cause, id=f"{cause.id}-{seen[cause.id]}") if again else cause)
    return unique


def _cause(group: _Group, requirements: Mapping[str, Requirement]) -> Cause:
    verdicts = [*group.members.values()] or [*group.blocked.values()]
    level = min((v.level for v in verdicts), key=lambda lv: _LEVELS[lv])
    proven = dict.fromkeys(r for v in group.members.values() for r in v.requirements)
    hurts = dict.fromkeys(
        requirements[r].hurts
        for r in proven
        if r in requirements and requirements[r].hurts != "no known client"
    )
    severity = min((severity_of(f) for f in group.findings), default=_WRONG_STATUS)
    return Cause(
        id=_slug(group),
        title=_title(group),
        level=level,
        symptom=group.symptom,
        expected=group.expected,
        actual=group.actual,
        severity=severity,
        requirements=tuple(proven),
        members=tuple(group.members),
        blocked=tuple(group.blocked),
        hurts=tuple(hurts) or ("no known client",),
        witness=_witness(verdicts, level),
    )


def _witness(verdicts: list[Verdict], level: Level) -> str:
    """Return the check that shows the cause best: of the cause's level, with an exchange."""
    best = min(verdicts, key=lambda v: (v.level is not level, not v.evidence))
    return best.check


def _title(group: _Group) -> str:
    known = _TITLES.get(group.symptom)
    if known is not None:
        return known.format(expected=group.expected, actual=group.actual)
    for start, words in _TITLE_STARTS.items():
        if group.symptom.startswith(start):
            return words.format(what=group.symptom.removeprefix(start).replace("-", " "))
    if group.symptom.startswith("value:"):
        first = next(iter(group.members.values()), None)
        return f"Not so: {first.title}" if first else group.symptom
    words = group.symptom.replace("-", " ").replace(":", ": ")
    return f"{words[0].upper()}{words[1:]}: expected {group.expected}, got {group.actual}"


def _slug(group: _Group) -> str:
    parts = [group.symptom]
    if group.symptom == "status":
        parts += [group.actual, "for", group.expected]
    elif not group.symptom.startswith((*_VALUES_ASIDE, *_NAMED_BY_SYMPTOM)):
        parts += [group.actual]
    text = "-".join(parts).lower()
    kept = "".join(c if c.isalnum() or c in ".:-" else "-" for c in text)
    while "--" in kept:
        kept = kept.replace("--", "-")
    return kept.strip("-")[:80]
