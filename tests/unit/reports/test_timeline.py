"""The timeline of a run: checks that pass one after another are one mark, a failure is its own."""

from dataclasses import replace

from icecheck.findings.verdict import Outcome
from icecheck.reports.timeline import latencies, timeline
from tests.kit.finished_runs import finished, verdict
from tests.unit.reports.conftest import FAILED

BEGAN_MS = 1_772_366_400_000


def judged(name, at_ms, took_ms=10.0, **members):
    return verdict(name, started_ms=BEGAN_MS + at_ms, duration_ms=took_ms, **members)


def test_a_family_is_a_row_in_the_order_in_which_they_began():
    run = finished(judged("loadTable.b", 50), judged("getConfig.a", 0), judged("loadTable.a", 40))
    assert [row.family for row in timeline(run).rows] == ["getConfig", "loadTable"]


def test_what_passed_without_a_gap_is_one_mark_and_a_failure_is_its_own():
    failing = replace(FAILED, check="loadTable.f", started_ms=BEGAN_MS + 30, duration_ms=10.0)
    run = finished(
        judged("loadTable.a", 0), judged("loadTable.b", 10), judged("loadTable.c", 20),
        failing, judged("loadTable.d", 40), judged("loadTable.e", 900, 100.0),
    )  # fmt: skip
    (row,) = timeline(run).rows
    assert [(mark.tone, mark.words) for mark in row.marks] == [
        ("", "3 checks"),
        ("bad", "loadTable.f: fail, 10 ms"),
        ("", "loadTable.d: pass, 10 ms"),
        ("", "loadTable.e: pass, 100 ms"),
    ]
    assert [mark.x for mark in row.marks] == [0.0, 30.0, 40.0, 900.0]
    assert row.marks[-1].end == timeline(run).width


def test_what_was_not_called_is_not_in_it():
    run = finished(judged("loadTable.a", 0), verdict("loadTable.b", Outcome.SKIP, skip=None))
    (row,) = timeline(run).rows
    assert [mark.words for mark in row.marks] == ["loadTable.a: pass, 10 ms"]
    assert timeline(finished(verdict("loadTable.b"))).rows == ()


def test_latencies_are_told_by_operation():
    (only,) = latencies(finished(verdict("loadTable.b")))  # requests of no operation are left out
    assert (only.operation, only.requests) == ("createNamespace", 3)
    assert (only.p50_ms, only.p95_ms, only.max_ms, only.share) == (2.0, 40.0, 40.0, 100.0)
