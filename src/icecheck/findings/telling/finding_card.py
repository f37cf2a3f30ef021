"""The card of one verdict: everything a reader needs to believe a finding and to reproduce it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from icecheck.contract import Contract, Requirement
from icecheck.contract.witnesses import is_unwitnessed
from icecheck.findings.shared_symptoms import ANOMALY
from icecheck.findings.telling.client_impact import hurt_by
from icecheck.findings.verdict import Evidence, Finding, Level, Outcome, Verdict

UNWITNESSED = (
    "unwitnessed: only this project's own mock has passed this check so far; the check may be wrong"
)
"""The line that marks such a check in reports."""
RACED = "several clients sent these requests at the same time: one after another they may pass"
"""What reports say of the requests of a race."""

_ANSWER_CHARACTERS_MAX = 600
_BEFORE_MEMBER = 100
_OTHERS_MAX = 5
_OTHER_CHARACTERS_MAX = 200
_LABEL_WIDTH = 12

# Control characters could control a terminal, bidirectional ones reorder text, and the rest are not
# allowed in XML or UTF-8.
_UNREADABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One requirement as a card quotes it; ``permalink`` points into the official document.

    ``age`` says since which release it is demanded and what was different before; it is empty for
    requirements that every release has in the same form.
    """

    id: str
    level: Level
    text: str
    condition: str | None
    permalink: str
    hurts: str
    age: str


@dataclass(frozen=True, slots=True)
class Card:
    """What a card shows of a failed, blocked or erroneous check; all texts are free of secrets.

    ``request`` is method and URL, ``answer`` status and body, both of the exchange that shows the
    finding; they are empty when there was none. ``arrange`` are the curl lines that make what the
    request needs, or what other clients sent at the same time, and ``answered`` the statuses of
    their answers: the objects of the run are gone when a card is read. ``others`` are further
    findings of the check. ``hurts`` says which clients are affected, and how.

    ``unwitnessed``: a MUST check that no known catalog passes but this project's own. ``replayed``:
    the report has a file with which the failing history can be run again. ``races``: its requests
    were sent at the same time.
    """

    check: str
    title: str
    level: Level
    outcome: Outcome
    clauses: tuple[Clause, ...]
    expected: str
    actual: str
    pointer: str
    detail: str
    others: tuple[str, ...]
    hurts: tuple[str, ...]
    blocked_by: tuple[str, ...]
    request: str
    answer: str
    arrange: tuple[str, ...]
    answered: tuple[str, ...]
    curl: str
    unwitnessed: bool
    replayed: bool
    races: bool

    @property
    def led_up(self) -> tuple[str, ...]:
        """The curl lines of ``arrange``, each with its status as a comment of the shell."""
        pairs = zip(self.arrange, self.answered, strict=True)
        return tuple(f"{curl}  # {status}" for curl, status in pairs)


def card_of(verdict: Verdict, contract: Contract) -> str:
    """Return the text card of a verdict: plain lines, safe to print, no newline at the end."""
    return render_card(describe(verdict, contract))


def describe(verdict: Verdict, contract: Contract) -> Card:
    """Join a verdict with its requirements and the exchange that shows it."""
    finding = verdict.findings[0] if verdict.findings else None
    evidence = verdict.shown_by
    races = bool(finding and finding.symptom.is_a(ANOMALY))
    before = [
        e
        for e in verdict.evidence
        if evidence and (e.ordinal < evidence.ordinal or (races and e is not evidence))
    ]
    return Card(
        check=verdict.check,
        title=verdict.title,
        level=verdict.level,
        outcome=verdict.outcome,
        clauses=clauses_for(verdict, contract),
        expected=_with(finding.expected, finding.made) if finding else "",
        actual=_with(finding.actual, finding.shown) if finding else "",
        pointer=finding.pointer if finding else "",
        detail=finding.detail if finding else verdict.summary,
        others=tuple(_in_words(f) for f in verdict.findings[1 : 1 + _OTHERS_MAX]),
        hurts=hurt_by(verdict, contract),
        blocked_by=verdict.blocked_by,
        request=evidence.request if evidence else "",
        answer=_answer(evidence, finding) if evidence else "",
        arrange=tuple(each.curl for each in before),
        answered=tuple(map(_status, before)),
        curl=evidence.curl if evidence else "",
        unwitnessed=is_unwitnessed(verdict.check, verdict.level),
        replayed=bool(finding and finding.steps),
        races=races,
    )


def _with(said: str, of_this: str) -> str:
    return f"{said}: {of_this}" if of_this else said


def _in_words(finding: Finding) -> str:
    at = f" at {finding.pointer}" if finding.pointer else ""
    detail = f" ({one_line(finding.detail, _OTHER_CHARACTERS_MAX)})" if finding.detail else ""
    return f"expected {finding.expected}, got {finding.actual}{at}{detail}"


def clauses_for(verdict: Verdict, contract: Contract) -> tuple[Clause, ...]:
    """Return the requirements of a verdict as clauses.

    Where it misses a status that another release names otherwise, that row of the response table is
    one of them: a check of a walk may fail by any operation's (verdict-rules 10).
    """
    finding = verdict.findings[0] if verdict.findings else None
    shown = verdict.shown_by
    due = finding.due.single if finding and finding.due else frozenset()
    rows = [f"{shown.operation}.{status}" for status in sorted(due)] if shown else []
    register = contract.requirements
    changed = [row for row in rows if row in register and register[row].changed]
    return clauses_of(tuple(dict.fromkeys((*verdict.requirements, *changed))), contract)


def clauses_of(requirement_ids: tuple[str, ...], contract: Contract) -> tuple[Clause, ...]:
    """Return the requirements of these ids as clauses; an id the register lacks is left out."""
    register = contract.requirements
    return tuple(
        Clause(
            id=r.id,
            level=r.level,
            text=r.text,
            condition=r.condition,
            permalink=contract.permalink(r.lines),
            hurts=r.hurts,
            age=_age(r, contract),
        )
        for r in (register[i] for i in requirement_ids if i in register)
    )


def _age(requirement: Requirement, contract: Contract) -> str:
    told = f"since Iceberg {requirement.since}" * (requirement.since != contract.releases[0])
    changed = f"changed in {requirement.changed}" if requirement.changed else ""
    return "; ".join(filter(None, (told, changed)))


def render_card(card: Card) -> str:
    """Return the card as plain lines without colour, safe to print; the last one has no newline."""
    head = f"{card.outcome.upper()} {card.check} ({card.level}): {card.title}"
    return "\n".join([legible(head), *_lines(card)])


def _lines(card: Card) -> Iterator[str]:
    for clause in card.clauses:
        when = f" (if {clause.condition})" if clause.condition else ""
        said = (f"{clause.id}: {clause.text}{when}", clause.age, clause.permalink)
        yield from _labelled("requirement", "\n".join(filter(None, said)))
    rows = [
        *(("hurts", who) for who in card.hurts),
        ("expected", card.expected),
        ("actual", card.actual),
        ("at", card.pointer),
        ("detail", card.detail),
        *(("also", other) for other in card.others),
        ("blocked by", ", ".join(card.blocked_by)),
        ("witness", UNWITNESSED if card.unwitnessed else ""),
        ("request", card.request),
        ("answer", card.answer),
        ("note", _note(card)),
        *(("first", line) for line in card.led_up),
        ("reproduce", card.curl),
        ("replay", f"icecheck replay DIR/replays/{card.check}.json URL" * card.replayed),
    ]
    for label, text in rows:
        if text:
            yield from _labelled(label, text)


def _note(card: Card) -> str:
    """Return the note that says what a reader has to put into the curl lines below."""
    token = "$ICECHECK_TOKEN stands for your token" * ("$ICECHECK_TOKEN" in card.curl)
    again = "put in the uuids and locations that the catalog assigns, which differ each time"
    said = (token, again * bool(card.arrange), RACED * card.races)
    return "; ".join(filter(None, said))


def _labelled(label: str, text: str) -> Iterator[str]:
    first, *rest = legible(text).rstrip("\n").split("\n")
    yield f"  {label:<{_LABEL_WIDTH}} {first}"
    for line in rest:
        yield f"  {'':<{_LABEL_WIDTH}} {line}"


def _status(evidence: Evidence) -> str:
    return "no answer" if evidence.status is None else str(evidence.status)


def _pointer(finding: Finding | None, body: str) -> str:
    """Return the pointer to the member that a finding is about; a walk names it in its symptom."""
    if finding is None or finding.pointer:
        return finding.pointer if finding else ""
    member = finding.symptom.qualifier
    return f"/metadata/{member}" if f"{json.dumps(member)}:" in body else ""


def _answer(evidence: Evidence, finding: Finding | None) -> str:
    body = evidence.response_body
    return f"{_status(evidence)} {_excerpt(body, _pointer(finding, body))}".rstrip()


def _excerpt(body: str, pointer: str) -> str:
    """Return a body, or the part of a long one around the member that a JSON pointer names."""
    if len(body) <= _ANSWER_CHARACTERS_MAX:
        return body
    member = 0
    for name in pointer.split("/")[1:]:
        # A position in a list is no name, and a member that is missing is not there: stay before.
        found = body.find(json.dumps(name.replace("~1", "/").replace("~0", "~")) + ":", member)
        member = max(member, found)
    start = 0 if member < _ANSWER_CHARACTERS_MAX // 2 else member - _BEFORE_MEMBER
    end = start + _ANSWER_CHARACTERS_MAX
    return f"{'…' * (start > 0)}{body[start:end]}{'…' * (end < len(body))}"


def legible(text: str) -> str:
    """Return text whose unreadable characters are written as escapes; newlines and tabs stay."""
    return _UNREADABLE.sub(_escape, text)


def one_line(text: str, characters_max: int = 400) -> str:
    """Return text as one legible line, shortened."""
    line = " ".join(legible(text).split())
    return line if len(line) <= characters_max else f"{line[: characters_max - 1]}…"


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
