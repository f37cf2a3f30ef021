"""What the page shows of causes, families and checks, quoted within one budget."""

import html as stdlib_html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from icecheck.contract import Contract
from icecheck.findings.expected_failures import EntryMatch
from icecheck.findings.telling.finding_card import (
    RACED,
    UNWITNESSED,
    Clause,
    clauses_for,
    describe,
)
from icecheck.findings.verdict import (
    Cause,
    Evidence,
    Level,
    Outcome,
    Run,
    Verdict,
    in_words,
    totals_of,
)
from icecheck.reports.joined import (
    causes_by_check,
    expected_causes,
    families,
    gates,
    note_of,
    verdicts_by_check,
)
from icecheck.reports.json_lines import Part, compared, in_lines

# The limit for bodies and curl lines; the rest of a page grows only with the number of checks.
_QUOTED_CHARACTERS_MAX = 700_000
_DETAIL_CHARACTERS_MAX = 1_200
_MEMBERS_MAX = 40
_UNDO = "undo"
_HURTS_MAX = 8
CAUSES_SHOWN_MAX = 60
_STEPS = {"given": "setup", "do": "request", "undo": "clean-up"}
_SHOWN_ONLY = "not scored: the set of requirements does not have it, or it is disputed"
_LEFT_OUT = "(left out here for size; it is in run.json)"


@dataclass(slots=True)
class _Budget:
    """The number of characters that the page may still quote from exchanges."""

    left: int = _QUOTED_CHARACTERS_MAX

    def quote(self, text: str) -> str:
        """Return the text, or a placeholder where it exceeds the budget."""
        size = len(stdlib_html.escape(text))
        if size > self.left:
            return _LEFT_OUT
        self.left -= size
        return text


@dataclass(frozen=True, slots=True)
class ExchangeView:
    """One exchange as the page shows it; ``shows`` marks the one that proves the finding."""

    step: str
    request: str
    request_body: str
    status: str
    response_headers: str
    response_body: str
    shows: bool


@dataclass(frozen=True, slots=True)
class CheckView:
    """One check as the page lists it."""

    id: str
    title: str
    level: str
    operations: str
    group: str
    outcome: str
    summary: str
    reason: str
    clauses: tuple[Clause, ...]
    expected: str
    actual: str
    compared: tuple[tuple[Part, ...], tuple[Part, ...]]
    pointer: str
    detail: str
    others: tuple[str, ...]
    unwitnessed: str
    blocked_by: tuple[str, ...]
    request: str
    curl: str
    raced: str
    exchanges: tuple[ExchangeView, ...]
    cause: str | None
    gates: bool
    note: str


@dataclass(frozen=True, slots=True)
class CauseView:
    """One cause with the check that shows it best."""

    number: int
    cause: Cause
    witness: CheckView | None
    members: tuple[str, ...]
    members_left: int
    blocked: tuple[str, ...]
    blocked_left: int
    hurts: tuple[str, ...]
    hurts_left: int
    expected: bool


@dataclass(frozen=True, slots=True)
class FamilyView:
    """The checks of one family, those that passed apart from the others."""

    name: str
    counts: str
    failing: bool
    notable: tuple[CheckView, ...]
    passed: tuple[CheckView, ...]


@dataclass(slots=True)
class PageViews:
    """Builds the views of one run within one budget."""

    run: Run
    contract: Contract
    budget: _Budget = field(default_factory=_Budget)
    marks: Mapping[str, EntryMatch] = field(default_factory=dict)

    def causes(self) -> list[CauseView]:
        """Return the causes, numbered in the order of severity."""
        verdicts = verdicts_by_check(self.run)
        known = expected_causes(self.run)
        return [
            CauseView(
                number=number,
                cause=cause,
                witness=self._witness(verdicts.get(cause.witness)),
                members=cause.members[:_MEMBERS_MAX],
                members_left=max(0, len(cause.members) - _MEMBERS_MAX),
                blocked=cause.blocked[:_MEMBERS_MAX],
                blocked_left=max(0, len(cause.blocked) - _MEMBERS_MAX),
                hurts=cause.hurts[:_HURTS_MAX],
                hurts_left=max(0, len(cause.hurts) - _HURTS_MAX),
                expected=cause.id in known,
            )
            for number, cause in enumerate(self.run.causes[:CAUSES_SHOWN_MAX], 1)
        ]

    def preflight(self) -> tuple[ExchangeView, ...]:
        """Return what a run has sent that ended before its first check.

        The last exchange that was not cleaning up shows best why it could not go on.
        """
        sent = self.run.preflight
        tried = [number for number, each in enumerate(sent) if each.step != _UNDO]
        return tuple(
            self._exchange(each, shows=number in tried[-1:]) for number, each in enumerate(sent)
        )

    def _witness(self, verdict: Verdict | None) -> CheckView | None:
        return None if verdict is None else self.check(verdict, None, exchanges=True)

    def families(self) -> list[FamilyView]:
        """Return the families, those with failures first."""
        causes = causes_by_check(self.run)
        views = []
        for name, verdicts in families(self.run).items():
            passed = [v for v in verdicts if v.outcome is Outcome.PASS]
            notable = [v for v in verdicts if v.outcome is not Outcome.PASS]
            notable.sort(key=lambda v: (v.outcome is Outcome.SKIP, v.level is not Level.MUST))
            views.append(
                FamilyView(
                    name=name,
                    counts=_counts(verdicts),
                    failing=any(v.outcome in {Outcome.FAIL, Outcome.ERROR} for v in notable),
                    notable=tuple(self.check(v, causes.get(v.check)) for v in notable),
                    passed=tuple(self.check(v, None) for v in passed),
                )
            )
        views.sort(key=lambda f: not f.failing)
        return views

    def check(self, verdict: Verdict, cause: Cause | None, *, exchanges: bool = False) -> CheckView:
        """Return the view of one verdict; exchanges are quoted only if asked for."""
        card = describe(verdict, self.contract)
        wrong = verdict.outcome not in {Outcome.PASS, Outcome.SKIP}
        return CheckView(
            id=verdict.check,
            title=verdict.title,
            level=str(verdict.level),
            operations=in_words(verdict.operations),
            group=str(verdict.group),
            outcome=str(verdict.outcome),
            summary=verdict.summary,
            reason=f"{verdict.skip.kind}: {verdict.skip.reason}" if verdict.skip else "",
            clauses=clauses_for(verdict, self.contract) if exchanges else (),
            expected=card.expected,
            actual=card.actual,
            compared=compared(in_lines(card.expected), in_lines(card.actual)),
            pointer=card.pointer,
            detail=_shortened(card.detail if wrong else ""),
            others=card.others,
            unwitnessed=UNWITNESSED if wrong and card.unwitnessed else "",
            blocked_by=card.blocked_by,
            request=card.request if wrong else "",
            curl=self.budget.quote("\n".join([*card.led_up, card.curl])) if wrong else "",
            raced=RACED if card.races else "",
            exchanges=self._exchanges(verdict) if exchanges else (),
            cause=cause.id if cause else None,
            gates=gates(verdict, self.marks.get(verdict.check)),
            note=note_of(self.marks.get(verdict.check)) or _SHOWN_ONLY * (not verdict.scored),
        )

    def _exchanges(self, verdict: Verdict) -> tuple[ExchangeView, ...]:
        ordinal = verdict.findings[0].exchange if verdict.findings else None
        return tuple(self._exchange(e, shows=e.ordinal == ordinal) for e in verdict.evidence)

    def _exchange(self, evidence: Evidence, *, shows: bool) -> ExchangeView:
        return ExchangeView(
            step=_STEPS.get(evidence.step, evidence.step),
            request=evidence.request,
            request_body=self.budget.quote(in_lines(evidence.request_body)),
            status="no answer" if evidence.status is None else str(evidence.status),
            response_headers=self.budget.quote(evidence.response_headers),
            response_body=self.budget.quote(in_lines(evidence.response_body)),
            shows=shows,
        )


def _counts(verdicts: Sequence[Verdict]) -> str:
    totals = totals_of(verdicts)
    return ", ".join(f"{totals[o]} {o}" for o in map(str, Outcome) if totals[o])


def _shortened(text: str) -> str:
    if len(text) <= _DETAIL_CHARACTERS_MAX:
        return text
    return f"{text[:_DETAIL_CHARACTERS_MAX]}…"
