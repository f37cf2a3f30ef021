"""Exchanges are those of the report that states their digest, and of one file at a time."""

import json
from pathlib import Path

import pytest

from tests.evidence.conftest import Evidence
from tests.evidence.reports_made import document, exchange, packed, put, stating
from tests.evidence.test_ingestion import reasons

pytestmark = pytest.mark.spark

OPERATIONS = "SELECT operation, count(*) FROM {silver.exchanges} GROUP BY 1 ORDER BY 1"
BY_RUN = """
    SELECT r.run_id, count(*) FROM {silver.exchanges} e
    JOIN {silver.runs} r ON e.report_id = r.report_id GROUP BY 1 ORDER BY 1
"""


def some(count: int, operation: str = "loadTable") -> list[dict]:
    return [exchange(number, operation=operation) for number in range(1, count + 1)]


def test_a_file_is_paired_with_the_report_that_states_its_digest(
    evidence: Evidence, tmp_path: Path
) -> None:
    """Two reports beside one file; two files beside two reports, under each other's names."""
    beside = put(tmp_path / "in" / "one", document("a"), some(2))
    (beside / "run.json").rename(beside / "run-z.json")
    other = stating(document("b", "2026-03-02T12:00:00+00:00"), some(9))
    (beside / "run-b.json").write_text(json.dumps(other))
    crossed = tmp_path / "in" / "two"
    crossed.mkdir()
    for number, run in enumerate(("c", "d")):
        made = document(run, f"2026-03-0{3 + number}T12:00:00+00:00")
        (crossed / f"run-{run}.json").write_text(json.dumps(stating(made, some(3 + number))))
        (crossed / f"run-{'dc'[number]}.jsonl.zst").write_bytes(packed(some(3 + number)))
    evidence.take_in(tmp_path / "in")
    assert evidence.rows(BY_RUN) == [("a", 2), ("c", 3), ("d", 4)]
    assert reasons(evidence) == {}


@pytest.mark.complete("three ingestions, one after the other")
def test_exchanges_that_their_report_does_not_state_are_put_aside(
    evidence: Evidence, tmp_path: Path
) -> None:
    place = put(tmp_path / "in" / "run", stating(document("a"), some(3)))
    (place / "exchanges.jsonl.zst").write_bytes(packed(some(2)))
    evidence.take_in(tmp_path / "in")
    ((where, why),) = reasons(evidence).items()
    assert where == ("run/exchanges.jsonl.zst", 0)
    assert "run.json beside it states other exchanges" in why
    assert evidence.rows("SELECT count(*) FROM {silver.runs}") == [(1,)]
    before = evidence.snapshots()
    assert evidence.take_in(tmp_path / "in").known == 2
    assert (evidence.snapshots(), reasons(evidence)) == (before, {where: why})
    (place / "exchanges.jsonl.zst").write_bytes(packed(some(3)))
    evidence.take_in(tmp_path / "in")
    assert evidence.rows(BY_RUN) == [("a", 3)]
    assert reasons(evidence) == {}


def test_exchanges_that_are_replaced_by_fewer_leave_none_of_the_older(
    evidence: Evidence, tmp_path: Path
) -> None:
    place = put(tmp_path / "in", document("a"), some(5, "old"), stated=False)
    evidence.take_in(place)
    (place / "exchanges.jsonl.zst").write_bytes(packed(some(2, "new")))
    done = evidence.take_in(place)
    assert done.lines == 2
    assert evidence.rows(OPERATIONS) == [("new", 2)]
    assert evidence.rows("SELECT count(*) FROM {bronze.lines}") == [(2,)]


@pytest.mark.complete("one ingestion; reports that state their exchanges are judged by that")
def test_of_two_silent_reports_only_one_has_the_only_file(
    evidence: Evidence, tmp_path: Path
) -> None:
    place = put(tmp_path / "in", document("a"), some(2), stated=False)
    other = document("b", "2026-03-02T12:00:00+00:00")
    (place / "run-b.json").write_text(json.dumps(other))
    evidence.take_in(place)
    assert evidence.rows(BY_RUN) == [("b", 2)]
    again = evidence.take_in(place)
    assert again.known == 3
