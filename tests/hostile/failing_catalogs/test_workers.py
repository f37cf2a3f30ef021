"""Several checks at a time: the verdicts and requests of one at a time, and one clean ending."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest

from icecheck.cli.workers import Workers
from icecheck.findings.verdict import Group, Outcome
from icecheck.mock_server import MockCatalog
from icecheck.ownership.ledger_file import LEDGER_FILE
from icecheck.run.collect import collect
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.run.workers import judge_in_threads
from icecheck.targets.target import Target
from tests.hostile.failing_catalogs.chaos import (
    FEW,
    TOKEN,
    WAREHOUSE,
    Door,
    blamed,
    missed,
    namespaces_on,
    new_mock,
    run_through,
)
from tests.kit.contracts import CONTRACT
from tests.kit.shares import some

SECONDS_MAX = 120


def told(monkeypatch, workers):
    """What a run asked for, check by check, and what came of it.

    What checks lend each other has a number for each that was needed at the same time.
    """
    mock, asked = new_mock(), []
    door = Door(mock.httpx_transport(), lambda *_: None)
    said = []
    options = RunOptions(
        Target("http://mock.invalid", warehouse=WAREHOUSE, token=TOKEN),
        run_id="sick",
        groups=(Group.CHECKS,),
        globs=FEW,
        workers=workers,
    )
    run = run_checks(options, transport=door, on_exchange=said.append)
    asked = [(e.check, str(e.step), e.method, e.operation, e.status) for e in said]
    order = [check for check, *_ in asked if not check.startswith("probe.") and check]
    assert namespaces_on(mock) == run.facts["safety"]["residue"] == []
    verdicts = {v.check: (v.outcome, v.requests) for v in run.verdicts}
    own = Counter(row for row in asked if not row[0].startswith("probe."))
    return verdicts, own, list(dict.fromkeys(order))


def test_four_workers_ask_and_find_what_one_does(monkeypatch):
    one, four = told(monkeypatch, 1), told(monkeypatch, 4)
    assert len(one[0]) > 50
    assert four[0] == one[0]
    assert four[1] == one[1]


def test_the_exchanges_are_recorded_in_the_order_of_the_checks(monkeypatch):
    assert told(monkeypatch, 4)[2] == told(monkeypatch, 1)[2]


def test_workers_work_at_the_same_time(monkeypatch):
    """Each of the first four questions waits until the other three have come."""
    mock = new_mock()
    together = threading.Barrier(4, timeout=30)
    met = threading.Event()

    def rule(_number, request):
        if request.method == "HEAD" and not met.is_set():
            together.wait()
            met.set()

    door = Door(mock.httpx_transport(), rule)
    run = run_through(door, monkeypatch, workers=4, globs=("namespaceExists.*", "tableExists.*"))
    assert met.is_set()
    assert blamed(run) == missed(run) == []


def test_the_first_failure_ends_a_run_of_several_workers(monkeypatch):
    mock = new_mock()
    operations = mock.registries.operations
    operations["tableExists"] = operations["namespaceExists"]
    run = run_through(
        mock.httpx_transport(),
        monkeypatch,
        workers=4,
        fail_fast=True,
        globs=("tableExists.*", "view*", "listViews.*", "loadView.*"),
    )
    assert run.exit_code == 1
    assert any(v.outcome is Outcome.SKIP and v.skip.kind == "excluded-by-user"
               for v in run.verdicts)  # fmt: skip
    assert namespaces_on(mock) == []


@pytest.mark.parametrize(("given", "meant"), [("1", 1), ("16", 16), (3, 3)])
def test_a_number_of_workers_is_taken_at_its_word(given, meant):
    assert Workers().convert(given, None, None) == meant


def test_auto_means_some_workers():
    assert 4 <= Workers().convert("auto", None, None) <= 8


# ---- processes and sockets


def start(*arguments, cwd):
    command = [sys.executable, "-m", "icecheck", "run", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(condition):
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline and not condition():
        threading.Event().wait(0.005)
    assert condition()


def test_an_interrupt_reaches_every_worker_and_the_report_is_written(tmp_path):
    with new_mock() as mock:
        given = ("--warehouse", WAREHOUSE, "--token", TOKEN, "--only", "checks", "-n", "4")
        process = start(mock.uri, *given, "--output", "out", cwd=tmp_path)
        wait_for(lambda: mock.journal.count("createTable") > 20 or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=SECONDS_MAX)
        assert process.returncode == 130, stderr
        assert "(incomplete)" in stdout
        assert "Traceback" not in stderr
        report = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
        assert report["complete"] is False
        assert report["safety"]["residue"] == []
        assert not (tmp_path / "out" / LEDGER_FILE).exists()
        assert namespaces_on(mock) == []


@pytest.mark.parametrize("workers", some(["4", "1"], 2))
def test_a_restart_that_keeps_everything_costs_no_verdict(tmp_path, workers):
    with MockCatalog(warehouses=[WAREHOUSE], token=TOKEN, root=tmp_path / "root") as first:
        port = int(first.uri.rpartition(":")[2])
        first.stop()
        mock = MockCatalog(
            warehouses=[WAREHOUSE], token=TOKEN, root=tmp_path / "root", port=port
        ).start()
        given = ("--warehouse", WAREHOUSE, "--token", TOKEN, "--only", "checks", "-n", workers)
        globs = [part for glob in FEW for part in ("--check", glob)]
        process = start(mock.uri, *given, *globs, "--output", "out", cwd=tmp_path)
        wait_for(lambda: mock.journal.count("createTable") > 20 or process.poll() is not None)
        mock.stop()
        threading.Event().wait(1.5)
        mock.start()
        stdout, stderr = process.communicate(timeout=SECONDS_MAX)
        assert process.returncode == 0, stdout + stderr
        assert " 0 fail, 0 blocked" in stdout
        assert namespaces_on(mock) == []
        mock.stop()


def test_what_stops_a_worker_is_raised_where_the_verdicts_are_read():
    class Stop(BaseException):
        """Ends a worker as nothing that a check may do does."""

    def judge(check):
        raise Stop

    checks = collect((Group.CHECKS,), CONTRACT)[:3]
    with pytest.raises(Stop):
        list(judge_in_threads(checks, judge, lambda _: None, 2, threading.Event()))
