"""What was taken in stays, whatever becomes of its files; and what was put aside may come back."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from icecheck.reports.evidence import heads, told
from icecheck.reports.evidence.arrivals import DUPLICATE, INGESTED, QUARANTINED
from icecheck.reports.evidence.declared_tables import FILES, VERSION_PROPERTY
from icecheck.reports.evidence.files import find
from icecheck.reports.evidence.ingestion import ingest
from tests.evidence.conftest import NOW, Evidence
from tests.evidence.reports_made import document, exchange, packed, put, stating

pytestmark = pytest.mark.spark

LINES = [exchange(number) for number in range(1, 4)]
PLACES = "SELECT uri, state FROM {bronze.files} ORDER BY uri"
EXCHANGES = "SELECT count(*) FROM {silver.exchanges}"
GOLD = "SELECT run_id FROM {gold.conformance} ORDER BY generated_at"


def night(number: int) -> dict:
    return document(f"night{number}", f"2026-03-0{number}T12:00:00+00:00")


def runs(evidence: Evidence) -> int:
    return sum(each["runs"] for each in told.status(evidence.store)["catalogs"].values())


def states(evidence: Evidence) -> dict[str, str]:
    """Return directory and file -> how it was looked at."""
    rows = evidence.rows(PLACES)
    found = {"/".join(uri.split("/")[-2:]): state for uri, state in rows}
    assert len(found) == len(rows)
    return found


def test_a_directory_that_the_next_night_overwrites_keeps_each_night(
    evidence: Evidence, tmp_path: Path
) -> None:
    place = tmp_path / "icecheck-report"
    for number in (1, 2):
        put(place, night(number), LINES[:number])
        evidence.take_in(place)
    (place / "run.json").write_text("{")
    evidence.take_in(place, with_gold=True)
    assert runs(evidence) == 2
    assert evidence.rows(GOLD) == [("night1",), ("night2",)]
    assert evidence.rows("SELECT sum(exchanges) FROM {gold.operation_coverage}") == [(3,)]


@pytest.mark.complete("three ingestions, one after the other")
def test_a_directory_that_is_rotated_keeps_each_night(evidence: Evidence, tmp_path: Path) -> None:
    put(tmp_path / "in" / "report", night(1), LINES[:2])
    evidence.take_in(tmp_path / "in")
    (tmp_path / "in" / "report").rename(tmp_path / "in" / "report.1")
    put(tmp_path / "in" / "report", night(2), LINES[:1])
    evidence.take_in(tmp_path / "in")
    evidence.take_in(tmp_path / "in", with_gold=True)
    assert runs(evidence) == 2
    assert evidence.rows(GOLD) == [("night1",), ("night2",)]
    assert states(evidence)["report.1/run.json"] == DUPLICATE


@pytest.mark.complete("three ingestions of what was left by an earlier release")
def test_what_version_2_took_in_counts_and_its_doubles_are_repaired(
    evidence: Evidence, tmp_path: Path
) -> None:
    store = evidence.store
    put(tmp_path / "in", night(1), LINES)
    evidence.take_in(tmp_path / "in")
    files = store.name(FILES)
    doubled = f"INSERT INTO {files} SELECT * FROM {files} WHERE uri LIKE '%.zst'"  # noqa: S608
    store.spark.sql(doubled)
    store.spark.sql(f"DROP TABLE {store.name('bronze.reports')}")
    for name in ("bronze.files", "silver.runs"):
        table = store.name(name)
        store.spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{VERSION_PROPERTY}' = '2')")
    store.prepare()
    assert set(states(evidence).values()) == {INGESTED}
    assert runs(evidence) == 1
    assert evidence.take_in(tmp_path / "in").known == 2
    put(tmp_path / "in", night(2), LINES[:1])
    evidence.take_in(tmp_path / "in")
    assert runs(evidence) == 2


@pytest.mark.complete("three ingestions, one after the other")
def test_a_copy_beside_it_is_a_duplicate_and_its_exchanges_stay(
    evidence: Evidence, tmp_path: Path
) -> None:
    place = put(tmp_path / "in", night(1), LINES[:2], stated=False)
    shutil.copy(place / "run.json", place / "run-backup.json")
    evidence.take_in(place)
    expected = {
        "in/exchanges.jsonl.zst": INGESTED,
        "in/run-backup.json": INGESTED,
        "in/run.json": DUPLICATE,
    }
    assert states(evidence) == expected
    (place / "exchanges.jsonl.zst").write_bytes(packed(LINES))
    for _ in range(2):
        evidence.take_in(place)
        assert states(evidence) == expected
    assert evidence.rows(EXCHANGES) == [(3,)]


@pytest.mark.complete("three ingestions of three reports")
def test_exchanges_are_added_to_the_run_that_lacks_them(evidence: Evidence, tmp_path: Path) -> None:
    """From a copy in another directory, alone, and alone for a run that states nothing."""
    put(tmp_path / "copied" / "a", stating(night(1), LINES))
    put(tmp_path / "stated", stating(night(2), LINES[:2]))
    put(tmp_path / "silent", night(3))
    evidence.take_in(tmp_path / "copied", tmp_path / "stated", tmp_path / "silent")
    assert evidence.rows(EXCHANGES) == [(0,)]
    put(tmp_path / "copied" / "b", night(1), LINES)
    alone = [tmp_path / name / "exchanges.jsonl.zst" for name in ("stated", "silent")]
    for file, count in zip(alone, (2, 1), strict=True):
        file.write_bytes(packed(LINES[:count]))
    done = evidence.take_in(tmp_path / "copied", *alone)
    assert (len(done.reports), done.lines) == (3, 6)
    assert [each.state for each in done.others] == [DUPLICATE]
    counted = (
        "SELECT r.run_id, count(*) FROM {silver.exchanges} e JOIN {silver.runs} r "
        "ON e.report_id = r.report_id GROUP BY 1 ORDER BY 1"
    )
    assert evidence.rows(counted) == [("night1", 3), ("night2", 2), ("night3", 1)]
    again = evidence.take_in(tmp_path / "copied", *alone)
    assert (again.reports, again.others, again.known) == ([], [], 5)


@pytest.mark.complete("one ingestion; the exchanges of a copy that comes later are taken in too")
def test_of_two_copies_that_come_at_once_the_exchanges_of_the_second_are_taken(
    evidence: Evidence, tmp_path: Path
) -> None:
    put(tmp_path / "in" / "a", stating(night(1), LINES))
    put(tmp_path / "in" / "b", night(1), LINES)
    done = evidence.take_in(tmp_path / "in")
    assert (len(done.reports), done.lines) == (1, 3)
    assert states(evidence)["b/exchanges.jsonl.zst"] == INGESTED


@pytest.mark.complete("two ingestions, of which one writes nothing: no data is at stake")
def test_an_ingestion_without_news_writes_nothing_whatever_was_put_aside(
    evidence: Evidence, tmp_path: Path
) -> None:
    put(tmp_path / "in" / "good", night(1), LINES)
    bad = put(tmp_path / "in" / "bad", night(2), LINES[:1])
    (bad / "run.json").write_text("{")
    put(tmp_path / "in" / "future", document("later", "2036-01-01T00:00:00+00:00"))
    first = evidence.take_in(tmp_path / "in", with_gold=True)
    assert len(first.others) == 3
    before = evidence.snapshots()
    again = evidence.take_in(tmp_path / "in", with_gold=True, now=NOW + timedelta(hours=1))
    assert (again.reports, again.others, again.known) == ([], [], 5)
    assert evidence.snapshots() == before


@pytest.mark.complete("two ingestions of two reports")
def test_what_may_be_read_later_is_looked_at_again(evidence: Evidence, tmp_path: Path) -> None:
    """A clock that was ahead, and a directory that could not be opened."""
    root = tmp_path / "in"
    put(root / "future", document("future", "2026-06-03T00:00:00+00:00"))
    put(root / "gone", night(2), LINES[:2])
    files = find([str(root)])
    (root / "gone").rename(tmp_path / "gone")
    first = ingest(evidence.store, files, NOW)
    assert {each.state for each in first.others} == {QUARANTINED}
    assert (first.reports, runs(evidence)) == ([], 0)
    (tmp_path / "gone").rename(root / "gone")
    done = evidence.take_in(root, now=NOW + timedelta(days=30))
    assert (len(done.reports), done.lines, done.others) == (2, 2, [])
    assert told.put_aside(evidence.store) == []


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ({"report_version": "1.9"}, True),
        ({"generated_at": "2036-01-01T00:00:00+00:00"}, True),
        ({"generated_at": "no time"}, False),
        ({"timing": 3}, False),
    ],
)
def test_only_what_may_be_read_later_is_to_be_looked_at_again(
    tmp_path: Path, change: dict, again: bool
) -> None:
    put(tmp_path, night(1) | change)
    head = heads.head_of(f"file://{tmp_path}/run.json", NOW)
    assert head["problem"]
    assert head["look_again"] is again
    missing = heads.head_of(f"file://{tmp_path}/no/run.json", NOW)
    assert missing["look_again"] is True
