"""Two ingestions at once, and one that is killed, end in the tables that one alone makes."""

import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.reports.evidence import told
from icecheck.reports.evidence.opening import store_in
from icecheck.reports.evidence.store import attempts
from icecheck.spark import SparkWorkbench
from icecheck.targets.target import Target
from tests.evidence.conftest import Evidence, evidence_below
from tests.evidence.reports_made import document, exchange, packed, put

pytestmark = pytest.mark.spark

LINES = [exchange(number, elapsed_ms=number) for number in range(1, 30)]


def write(root: Path, many: int = 3) -> Path:
    for number in range(many):
        made = document(f"run{number}", f"2026-03-0{number + 1}T12:00:00+00:00")
        put(root / f"run{number}", made, LINES)
    return root


@pytest.fixture(scope="module")
def alone(
    tmp_path_factory: pytest.TempPathFactory, workbench: SparkWorkbench
) -> dict[str, list[str]]:
    """What one ingestion by itself makes of these reports."""
    root = tmp_path_factory.mktemp("alone")
    with evidence_below(root / "evidence", workbench) as evidence:
        evidence.take_in(write(root / "in"), with_gold=True)
        return evidence.content()


def test_a_table_that_another_has_made_meanwhile_is_looked_at_again(
    workbench: SparkWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("icecheck.reports.evidence.store._WAIT_SECONDS", 0)
    begun = 0
    with MockCatalog() as mock:
        store = store_in(workbench, Target(mock.uri, warehouse="evidence"), "icecheck")
        store.spark.sql(f"CREATE NAMESPACE {store.catalog}.made")
        name = f"{store.catalog}.made.t"
        for attempt in attempts():
            with attempt:
                begun += 1
                if begun == 1:
                    store.spark.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
                    # As a writer does that has not seen it, by statement and by frame.
                    store.spark.range(1).writeTo(name).using("iceberg").create()
                if begun == 2:
                    store.spark.sql(f"CREATE TABLE {name} (id INT) USING iceberg")
    assert begun == 3


@pytest.mark.complete("four ingestions: two of them at once")
def test_two_ingestions_at_once_end_in_the_same_tables(
    tmp_path: Path, workbench: SparkWorkbench, alone: dict[str, list[str]]
) -> None:
    reports = write(tmp_path / "in")
    with MockCatalog(root=tmp_path / "evidence", keep=True) as mock:
        target = Target(mock.uri, warehouse="evidence")
        two = [Evidence(store_in(workbench, target, "icecheck")) for _ in range(2)]
        two[0].store.prepare()
        with ThreadPoolExecutor(2) as threads:
            # Both have made their first commit from the same version before either gets through.
            with mock.gate("updateTable", holds=2) as first_commits:
                takings = [threads.submit(each.take_in, reports, with_gold=True) for each in two]
                first_commits.wait_for(timeout=120)
            for ended in takings:
                ended.result()
        assert two[0].content() == alone
        assert mock.journal.count("updateTable", status=409) > 0, "the two never met"


@pytest.mark.complete("two ingestions at once")
def test_of_two_contents_of_one_run_only_one_is_taken_in(
    tmp_path: Path, workbench: SparkWorkbench
) -> None:
    contents = ({"one.check": "pass"}, {"one.check": "fail", "two.check": "fail"})
    for number, outcomes in enumerate(contents):
        place = tmp_path / "in" / str(number)
        put(place, document("same", outcomes=outcomes), LINES[: 10 + number])
    together = threading.Barrier(2)

    def take_in(evidence: Evidence, number: int) -> None:
        together.wait()
        evidence.take_in(tmp_path / "in" / str(number))

    with MockCatalog(root=tmp_path / "evidence", keep=True) as mock:
        target = Target(mock.uri, warehouse="evidence")
        two = [Evidence(store_in(workbench, target, "icecheck")) for _ in range(2)]
        two[0].store.prepare()
        with ThreadPoolExecutor(2) as threads:
            for ended in [threads.submit(take_in, each, n) for n, each in enumerate(two)]:
                ended.result()
        ((taken,),) = two[0].rows("SELECT file FROM {bronze.documents}")
        first = contents[int(taken.split("/")[-2])]
        shown = two[0].rows("SELECT check_id, outcome FROM {silver.checks}")
        assert dict(shown) == first
        assert two[0].rows("SELECT count(*) FROM {silver.exchanges}") == [(8 + len(first) + 1,)]
        aside = [each["reason"] for each in told.put_aside(two[0].store)]
        assert len(aside) == 1
        assert "with other content" in aside[0]


@pytest.mark.complete("two ingestions, one within the other")
def test_of_two_contents_the_first_stays_when_the_second_was_planned_before(
    tmp_path: Path, workbench: SparkWorkbench
) -> None:
    """The other is taken in wholly while the first is about to write its document."""
    mine = put(tmp_path / "mine", document("same", outcomes={"one.check": "pass"}), LINES[:1])
    other_outcomes = {"one.check": "fail", "two.check": "fail"}
    theirs = put(tmp_path / "theirs", document("same", outcomes=other_outcomes), LINES[:3])
    with MockCatalog(root=tmp_path / "evidence", keep=True) as mock:
        target = Target(mock.uri, warehouse="evidence")
        one, other = (Evidence(store_in(workbench, target, "icecheck")) for _ in range(2))
        one.store.prepare()

        def tell(words: str) -> None:
            if words.startswith("bronze.documents"):
                assert len(other.take_in(theirs).reports) == 1

        done = one.take_in(mine, tell=tell)
        assert done.reports == []
        ((taken, pieces),) = one.rows("SELECT file, count(*) FROM {bronze.documents} GROUP BY file")
        assert ("/theirs/" in taken, pieces) == (True, 1)
        shown = dict(one.rows("SELECT check_id, outcome FROM {silver.checks}"))
        assert {check: shown[check] for check in other_outcomes} == other_outcomes
        assert one.rows("SELECT count(*) FROM {silver.exchanges}") == [(3,)]
        aside = [each["reason"] for each in told.put_aside(one.store)]
        assert "with other content" in aside[0]


class Killed(Exception):
    """Ends an ingestion at a step, as a signal would."""


@pytest.mark.complete("two ingestions, one after the other")
def test_exchanges_that_were_completed_after_the_end_of_an_ingestion_are_taken_in_whole(
    evidence: Evidence, tmp_path: Path
) -> None:
    place = put(tmp_path / "in", document("a"), LINES, stated=False)
    exchanges = place / "exchanges.jsonl.zst"
    longer = [exchange(number, body=str(number) * 3000) for number in range(1, 200)]
    whole = packed(longer)
    exchanges.write_bytes(whole[: len(whole) // 2])

    def tell(words: str) -> None:
        if words.startswith("silver.exchanges"):
            raise Killed

    with pytest.raises(Killed):
        evidence.take_in(place, tell=tell)
    exchanges.write_bytes(whole)
    done = evidence.take_in(place)
    assert (done.lines, done.bad_lines) == (199, 0)
    assert told.put_aside(evidence.store) == []


@pytest.mark.complete("two ingestions, one after the other")
def test_exchanges_that_change_while_they_are_read_are_left_to_the_next(
    evidence: Evidence, tmp_path: Path
) -> None:
    place = put(tmp_path / "in", document("a"), LINES[:5], stated=False)
    put(tmp_path / "in" / "other", document("b"), LINES[:2])

    def tell(words: str) -> None:
        if words.startswith("bronze.lines"):
            (place / "exchanges.jsonl.zst").write_bytes(packed(LINES))

    done = evidence.take_in(tmp_path / "in", tell=tell)
    assert ([each.run_id for each in done.reports], done.lines) == (["b"], 2)
    assert evidence.rows("SELECT count(*) FROM {bronze.lines}") == [(2,)]
    done = evidence.take_in(tmp_path / "in")
    assert ([each.run_id for each in done.reports], done.lines) == (["a"], len(LINES))
    assert told.put_aside(evidence.store) == []


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(
            "silver.exchanges",
            marks=pytest.mark.complete("a process of its own, which is killed"),
        ),
        pytest.param("bronze.documents", marks=pytest.mark.complete("another moment of the same")),
        pytest.param("bronze.lines", marks=pytest.mark.complete("another moment of the same")),
        pytest.param("gold.conformance", marks=pytest.mark.complete("another moment of the same")),
    ],
)
def test_an_ingestion_that_was_killed_is_completed_by_the_next(
    tmp_path: Path, one_spark, alone: dict[str, list[str]], step: str
) -> None:
    reports = write(tmp_path / "in")
    root = tmp_path / "evidence"
    command = [
        sys.executable, "-m", "icecheck", "evidence", "ingest", str(reports), "--root", str(root),
    ]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(step):
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    assert process.returncode == -signal.SIGKILL
    # Under another name, as after a restart of a job in another directory.
    reports.rename(tmp_path / "moved")
    with evidence_below(root, one_spark.running()) as evidence:
        assert evidence.content() != alone
        evidence.take_in(tmp_path / "moved", with_gold=True)
        assert evidence.content() == alone
