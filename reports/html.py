"""Renders a run as one self-contained page: no network, light, dark and on paper.

It is readable without its script, which filters and copies. A policy in it lets no other script
run, and nothing be loaded or sent.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeVar

from icecheck.findings.telling.standing import Standing
from icecheck.findings.verdict import Level, Run, totals_of
from icecheck.reports.joined import (
    access_lines,
    contract_of,
    counts_words,
    is_judged,
    next_step,
)
from icecheck.reports.page_views import CAUSES_SHOWN_MAX, PageViews
from icecheck.reports.response_map import response_map
from icecheck.reports.tables import (
    EngineRow,
    OperationRow,
    client_rows,
    operation_rows,
    spark_rows,
)
from icecheck.reports.templating import inline, template
from icecheck.reports.timeline import latencies, timeline

BYTES_MAX = 2_000_000
"""The size limit of a page: the rest is left to run.json, and the page says so."""

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


def render(run: Run) -> str:
    """Return the HTML text; every value of the run is escaped by the template engine."""
    return template("report.html", causes_shown_max=CAUSES_SHOWN_MAX).render(_context(run))


def _context(run: Run) -> dict[str, Any]:
    page = PageViews(run, contract_of(run), marks=run.expectations.by_check)
    causes = page.causes()
    verified = run.complete and totals_of(run.verdicts)["executed"] > 0
    return {
        "run": run,
        "judged": is_judged(run),
        "next_step": next_step(run),
        "preflight": page.preflight(),
        "style": inline("style.css"),
        "script": inline("page.js"),
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
        "causes_left": max(0, len(run.causes) - CAUSES_SHOWN_MAX),
        **_operations(run),
        "spark": _by_standing(spark_rows(run)),
        "clients": client_rows(run),
        "responses": response_map(run),
        "latencies": latencies(run),
        "timeline": timeline(run),
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
        "operations_notable": _by_standing(
            sorted((r for r in rows if not _merely_works(r)), key=_place_in_first_cause)
        ),
        "operations_working": [row for row in rows if _merely_works(row)],
        "operation_counts": ", ".join(said),
    }


def _merely_works(row: OperationRow) -> bool:
    return row.cell.standing is Standing.WORKS and row.capability.assessment == "supported"


def _place_in_first_cause(row: OperationRow) -> tuple[int, int]:
    """Return the number of an operation's first cause, and its place in what that is about.

    The operation that a cause is named after comes before those that only show it.
    """
    if not row.found:
        return sys.maxsize, 0
    first, id_ = row.found[0], row.operation
    about = first.cause.operations
    return first.number, about.index(id_) if id_ in about else len(about)


def _by_standing(rows: Sequence[_Row]) -> list[_Row]:
    """Return rows in the order in which a reader looks for what is wrong."""
    return sorted(rows, key=lambda row: _ORDER.index(row.cell.standing))
