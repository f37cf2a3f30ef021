"""Keeps what was judged in a folder, one line for each cell, so that a run can go on later."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from icecheck.contract import Level
from tools.matrix.judged import Judged
from tools.matrix.plan import Cell


class Kept:
    """A folder of judged cells; several runs may write to it, each to a file of its own."""

    def __init__(self, folder: Path, part: str) -> None:
        self._folder = folder
        self._path = folder / f"judged-{part}.jsonl"
        self._known: dict[str, Judged] = {}
        for path in sorted(folder.glob("judged-*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                self._read(line)
        # An interrupted run may have left half of a line: the next one begins on its own.
        if self._path.exists() and not self._path.read_bytes().endswith(b"\n"):
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n")

    def get(self, cell: Cell) -> Judged | None:
        """Return what was judged of a cell as it is now, or None."""
        return self._known.get(cell.key)

    def add(self, done: Iterable[tuple[Cell, Judged]]) -> None:
        """Write down the cells of a defect at once."""
        lines = []
        for cell, found in done:
            self._known[cell.key] = found
            row = {"key": cell.key, "defect": cell.defect, "family": cell.family, **asdict(found)}
            lines.append(json.dumps(row) + "\n")
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write("".join(lines))

    def _read(self, line: str) -> None:
        try:
            row = json.loads(line)
        except ValueError:
            return  # half of a line
        self._known[row["key"]] = Judged(
            {check: Level(level) for check, level in row["failed"].items()},
            {c: (Level(level), tuple(by)) for c, (level, by) in row["shown"].items()},
            row["errors"],
        )
