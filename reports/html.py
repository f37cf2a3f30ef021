"""Renders a run as one self-contained page: no network, no script, light, dark and on paper."""

import hashlib
import html as stdlib_html
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from icecheck.contract import Contract
from icecheck.findings.expected_failures import EntryMatch
from icecheck.findings.telling.finding_card import (
    RACED,
    UNWITNESSED,
    Clause,
    clauses_for,
    describe,
    legible,
)
from icecheck.findings.telling.standing import Standing
from icecheck.findings.verdict import Cause, Evidence, Level, Outcome, Run, Verdict, totals_of
from icecheck.reports.joined import (
    access_lines,
    causes_by_check,
    contract_of,
    counts_words,
    expected_causes,
    families,
    gates,
    note_of,
    verdicts_by_check,
)
from icecheck.reports.tables import (
    EngineRow,
    OperationRow,
    client_rows,
    operation_rows,
    spark_rows,
    words_of,
)

if TYPE_CHECKING:
    from jinja2 import Template

BYTES_MAX = 2_000_000
"""The size limit of a page: the rest is left to run.json, and the page says so."""

# The limit for bodies and curl lines; the rest of a page grows only with the number of checks.
_QUOTED_CHARACTERS_MAX = 700_000
_DETAIL_CHARACTERS_MAX = 1_200
_MEMBERS_MAX = 40
_HURTS_MAX = 8
_CAUSES_SHOWN_MAX = 60
_LEFT_OUT = "(left out here for size; it is in run.json)"

_Row = TypeVar("_Row", EngineRow, OperationRow)
_ORDER = (
    Standing.BROKEN,
    Standing.WORKS_BUT,
    Standing.NOT_LOOKED_AT,
    Standing.WORKS,
    Standing.NOT_OFFERED,
)
_COUNTED = {
    Standing.BROKEN: "broken",
    Standing.WORKS_BUT: "with findings",
    Standing.WORKS: "without",
    Standing.NOT_OFFERED: "not offered",
    Standing.NOT_LOOKED_AT: "not looked at",
}
_TONES = {
    "conformant": "good",
    "conformant-with-warnings": "good",
    "not-conformant": "bad",
    "partial": "open",
    "no-verdict": "open",
}


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
    group: str
    outcome: str
    summary: str
    reason: str
    clauses: tuple[Clause, ...]
    expected: str
    actual: str
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
class _Page:
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
            for number, cause in enumerate(self.run.causes[:_CAUSES_SHOWN_MAX], 1)
        ]

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
            group=str(verdict.group),
            outcome=str(verdict.outcome),
            summary=verdict.summary,
            reason=f"{verdict.skip.kind}: {verdict.skip.reason}" if verdict.skip else "",
            clauses=clauses_for(verdict, self.contract) if exchanges else (),
            expected=card.expected,
            actual=card.actual,
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
            note=note_of(self.marks.get(verdict.check)),
        )

    def _exchanges(self, verdict: Verdict) -> tuple[ExchangeView, ...]:
        ordinal = verdict.findings[0].exchange if verdict.findings else None
        return tuple(self._exchange(e, shows=e.ordinal == ordinal) for e in verdict.evidence)

    def _exchange(self, evidence: Evidence, *, shows: bool) -> ExchangeView:
        return ExchangeView(
            step=evidence.step,
            request=evidence.request,
            request_body=self.budget.quote(evidence.request_body),
            status="no answer" if evidence.status is None else str(evidence.status),
            response_headers=self.budget.quote(evidence.response_headers),
            response_body=self.budget.quote(evidence.response_body),
            shows=shows,
        )


def render(run: Run) -> str:
    """Return the HTML text; every value of the run is escaped by the template engine."""
    return _template().render(_context(run))


@cache
def _template() -> "Template":
    """Return the compiled template: compiling takes longer than rendering a short report."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    environment.filters["anchor"] = _anchor
    environment.filters["prose"] = _prose
    environment.filters["standing"] = words_of
    return environment.get_template("report.html")


def _context(run: Run) -> dict[str, Any]:
    page = _Page(run, contract_of(run), marks=run.expectations.by_check)
    causes = page.causes()
    verified = run.complete and totals_of(run.verdicts)["executed"] > 0
    return {
        "run": run,
        "facts": run.facts,
        "words": run.status.replace("-", " "),
        "tone": _TONES[run.status] if verified or run.status == "not-conformant" else "open",
        "totals": totals_of(run.verdicts, run.expectations),
        "counts": counts_words(run),
        "access": access_lines(run),
        "expectations": run.expectations,
        "must_causes": [c for c in causes if c.cause.level is Level.MUST],
        "other_causes": [c for c in causes if c.cause.level is not Level.MUST],
        "lesser": list(dict.fromkeys(check for c in run.causes for check in c.lesser)),
        "causes_left": max(0, len(run.causes) - _CAUSES_SHOWN_MAX),
        **_operations(run),
        "spark": _by_standing(spark_rows(run)),
        "clients": client_rows(run),
        "families": page.families(),
        "abilities": [row for row in run.capabilities if row.id.startswith("capability:")],
        "requirements_total": len(page.contract.requirements),
        "requirements_tried": len({r for v in run.verdicts for r in v.requirements}),
    }


def _operations(run: Run) -> dict[str, Any]:
    """Return the operations, those that say nothing but that they work apart, with their counts."""
    rows = operation_rows(run)
    counts = Counter(row.cell.standing for row in rows)
    said = [f"{counts[each]} {words}" for each, words in _COUNTED.items() if counts[each]]
    return {
        "operations_notable": _by_standing([r for r in rows if not _merely_works(r)]),
        "operations_working": [row for row in rows if _merely_works(row)],
        "operation_counts": ", ".join(said),
    }


def _merely_works(row: OperationRow) -> bool:
    return row.cell.standing is Standing.WORKS and row.capability.assessment == "supported"


def _by_standing(rows: Sequence[_Row]) -> list[_Row]:
    """Return rows in the order in which a reader looks for what is wrong."""
    return sorted(rows, key=lambda row: _ORDER.index(row.cell.standing))


def _counts(verdicts: Sequence[Verdict]) -> str:
    totals = totals_of(verdicts)
    return ", ".join(f"{totals[o]} {o}" for o in map(str, Outcome) if totals[o])


def _shortened(text: str) -> str:
    if len(text) <= _DETAIL_CHARACTERS_MAX:
        return text
    return f"{text[:_DETAIL_CHARACTERS_MAX]}…"


def _anchor(name: str) -> str:
    """Return a name as the end of an element's id; a digest replaces unusual characters."""
    if re.fullmatch(r"[A-Za-z0-9._:-]+", name):
        return name
    return hashlib.blake2s(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _prose(text: str) -> Any:
    """Return the register's text as markup: escaped, with `names` set as code."""
    from markupsafe import Markup, escape

    parts = legible(text).split("`")
    if len(parts) % 2 == 0:
        return escape(legible(text))
    marked = [
        Markup("<code>{}</code>").format(part) if odd % 2 else escape(part)
        for odd, part in enumerate(parts)
    ]
    return Markup("").join(marked)


def _finalize(value: Any) -> Any:
    # Text that a macro rendered is markup already and is not escaped again.
    return legible(value) if type(value) is str else value
