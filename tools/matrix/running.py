"""Judges what has not been judged since its sources changed, in several processes."""

import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from icecheck.mock_server.defects import Defect
from tools.matrix.judged import judge_cells, prepare_worker
from tools.matrix.kept import Kept
from tools.matrix.plan import Cell, Plan
from tools.matrix.table import Row, row_of


def judge_missing(plan: Plan, due: Sequence[Defect], kept: Kept, processes: int) -> list[str]:
    """Judge the cells that are not kept, few checks first; return the defects that broke off."""
    missing = [[c for c in plan.cells(defect) if kept.get(c) is None] for defect in due]
    tasks = sorted(filter(None, missing), key=_weight)
    progress = Progress(len(due), len(tasks), sum(map(_weight, tasks)))
    failed: list[str] = []
    pool = ProcessPoolExecutor(processes, get_context("spawn"), prepare_worker)
    try:
        waiting = {pool.submit(judge_cells, cells): cells for cells in tasks}
        for future in as_completed(waiting):
            cells = waiting[future]
            if error := future.exception():
                failed.append(cells[0].defect)
                print(f"{cells[0].defect}: {type(error).__name__}: {error}", file=sys.stderr)
            else:
                kept.add(future.result())
            progress.tell(_weight(cells))
    finally:
        pool.shutdown(cancel_futures=True)
    return failed


def rows_of(plan: Plan, every: Iterable[Defect], kept: Kept) -> list[Row]:
    """Return the rows of the defects of which all cells are kept."""
    rows = []
    for defect in every:
        cells = [kept.get(cell) for cell in plan.cells(defect)]
        done = [cell for cell in cells if cell is not None]
        if len(done) == len(cells):
            rows.append(row_of(defect.name, done))
    return rows


def _weight(cells: Sequence[Cell]) -> int:
    return sum(len(cell.checks) for cell in cells)


class Progress:
    """Prints how far a run is, about once in ten seconds."""

    def __init__(self, defects: int, missing: int, weight: int) -> None:
        self._left = missing
        self._weight = weight
        self._done = 0
        self._started = self._told = time.monotonic()
        print(f"{defects} defects, {missing} of them to judge: {weight} verdicts", flush=True)

    def tell(self, weight: int) -> None:
        """Count a defect with as many verdicts as done."""
        self._left -= 1
        self._done += weight
        now = time.monotonic()
        if self._left and now - self._told < 10:
            return
        self._told = now
        spent = now - self._started
        rest = spent / self._done * (self._weight - self._done)
        print(
            f"{self._done} of {self._weight} verdicts, {self._left} defects left, "
            f"{spent / 60:.0f} minutes spent, about {rest / 60:.0f} to go",
            flush=True,
        )
