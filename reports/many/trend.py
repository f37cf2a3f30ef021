"""One catalog over time: what each run found that the one before had not, and what was repaired."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from icecheck.findings.comparison import Category, Comparison, compare
from icecheck.reports.compared import reasons
from icecheck.reports.many.stored import StoredCause, StoredRun, stored
from icecheck.reports.summary import markdown, markdown_row
from icecheck.reports.templating import inline, template

KIND = "IcebergRestConformanceTrend"
_BAR_WIDTH = 22
_GAP = 8
_CHART_HEIGHT = 120
_AXIS = 34


@dataclass(frozen=True, slots=True)
class Step:
    """One run, and how it differs from the one before it; the first differs from none.

    ``counts`` is category -> how many checks moved so, ``lost`` are those that passed before and do
    not now, ``changed`` says what else the runs record to have changed, and ``why`` says it in
    words. ``appeared`` are findings that the run before did not have, ``gone`` those that it alone
    had.
    """

    run: StoredRun
    counts: Mapping[str, int] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    why: str = ""
    appeared: tuple[StoredCause, ...] = ()
    gone: tuple[StoredCause, ...] = ()

    @property
    def words(self) -> str:
        """What moved, in words."""
        if not self.why:
            return "the first run"
        told = [f"{many} {category.replace('-', ' ')}" for category, many in self.counts.items()]
        return ", ".join(told) or "nothing moved"


@dataclass(frozen=True, slots=True)
class Trend:
    """The runs of one catalog, the oldest first."""

    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        """The catalog, and how many runs there are."""
        names = dict.fromkeys(step.run.label for step in self.steps)
        return f"{', '.join(names)}: {len(self.steps)} runs"


def trend(documents: Iterable[Mapping[str, Any]]) -> Trend:
    """Return the trend of runs, the oldest first; two of them are in memory at a time.

    Raises UsageError when neighbours cannot be compared.
    """
    steps: list[Step] = []
    before: Mapping[str, Any] | None = None
    for document in documents:
        run = stored(document)
        if before is None:
            steps.append(Step(run))
        else:
            steps.append(_step(run, steps[-1].run, compare(before, document)))
        before = document
    return Trend(tuple(steps))


def _step(run: StoredRun, before: StoredRun, moved: Comparison) -> Step:
    had, has = ({cause.id: cause for cause in each.causes} for each in (before, run))
    counts = {str(category): len(moved.of(category)) for category in Category}
    return Step(
        run,
        counts={category: many for category, many in counts.items() if many},
        lost=tuple(change.check for change in moved.lost),
        changed=tuple(map(str, moved.reasons)),
        why=reasons(moved),
        appeared=tuple(has[id_] for id_ in has if id_ not in had),
        gone=tuple(had[id_] for id_ in had if id_ not in has),
    )


@dataclass(frozen=True, slots=True)
class Bar:
    """The failed and the blocked checks of one run in the chart, in pixels of it."""

    x: int
    failed: float
    blocked: float
    words: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of the failed and blocked checks of each run; ``most`` is the height in checks."""

    width: int
    height: int
    axis: int
    bar: int
    most: int
    bars: tuple[Bar, ...]


def chart(table: Trend) -> Chart:
    """Return the chart of a trend."""
    counts = [(s.run.totals["fail"], s.run.totals["blocked"]) for s in table.steps]
    most = max((sum(each) for each in counts), default=0)
    scale = _CHART_HEIGHT / max(1, most)
    bars = tuple(
        Bar(
            x=_AXIS + at * (_BAR_WIDTH + _GAP),
            failed=round(failed * scale, 1),
            blocked=round(blocked * scale, 1),
            words=f"{step.run.day}: {failed} fail, {blocked} blocked",
        )
        for at, (step, (failed, blocked)) in enumerate(zip(table.steps, counts, strict=True))
    )
    width = _AXIS + len(bars) * (_BAR_WIDTH + _GAP)
    return Chart(width, _CHART_HEIGHT, _AXIS, _BAR_WIDTH, most, bars)


def as_html(table: Trend) -> str:
    """Return one page that needs nothing else, readable without script, in light and dark."""
    page = template("trend.html")
    return page.render(trend=table, chart=chart(table), style=inline("style.css"))


def as_markdown(table: Trend) -> str:
    """Return a table of the runs as Markdown, the newest last."""
    head = ["run", "of", "verdict", "pass", "fail", "blocked", "moved", "because"]
    lines = [
        f"## {markdown(table.title)}",
        "",
        markdown_row(head),
        markdown_row(["---"] * len(head)),
    ]
    for step in table.steps:
        run = step.run
        counts = [str(run.totals[each]) for each in ("pass", "fail", "blocked")]
        said = [run.run_id, run.day, run.verdict, *counts, step.words, step.why]
        lines.append(markdown_row(map(markdown, said)))
    for step in table.steps:
        for word, causes in (("new", step.appeared), ("gone", step.gone)):
            lines += [f"- {step.run.day}: {word}: {markdown(each.title)}" for each in causes]
    return "\n".join(lines) + "\n"


def as_json(table: Trend) -> str:
    """Return one JSON object: each run, what moved since the one before, and why that may be."""
    document = {"kind": KIND, "runs": [_told(step) for step in table.steps]}
    return json.dumps(document, indent=1) + "\n"


def _told(step: Step) -> dict[str, Any]:
    return {
        **step.run.identity,
        "totals": dict(step.run.totals),
        "moved": dict(step.counts),
        "lost": list(step.lost),
        "changed": list(step.changed),
        "new_findings": [cause.id for cause in step.appeared],
        "gone_findings": [cause.id for cause in step.gone],
    }


RENDERINGS: Mapping[str, Callable[[Trend], str]] = {
    "html": as_html,
    "markdown": as_markdown,
    "json": as_json,
}
"""The formats of a trend, by name."""
