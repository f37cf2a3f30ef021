"""Renders a run as one self-contained page: no network, light, dark and on paper.

It is readable without its script, which filters and copies. A policy in it lets no other script
run, and nothing be loaded or sent.
"""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from icecheck.findings.telling.finding_card import (
    legible,
)
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
    words_of,
)

if TYPE_CHECKING:
    from jinja2 import Template

BYTES_MAX = 2_000_000
"""The size limit of a page: the rest is left to run.json, and the page says so."""

_TEMPLATES = Path(__file__).with_name("templates")
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
    return _template().render(_context(run))


@cache
def _template() -> "Template":
    """Return the compiled template: compiling takes longer than rendering a short report."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    environment.globals["causes_shown_max"] = CAUSES_SHOWN_MAX
    environment.filters["anchor"] = _anchor
    environment.filters["prose"] = _prose
    environment.filters["standing"] = words_of
    return environment.get_template("report.html")


@dataclass(frozen=True, slots=True)
class _Inline:
    """A file of the templates that stands in the page, and its hash as a policy names it."""

    text: str
    hash: str


@cache
def _inline(name: str) -> _Inline:
    from markupsafe import Markup

    text = (_TEMPLATES / name).read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return _Inline(Markup(text), f"sha256-{digest}")  # noqa: S704 - our own file


def _context(run: Run) -> dict[str, Any]:
    page = PageViews(run, contract_of(run), marks=run.expectations.by_check)
    causes = page.causes()
    verified = run.complete and totals_of(run.verdicts)["executed"] > 0
    return {
        "run": run,
        "judged": is_judged(run),
        "next_step": next_step(run),
        "preflight": page.preflight(),
        "style": _inline("style.css"),
        "script": _inline("page.js"),
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
