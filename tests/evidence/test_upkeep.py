"""Tables are compacted when they have many small files, and say the same afterwards."""

from pathlib import Path

import pytest

from icecheck.reports.evidence import upkeep
from icecheck.reports.evidence.declared_tables import FILES, RUNS
from icecheck.reports.evidence.store import Store
from tests.evidence.conftest import Evidence
from tests.evidence.reports_made import document, exchange, put

pytestmark = pytest.mark.spark


@pytest.mark.complete("two ingestions, and a compaction")
def test_tables_with_many_small_files_are_compacted_and_say_the_same(
    evidence: Evidence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Procedures take a name as text: of a prefix that needs quotes, too.
    evidence = Evidence(Store(evidence.store.spark, evidence.store.catalog, "a-b"))
    evidence.store.prepare()
    monkeypatch.setattr(upkeep, "SMALL_FILES_MAX", 1)
    monkeypatch.setattr(upkeep, "SNAPSHOTS_MAX", 2)
    monkeypatch.setattr(upkeep, "KEPT_DAYS", -1)
    for number in range(6):
        put(tmp_path / "in" / str(number), document(f"r{number}"), [exchange(1)])
        evidence.take_in(tmp_path / "in")
    before = evidence.content()
    done = upkeep.keep_up(evidence.store)
    assert evidence.content() == before
    assert "silver.runs compacted" in done
    assert any(each.startswith("bronze.files: snapshots before") for each in done)
    for table in (RUNS, FILES):
        name = evidence.store.name(table)
        assert evidence.store.spark.table(f"{name}.files").count() == 1
        assert evidence.store.spark.table(f"{name}.snapshots").count() == 1
    monkeypatch.setattr(upkeep, "SNAPSHOTS_MAX", 100)
    assert upkeep.keep_up(evidence.store) == ()
