"""One catalog over time: what each run found that the one before had not, and what was repaired."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from icecheck.findings.comparison import Category, Comparison, compare, has_judged
from icecheck.reports.compared import reasons
from icecheck.reports.many.stored import StoredCause, StoredRun, stored
from icecheck.reports.summary import markdown, markdown_row
from icecheck.reports.templating import inline, template
from icecheck.targets.target import UsageError

KIND = "IcebergRestConformanceTrend"
_BAR_WIDTH = 22
_GAP = 8
_CHART_HEIGHT = 120
_AXIS = 34


@dataclass(frozen=True, slots=True)
class Step:
    """One run, and how it differs from the last one before it that judged something.

    The first one differs from none, and neither does one that is not ``judged``: no check of it
    passed or failed, as when the catalog could not be reached. ``counts`` is category -> how many
    checks moved so, ``lost`` are those that passed before and do not now, ``changed`` says what
    else the runs record to have changed, and ``why`` says it in words. ``appeared`` are findings
    that the run before did not have, ``gone`` those that it alone had.
    """

    run: StoredRun
    judged: bool = True
    counts: Mapping[str, int] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    why: str = ""
    appeared: tuple[StoredCause, ...] = ()
    gone: tuple[StoredCause, ...] = ()

    @property
    def words(self) -> str:
        """What moved, in words."""
        if not self.judged:
            return "nothing was judged"
        if not self.why:
            return "the first run"
        told = [f"{many} {category.replace('-', ' ')}" for category, many in self.counts.items()]
        return ", ".join(told) or "nothing moved"


@dataclass(frozen=True, slots=True)
class Trend:
    """The runs of one catalog, the oldest first.

    ``left_out`` is document -> how many runs were judged by it and are not in the trend.
    """

    steps: tuple[Step, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The catalog, and how many runs there are."""
        names = dict.fromkeys(step.run.label for step in self.steps)
        return f"{', '.join(names)}: {len(self.steps)} runs"

    @property
    def note(self) -> str:
        """Which runs are left out, in words; "" if none is."""
        told = ", ".join(f"{many} by {spec}" for spec, many in sorted(self.left_out.items()))
        return f"Runs that were judged by another document are left out: {told}." if told else ""


def trend(documents: Iterable[Mapping[str, Any]], spec: str | None = None) -> Trend:
    """Return the trend of runs, the oldest first; two of them are in memory at a time.

    ``spec`` is the document whose runs are wanted, or its version; otherwise all are. Raises
    UsageError when no run is of it, or neighbours cannot be compared.
    """
    steps: list[Step] = []
    left_out: Counter[str] = Counter()
    before: tuple[StoredRun, Mapping[str, Any]] | None = None
    for document in documents:
        judged_by = document["spec"]["id"]
        if spec not in {None, judged_by, judged_by.rpartition("/")[2]}:
            left_out[judged_by] += 1
            continue
        run = stored(document)
        if not has_judged(document):
            steps.append(Step(run, judged=False))
            continue
        if before is None:
            steps.append(Step(run))
        else:
            steps.append(_step(run, before[0], compare(before[1], document)))
        before = run, document
    if not steps:
        raise UsageError(
            f"no run was judged by {spec}: there are runs of {', '.join(sorted(left_out))}"
        )
    return Trend(tuple(steps), left_out)


def newest_document(documents: Iterable[str]) -> str:
    """Return the document of the latest release, of several that judged a catalog at once."""
    return max(documents, key=lambda id_: [*map(int, re.findall(r"\d+", id_))])


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
    if table.note:
        lines += ["", markdown(table.note)]
    return "\n".join(lines) + "\n"


def as_json(table: Trend) -> str:
    """Return one JSON object: each run, what moved since the one before, and why that may be."""
    document = {
        "kind": KIND,
        "left_out": dict(sorted(table.left_out.items())),
        "runs": [_told(step) for step in table.steps],
    }
    return json.dumps(document, indent=1) + "\n"


def _told(step: Step) -> dict[str, Any]:
    return {
        **step.run.identity,
        "judged": step.judged,
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
