"""When the checks of a run were judged, and how long each operation took to answer, as pictures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from icecheck.findings.verdict import Outcome, Run, Verdict
from icecheck.reports.joined import families

_WIDTH = 1_000
_ROW_HEIGHT = 14
_JOINED_BELOW = 2.0
"""Checks that passed, with less than this between them in the picture, are one mark."""
_MARK_WIDTH_MIN = 1.5
_TONES = {Outcome.FAIL: "bad", Outcome.BLOCKED: "warn", Outcome.ERROR: "warn"}


@dataclass(frozen=True, slots=True)
class Mark:
    """One check, or several that passed one after another; places are in pixels of the picture."""

    x: float
    width: float
    tone: str
    words: str

    @property
    def end(self) -> float:
        """Where it ends."""
        return self.x + self.width


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """The checks of one family over time; ``y`` is the upper edge of the row."""

    family: str
    y: int
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """A row for each family that sent requests, in the order in which they began."""

    width: int
    row_height: int
    seconds: float
    rows: tuple[TimelineRow, ...]

    @property
    def height(self) -> int:
        """The height of the picture in pixels."""
        return len(self.rows) * self.row_height


@dataclass(frozen=True, slots=True)
class Latency:
    """How long one operation took to answer, in milliseconds; ``share`` is of the slowest p95."""

    operation: str
    requests: int
    p50_ms: float
    p95_ms: float
    max_ms: float
    share: float


def timeline(run: Run) -> Timeline:
    """Return the timeline of a run; without rows for one that does not say when checks began."""
    called = [v for v in run.verdicts if v.started_ms]
    if not called:
        return Timeline(_WIDTH, _ROW_HEIGHT, 0.0, ())
    begin = min(v.started_ms for v in called)
    whole_ms = max(1.0, max(v.started_ms + v.duration_ms for v in called) - begin)
    scale = _WIDTH / whole_ms
    by_family = {
        name: sorted((v for v in verdicts if v.started_ms), key=lambda v: v.started_ms)
        for name, verdicts in families(run).items()
    }
    began = sorted((found[0].started_ms, name) for name, found in by_family.items() if found)
    rows = tuple(
        TimelineRow(name, at * _ROW_HEIGHT, tuple(_marks(by_family[name], begin, scale)))
        for at, (_, name) in enumerate(began)
    )
    return Timeline(_WIDTH, _ROW_HEIGHT, round(whole_ms / 1000, 1), rows)


def _marks(verdicts: Sequence[Verdict], begin: int, scale: float) -> Iterable[Mark]:
    joined: list[Mark] = []
    many = 0
    for verdict in verdicts:
        x = round((verdict.started_ms - begin) * scale, 1)
        width = round(max(_MARK_WIDTH_MIN, verdict.duration_ms * scale), 1)
        tone = _TONES.get(verdict.outcome, "")
        words = f"{verdict.check}: {verdict.outcome}, {verdict.duration_ms:.0f} ms"
        last = joined[-1] if joined else None
        if last and not tone and not last.tone and x - last.end < _JOINED_BELOW:
            many += 1
            until = round(max(last.end, x + width) - last.x, 1)
            joined[-1] = Mark(last.x, until, "", f"{many} checks")
        else:
            many = 1
            joined.append(Mark(x, width, tone, words))
    return joined


def latencies(run: Run) -> tuple[Latency, ...]:
    """Return how long each operation took, those that took longest in all first."""
    rows = run.facts["timing"].get("operations", ())
    slowest = max((row["p95_ms"] for row in rows), default=0.0) or 1.0
    return tuple(
        Latency(
            operation=row["id"],
            requests=row["requests"],
            p50_ms=row["p50_ms"],
            p95_ms=row["p95_ms"],
            max_ms=row["max_ms"],
            share=round(100 * row["p95_ms"] / slowest, 1),
        )
        for row in rows
    )
