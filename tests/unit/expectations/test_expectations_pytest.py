"""Under pytest a known failure is a strict xfail, and an entry that is wrong fails the run."""

import contextlib
import io
import json
import subprocess
import sys
from typing import NamedTuple

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects.kit.rewriting import refuse_as
from icecheck.mock_server.protocol.problem import Problem

TOKEN = "tok-canary-1"
FEW = "icecheck.conformance.metrics.test_metrics"
WITHOUT = ("-p", "no:xdist", "-p", "no:unraisableexception")
TEAPOT = 'fails_with = { symptom = "status", actual = "418" }\n'


def entry(check="reportMetrics.*", kind="known-failure", more=""):
    return f'[[expectation]]\ncheck = "{check}"\nkind = "{kind}"\nreason = "ticket 7"\n{more}'


@pytest.fixture
def mock():
    with MockCatalog(seed=1, token=TOKEN, warehouses=["wh"]) as running:
        yield running


@pytest.fixture
def broken(mock):
    def teapot(context, state, call):
        raise Problem(418, "TeapotException", "not today")

    mock.registries.operations["reportMetrics"] = teapot
    return mock


@pytest.fixture
def verify(tmp_path, monkeypatch):
    """Run pytest inside this process: starting twenty would take minutes.

    At its end pytest collects all garbage of the process ten times, for warnings about exceptions
    in finalizers; here that would take most of the time.
    """

    def run(mock, text, *more):
        if text is not None:
            (tmp_path / "icecheck.toml").write_text(text)
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = pytest.main([*options(mock), "--capture=no", *WITHOUT, *more])
        return Done(int(code), said.getvalue())

    monkeypatch.chdir(tmp_path)
    return run


class Done(NamedTuple):
    returncode: int
    stdout: str


def options(mock):
    target = ["--catalog-url", mock.uri, "--catalog-warehouse", "wh", "--catalog-token", TOKEN]
    plugins = ["-p", "no:cacheprovider", "-p", "no:randomly"]
    return [*plugins, "--pyargs", FEW, "-q", *target, "--conformance-report", "out"]


def document(tmp_path):
    return json.loads((tmp_path / "out" / "run.json").read_text())


def test_a_known_failure_is_xfail_and_the_verdict_stays(verify, broken, tmp_path):
    done = verify(broken, entry(more=TEAPOT), "-rx")
    assert done.returncode == 0, done.stdout
    assert " xfailed" in done.stdout
    assert " failed" not in done.stdout
    assert "known-failure: ticket 7 (expected 204, got 418" in done.stdout
    assert "not-conformant" in done.stdout
    run = document(tmp_path)
    assert run["verdict"]["status"] == "not-conformant"
    assert run["verdict"]["exit_code"] == 0
    assert run["totals"]["expected_failures"] > 0


@pytest.mark.complete("starts workers; one process is usual")
def test_workers_know_the_entries_too(broken, tmp_path):
    (tmp_path / "icecheck.toml").write_text(entry(more=TEAPOT))
    command = [sys.executable, "-m", "pytest", *options(broken), "-n", "1"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout
    assert " xfailed" in done.stdout


def test_a_flaky_or_waived_check_may_fail(verify, broken):
    done = verify(broken, entry("reportMetrics.s*", "flaky") + entry(kind="waived"))
    assert done.returncode == 0, done.stdout
    assert " xfailed" in done.stdout
    assert " failed" not in done.stdout


def test_a_known_failure_that_passes_fails_the_run(verify, mock):
    done = verify(mock, entry())
    assert done.returncode == 1
    assert "[XPASS(strict)] known-failure: ticket 7" in done.stdout
    assert "stale: entry 1, line 1 (known-failure, check reportMetrics.*)" in done.stdout


def test_a_known_failure_that_fails_differently_fails_the_run(verify, broken):
    done = verify(broken, entry(more=TEAPOT.replace("418", "500")))
    assert done.returncode == 1
    assert "not as entry 1, line 1" in done.stdout
    assert "fails differently: entry 1" in done.stdout


def test_an_expired_entry_fails_the_run_of_a_faithful_catalog(verify, mock):
    done = verify(mock, entry(kind="flaky", more="expires = 2020-01-01\n"))
    assert done.returncode == 1
    assert "failed" not in done.stdout.splitlines()[0]
    assert "expired: entry 1, line 1" in done.stdout


def test_what_pytest_did_not_select_is_not_judged(verify, mock):
    done = verify(mock, entry("createTable.*") + entry("schema.createTable.*"))
    assert done.returncode == 0, done.stdout


def test_a_passive_failure_that_is_known_does_not_fail_the_run(verify, mock, tmp_path):
    faithful = mock.registries.operations["createTable"]

    def without_last_column(context, state, call):
        outcome = faithful(context, state, call)
        body = outcome.reply.body.replace(b'"last-column-id"', b'"last-column"')
        reply = type(outcome.reply)(outcome.reply.status, outcome.reply.headers, body)
        return type(outcome)(outcome.state, reply, outcome.effects)

    mock.registries.operations["createTable"] = without_last_column
    done = verify(mock, entry("schema.createTable.200"))
    assert done.returncode == 0, done.stdout
    (row,) = [c for c in document(tmp_path)["checks"] if c["id"] == "schema.createTable.200"]
    assert (row["outcome"], row["expected"], row["unexpected"]) == ("fail", "known-failure", False)


def test_failures_by_cause_are_xfail(verify, mock):
    # One refusal alone: what answers 418 to everything is a cause that only a whole run tells.
    refuse_as(mock.registries, "reportMetrics", 404, 418)
    text = entry().replace('check = "reportMetrics.*"', 'cause = "status-4*"')
    done = verify(mock, text)
    assert done.returncode == 0, done.stdout
    assert " xfailed" in done.stdout


def test_runxfail_shows_the_failures_as_they_are(verify, broken):
    done = verify(broken, entry(more=TEAPOT), "--runxfail")
    assert done.returncode == 1
    assert " failed" in done.stdout


def test_a_bad_file_is_a_usage_error(verify, mock):
    done = verify(mock, entry(more='owner = "me"\n'))
    assert done.returncode == 4
    assert "unknown key 'owner'" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_file_that_is_named_must_be_there(verify, mock):
    done = verify(mock, None, "--conformance-expectations", "gone.toml")
    assert done.returncode == 4
    assert "gone.toml cannot be read" in done.stdout
