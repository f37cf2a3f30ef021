"""The evidence of a test: its own root, with the bundled mock as its catalog."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.reports.evidence import gold
from icecheck.reports.evidence.declared_tables import TABLES
from icecheck.reports.evidence.files import find
from icecheck.reports.evidence.ingestion import ingest
from icecheck.reports.evidence.opening import store_in
from icecheck.reports.evidence.sorting import Ingestion
from icecheck.reports.evidence.store import Store
from icecheck.spark import SparkWorkbench
from icecheck.targets.target import Target

NOW = datetime(2026, 6, 1, tzinfo=UTC)
# When a file was looked at, and where it lay, may differ between equal tables.
PASSING = {"seen_at", "taken_at", "uri", "file", "exchanges_file", "modified_ms"}


class Evidence:
    """The evidence below a root, and what is asked of it in tests."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def take_in(
        self,
        *paths: Path,
        with_gold: bool = False,
        now: datetime = NOW,
        tell: Callable[[str], object] = lambda _: None,
    ) -> Ingestion:
        """Take in what is below paths; bring gold up to date if wanted."""
        done = ingest(self.store, find(map(str, paths)), now, tell)
        if with_gold:
            gold.build(self.store)
        return done

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query; ``{name}`` in it stands for a table, as {silver.runs}."""
        names = {each: self.store.name(each) for each in self._names()}
        for name, whole in names.items():
            query = query.replace(f"{{{name}}}", whole)
        return [tuple(row) for row in self.store.spark.sql(query).collect()]

    def content(self) -> dict[str, list[str]]:
        """Return the rows of every table but those that say which files were looked at."""
        found = {}
        for name in self._names():
            if name == "bronze.files" or not self.store.has(name):
                continue
            frame = self.store.spark.table(self.store.name(name))
            kept = [column for column in frame.columns if column not in PASSING]
            found[name] = sorted(map(str, frame.select(*kept).collect()))
        return found

    def snapshots(self) -> dict[str, int]:
        """Return how many snapshots each table has."""
        return {
            name: self.store.spark.table(f"{self.store.name(name)}.snapshots").count()
            for name in self._names()
            if self.store.has(name)
        }

    @staticmethod
    def _names() -> list[str]:
        return [*(table.name for table in TABLES), *(table.name for table in gold.GOLD)]


@contextmanager
def evidence_below(root: Path, workbench: SparkWorkbench) -> Iterator[Evidence]:
    """Yield the evidence below a root, its tables made."""
    with MockCatalog(root=root, keep=True) as mock:
        store = store_in(workbench, Target(mock.uri, warehouse="evidence"), "icecheck")
        store.prepare()
        yield Evidence(store)


@pytest.fixture
def evidence(tmp_path: Path, workbench: SparkWorkbench) -> Iterator[Evidence]:
    with evidence_below(tmp_path / "evidence", workbench) as made:
        yield made
