"""Findings grouped by cause: one root cause is one finding, however many checks it fails."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from icecheck.contract import Level, Requirement
from icecheck.folding import Gathering, fold
from icecheck.noticed import NOBODY, hurt_by
from icecheck.unserved import ONE_ANSWER, SYMPTOM, named_by_endpoint, named_by_one_answer
from icecheck.verdict import CREDENTIALS, TARGET, Cause, Finding, Outcome, Verdict

__all__ = ["SYMPTOMS", "causes_of", "meaning_of", "severity_of"]

T = TypeVar("T")

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
    "planned-files": "Plans other files than those that the scan is about",
    "planned-file": "Tells of planned files what is not so",
    SYMPTOM: "Claims operations and answers them with {actual}, as if nobody had written them",
    ONE_ANSWER: "Answers {actual}, whatever is asked, where {expected} are due",
}
_TITLE_STARTS = {
    "prerequisite:": "An arrange step fails ({what}), so that what builds on it cannot be judged",
    "schema:": "Answers do not have the documented shape ({what})",
    "effect-missing:": "Accepts a change and does not carry it out: {what}",
    "effect-on-another:": "A change reaches more than it names: {what}",
    "anomaly:": "Clients that work at the same time are told what cannot be true together: {what}",
}
# Symptoms of one root cause, whatever member they name; a start stands for all that begin so.
_FAMILY = {
    "body-is-no-json": "schema:not-json",
    "member-missing": "schema:required",
    "mistyped-value-accepted": "status",
    "name-altered": "names-run-together",
    "cut-short-without-token": "page-tokens",
    "last-page-token": "page-tokens",
    # Who does not keep the one default of a column does not keep the other.
    "effect-missing:initial-default": "effect-missing:defaults-of-columns",
    "effect-missing:write-default": "effect-missing:defaults-of-columns",
    # Members of planned files come out of one serialiser, as those of bodies do.
    "planned-file:": "planned-file",
}
# Symptoms, or starts of them, that say all there is to say, and what is told of each as expected
# and as what came: the values themselves differ by the check's data.
_CHANGE = ("the change, and nothing else", "another state")
_VALUES_ASIDE = {
    # Required members left out of forty bodies are one sloppy serialiser.
    "schema:": ("the documented shape", "another shape"),
    "planned-files": ("what the scan is about", "something else"),
    "planned-file": ("what is known of it", "something else"),
    "effect-missing:": _CHANGE,
    "effect-on-another:": _CHANGE,
    "changed-although-refused": _CHANGE,
    "lost-update": _CHANGE,
    "names-run-together": _CHANGE,
    "page-tokens": _CHANGE,
}
_OF_OPERATIONS = (f"{SYMPTOM}.", f"{ONE_ANSWER}.")
_NAMED_BY_SYMPTOM = (
    "schema:", "prerequisite:", TARGET, CREDENTIALS, "same-answer", "never-refuses",
)  # fmt: skip

SYMPTOMS = (*_TITLES, *_FAMILY)
"""Symptoms that say the same wherever they are found; checks have others of their own."""


def causes_of(
    verdicts: Iterable[Verdict], requirements: Mapping[str, Requirement]
) -> tuple[Cause, ...]:
    """Group failed, blocked and erroneous verdicts by cause, the gravest first.

    A failed check belongs to the cause of each distinct finding's family (its first finding
    decides); a blocked one to the cause of what blocks it.
    """
    verdicts = named_by_one_answer(named_by_endpoint(list(verdicts)))
    groups: dict[tuple[str, str, str], Gathering] = {}
    cause_of_check: dict[str, Gathering] = {}
    for verdict in verdicts:
        if verdict.outcome in {Outcome.FAIL, Outcome.ERROR} and verdict.findings:
            group = _group(groups, _key(verdict.findings[0]))
            group.findings += verdict.findings
            group.members[verdict.check] = verdict
            names = (verdict.check, *verdict.requirements)
            if group.symptom in {SYMPTOM, ONE_ANSWER}:
                names = (*names, f"{group.symptom}.{group.actual}")
            for name in names:
                cause_of_check.setdefault(name, group)
    for verdict in verdicts:
        if verdict.outcome is Outcome.BLOCKED:
            by = verdict.blocked_by[0]
            blocking = cause_of_check.get(by)
            if not by.startswith(_OF_OPERATIONS):
                blocking = groups.get(_arrange_key(verdict)) or blocking
            if blocking is None:
                symptom = by if by in {TARGET, CREDENTIALS} else f"prerequisite:{by}"
                blocking = _group(groups, (symptom, "an arrange step that works", "a failure"))
            blocking.blocked[verdict.check] = verdict
    folded = fold(list(groups.values()), verdicts)
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
    if symptom in {SYMPTOM, ONE_ANSWER}:
        broken = symptom == ONE_ANSWER and actual.startswith("5")
        return _WRONG_STATUS if broken else _REFUSED
    if symptom == "status":
        if actual.startswith("2") and not expected.startswith("2"):
            return _FALSE_ACCEPTANCE if expected == "409" else _WRONG_STATUS
        return _REFUSED if expected.startswith("2") and actual.startswith("4") else _WRONG_STATUS
    if symptom == "error-type":
        return _WORDING
    return _SHAPE


def meaning_of(symptom: str) -> str | None:
    """Return in words what a finding with this symptom says; None if only its check can say so."""
    family = _of_symptom(_FAMILY, symptom) or symptom
    if (known := _TITLES.get(family)) is not None:
        return known.format(expected="one thing", actual="another")
    for start, words in _TITLE_STARTS.items():
        if family.startswith(start) and family != start:
            return words.format(what=family.removeprefix(start).replace("-", " "))
    return None


def _group(groups: dict[tuple[str, str, str], Gathering], key: tuple[str, str, str]) -> Gathering:
    return groups.setdefault(key, Gathering(*key))


def _key(finding: Finding) -> tuple[str, str, str]:
    symptom = _of_symptom(_FAMILY, finding.symptom) or finding.symptom
    if symptom == "status":
        return (symptom, *_statuses(finding.expected, finding.actual))
    told = _of_symptom(_VALUES_ASIDE, symptom)
    return (symptom, *(told or (finding.expected, finding.actual)))


def _of_symptom(known: Mapping[str, T], symptom: str) -> T | None:
    """Return what is known of a symptom, or of its start up to the colon."""
    start, colon, _ = symptom.partition(":")
    return known.get(symptom) or known.get(start + colon)


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


def _with_unique_ids(causes: list[Cause]) -> list[Cause]:
    """Number causes whose symptoms make the same slug: a report links to them by id."""
    seen: dict[str, int] = {}
    unique = []
    for cause in causes:
        seen[cause.id] = seen.get(cause.id, 0) + 1
        again = seen[cause.id] > 1
        unique.append(replace(cause, id=f"{cause.id}-{seen[cause.id]}") if again else cause)
    return unique


def _cause(group: Gathering, requirements: Mapping[str, Requirement]) -> Cause:
    verdicts = [*group.members.values()] or [*group.blocked.values()]
    level = min((v.level for v in verdicts), key=lambda lv: _LEVELS[lv])
    proven = dict.fromkeys(r for v in group.members.values() for r in v.requirements)
    told = (who for v in group.members.values() for who in hurt_by(v, requirements))
    hurts = [who for who in dict.fromkeys(told) if who != NOBODY]
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
        hurts=tuple(hurts) or (NOBODY,),
        witness=_witness(verdicts, level),
    )


def _witness(verdicts: list[Verdict], level: Level) -> str:
    """Return the check that shows the cause best: of the cause's level, with an exchange."""
    best = min(verdicts, key=lambda v: (v.level is not level, not v.evidence))
    return best.check


def _title(group: Gathering) -> str:
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


def _slug(group: Gathering) -> str:
    parts = [group.symptom]
    if group.symptom == "status":
        parts += [group.actual, "for", group.expected]
    elif not group.symptom.startswith(_NAMED_BY_SYMPTOM):
        told = _of_symptom(_VALUES_ASIDE, group.symptom)
        parts += [] if told == _CHANGE else [group.actual]
    text = "-".join(parts).lower()
    kept = "".join(c if c.isalnum() or c in ".:-" else "-" for c in text)
    while "--" in kept:
        kept = kept.replace("--", "-")
    return kept.strip("-")[:80]
