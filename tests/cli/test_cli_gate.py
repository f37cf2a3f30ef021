"""`icecheck gate`: a decision from a stored report, with a reason for each refusal."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from icecheck.contract.document import DEFAULT_SPEC_VERSION
from icecheck.reports import run_json
from icecheck.run.stored.decision import Demand, objections
from tests.kit.finished_runs import finished
from tests.unit.reports.golden_runs import RUNS

NOW = datetime(2026, 3, 31, 12, 0, 0, tzinfo=UTC)
CONFORMS, FAILS = RUNS["all-pass"], RUNS["one-failure"]


def report(run, **changes):
    return json.loads(run_json.render(replace(run, **changes)))


@pytest.fixture
def stored(tmp_path):
    def write(run, name="run.json", **changes):
        (tmp_path / name).write_text(json.dumps(report(run, **changes)))
        return name

    return write


def test_a_conformant_profile_will_do(icecheck, stored):
    result = icecheck(
        "gate", stored(CONFORMS), "--require", f"write@{DEFAULT_SPEC_VERSION}", "--require", "read"
    )
    assert (result.exit_code, result.stderr) == (0, "")
    assert "will do" in result.stdout
    assert len(result.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("run", "changes", "demand", "reason"),
    [
        (FAILS, {}, "write", "write: not conformant (1 fail)"),
        (CONFORMS, {}, f"views@{DEFAULT_SPEC_VERSION}", "views: not claimed"),
        (CONFORMS, {}, "write@1.9.0", "write: the run held the catalog to a newer document"),
        (CONFORMS, {}, "write@99.0.0", "write: the run held the catalog to an older document"),
        (RUNS["interrupted"], {}, "core", "the run is incomplete"),
        (RUNS["nothing-verified"], {}, "core", "core: not verified"),
    ],
)
def test_what_does_not_conform_is_refused_with_the_reason(
    icecheck, stored, run, changes, demand, reason
):
    result = icecheck("gate", stored(run, **changes), "--require", demand)
    assert result.exit_code == 1
    head, *reasons = result.stdout.splitlines()
    assert "will not do" in head
    assert any(line.strip().startswith(reason) for line in reasons), reasons


def test_without_a_demand_the_runs_own_gate_decides(icecheck, stored):
    assert icecheck("gate", stored(CONFORMS)).exit_code == 0
    excused = stored(FAILS, exit_code=0, exit_reason="gate-satisfied")
    assert icecheck("gate", excused).exit_code == 0
    refused = icecheck("gate", stored(FAILS))
    assert refused.exit_code == 1
    assert "the gate of the run is not satisfied: unexpected-failure" in refused.stdout


def test_a_known_failure_is_a_failure_of_its_profile(icecheck, stored):
    excused = stored(FAILS, exit_code=0, exit_reason="gate-satisfied")
    assert icecheck("gate", excused, "--require", "write").exit_code == 1


@pytest.mark.parametrize(
    ("ended", "days", "reason"),
    [
        ("2026-03-01T12:00:00+00:00", 30, None),
        ("2026-03-01T11:59:59+00:00", 30, "too old"),
        ("2026-03-01T13:59:59+02:00", 30, "too old"),
        ("2026-03-31T11:00:00", 1, None),
        ("2026-04-02T12:00:00+00:00", 30, "in the future"),
    ],
)
def test_a_run_is_good_for_so_long(ended, days, reason):
    found = objections(
        report(CONFORMS, generated_at=ended), [Demand("write")], timedelta(days=days), NOW
    )
    assert len(found) == (reason is not None)
    assert reason is None or reason in found[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--require", "writes"), "the profiles are core, read"),
        (("--require", "write@new"), "say the document's version"),
        (("--max-age", "a month"), "say hours, days or weeks"),
        (("--max-age", "30"), "say hours, days or weeks"),
    ],
)
def test_misuse_is_exit_2_in_one_line(icecheck, stored, arguments, words):
    result = icecheck("gate", stored(finished()), *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert words in line


def test_what_is_no_report_is_exit_2(icecheck, tmp_path):
    (tmp_path / "bad.json").write_text("{}")
    for name in ("bad.json", "gone.json"):
        result = icecheck("gate", name, "--require", "write")
        assert result.exit_code == 2
        assert name in result.stderr
