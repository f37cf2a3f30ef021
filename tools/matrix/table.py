"""The full kill matrix as a text file: a line for each defect, with the checks that find it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from icecheck.contract import Level
from tools.matrix.judged import Judged

FILE = Path(__file__).parent / "kills.txt"

RACED = "race."
"""What the ids of checks begin with whose verdicts may differ from run to run."""

_HEAD = """\
# Every defect of the mock, and what finds it: `python -m tools.matrix` writes this file.
# A line is a defect, the checks that fail on it by their level (~: it won a race, and may lose the
# next one), each passive check that fails with its level and the checks that got such an answer,
# and the checks that an error of the suite ended. `a.{b,c}` are a.b and a.c.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What finds a defect: ``failed``, ``shown`` and ``errors`` are those of Judged."""

    defect: str
    failed: Mapping[str, Level]
    shown: Mapping[str, tuple[Level, tuple[str, ...]]]
    errors: tuple[str, ...] = ()


def row_of(defect: str, cells: Iterable[Judged]) -> Row:
    """Return the row of a defect, of which these are all cells."""
    failed: dict[str, Level] = {}
    shown: dict[str, tuple[Level, tuple[str, ...]]] = {}
    errors: list[str] = []
    for cell in cells:
        failed |= cell.failed
        errors += cell.errors
        for passive, (level, by) in cell.shown.items():
            shown[passive] = level, (*shown.get(passive, (level, ()))[1], *by)
    return Row(defect, failed, shown, tuple(sorted(errors)))


def write_table(rows: Iterable[Row], path: Path = FILE) -> None:
    """Write the rows, sorted by defect."""
    lines = [_line(row) + "\n" for row in sorted(rows, key=lambda row: row.defect)]
    path.write_text(_HEAD + "".join(lines), encoding="utf-8")


def read_table(path: Path = FILE) -> list[Row]:
    """Return the rows of the file; none if there is no file."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [_row(line) for line in text.splitlines() if not line.startswith("#")]


def _line(row: Row) -> str:
    parts = [row.defect]
    by_level = ((level, [c for c, its in row.failed.items() if its is level]) for level in Level)
    parts += [f"{level} {_named(checks)}" for level, checks in by_level if checks]
    shown = sorted(row.shown.items())
    parts += [f"passive {passive} {level} {_named(by)}" for passive, (level, by) in shown]
    if row.errors:
        parts.append(f"errors {_named(row.errors)}")
    return " | ".join(parts)


def _row(line: str) -> Row:
    defect, *parts = line.split(" | ")
    failed: dict[str, Level] = {}
    shown: dict[str, tuple[Level, tuple[str, ...]]] = {}
    errors: tuple[str, ...] = ()
    for part in parts:
        match part.split(" "):
            case ["passive", passive, level, *by]:
                shown[passive] = Level(level), _checks(by)
            case ["errors", *named]:
                errors = _checks(named)
            case [level, *named]:
                failed |= dict.fromkeys(_checks(named), Level(level))
    return Row(defect, failed, shown, errors)


def _named(checks: Iterable[str]) -> str:
    grouped: dict[str, list[str]] = {}
    for check in sorted(checks):
        first, _, rest = check.partition(".")
        grouped.setdefault(first, []).append(f"{rest}~" if check.startswith(RACED) else rest)
    return " ".join(
        f"{first}.{rest[0]}" if len(rest) == 1 else f"{first}.{{{','.join(rest)}}}"
        for first, rest in grouped.items()
    )


def _checks(named: Iterable[str]) -> tuple[str, ...]:
    """Return the checks that were so named, sorted."""
    found = []
    for group in named:
        first, _, rest = group.replace("~", "").partition(".")
        found += [f"{first}.{each}" for each in rest.strip("{}").split(",")]
    return tuple(sorted(found))
