"""Kept tables at a restart, against reading their files alone; snapshots of all against of none."""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from icecheck.mock_server import MockCatalog

NAMESPACES, TABLES_IN_EACH, ROUNDS = 100, 100, 5
SNAPSHOTS = 1000
COLUMNS = {"id": "long", "word": "string"}


def seed(namespaces: int) -> dict[str, object]:
    tables = [{"name": f"t{number}", "columns": COLUMNS} for number in range(TABLES_IN_EACH)]
    return {"warehouses": {"wh": [{"name": f"n{n}", "tables": tables} for n in range(namespaces)]}}


def spent(work: Callable[[], object]) -> float:
    """Return the CPU seconds of some work, the system's among them."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def restart(root: Path) -> None:
    MockCatalog(root=root, keep=True).stop()


def read_all(root: Path) -> None:
    for file in root.glob("wh/*/*/metadata/*.metadata.json"):
        file.read_bytes()


def go_back(mock: MockCatalog) -> None:
    for _ in range(SNAPSHOTS):
        mock.restore(mock.snapshot())


def main() -> None:
    count = NAMESPACES * TABLES_IN_EACH
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as another:
        root = Path(directory)
        mock = MockCatalog(root=root, keep=True)
        mock.states.seed(seed(NAMESPACES))
        mock.stop()
        pairs = [
            (spent(lambda: restart(root)), spent(lambda: read_all(root))) for _ in range(ROUNDS)
        ]
        ours, files = (statistics.median(column) for column in zip(*pairs, strict=True))
        full = MockCatalog(root=root, keep=True)
        few = MockCatalog(root=another, keep=True)
        few.states.seed(seed(1))
        snapshots = [spent(lambda each=each: go_back(each)) / SNAPSHOTS for each in (full, few)]
        full.stop()
        few.stop()
    print(
        f"{count} tables, CPU seconds: restart {ours:.2f}, files alone {files:.2f}, "
        f"ratio {ours / files:.1f}"
    )
    many, one = (1_000_000 * each for each in snapshots)
    print(
        f"snapshot and back, CPU microseconds: {count} tables {many:.1f}, "
        f"{TABLES_IN_EACH} tables {one:.1f}, ratio {many / one:.1f}"
    )


if __name__ == "__main__":
    main()
