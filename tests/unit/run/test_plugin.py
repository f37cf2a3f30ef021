"""The pytest plugin: silent in foreign projects, red where a catalog is wrong."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Outcome
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.mock_server.protocol.problem import Problem
from icecheck.reports.exchanges import read_exchanges
from icecheck.run.output import EXCHANGES_FILE, FORMATS
from tests.kit.shares import some

TOKEN = "tok-canary-1"
FEW = "icecheck.conformance.metrics.test_metrics"
WORKERS = some([(("-n", "2"),), ((),)], 2)


def run_pytest(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly"]
    return subprocess.run(
        [*command, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture
def mock():
    with MockCatalog(seed=1, token=TOKEN, warehouses=["wh"]) as running:
        yield running


def target(mock, *more):
    return ("--catalog-url", mock.uri, "--catalog-warehouse", "wh",
            "--catalog-token", TOKEN, *more)  # fmt: skip


@pytest.mark.usefixtures("other_plugins")
def test_a_foreign_project_is_not_affected(tmp_path):
    (tmp_path / "test_own.py").write_text(
        "import sys\n"
        "import pytest\n\n"
        "@pytest.fixture\n"
        "def catalog():\n"
        "    return 'ours'\n\n"
        "def test_own(catalog):\n"
        "    assert catalog == 'ours'\n"
        "    assert not [m for m in ('icecheck.client.catalog', 'icecheck.mock_server.mock')\n"
        "                if m in sys.modules]\n"
        "    assert not [m for m in ('uvicorn', 'pyspark', 'pyiceberg') if m in sys.modules]\n"
    )
    done = run_pytest(tmp_path, "-q")
    assert done.returncode == 0, done.stdout
    assert "icecheck" not in done.stdout


def test_a_test_of_five_lines_uses_iceberg_catalog(tmp_path):
    (tmp_path / "test_mine.py").write_text(
        "def test_mine(iceberg_catalog):\n"
        "    iceberg_catalog.create_namespace('db')\n"
        "    assert iceberg_catalog.list_namespaces() == [('db',)]\n"
    )
    done = run_pytest(tmp_path, "-q")
    assert done.returncode == 0, done.stdout


def test_checks_without_a_catalog_are_refused_in_one_line(tmp_path):
    done = run_pytest(tmp_path, "--pyargs", FEW, "-q")
    assert done.returncode == 4
    assert "--catalog-url" in done.stderr + done.stdout
    assert "passed" not in done.stdout


def test_collecting_needs_no_catalog(tmp_path):
    done = run_pytest(tmp_path, "--pyargs", FEW, "--collect-only", "-q")
    assert done.returncode == 0
    assert "test_scan_report" in done.stdout


@pytest.mark.parametrize("reported", some([True, False], 2), ids=["reported", "not reported"])
def test_an_unreachable_catalog_is_one_line_and_no_verdict(tmp_path, reported):
    report = tmp_path / "report"
    more = ("--conformance-report", str(report)) if reported else ()
    there = ("--catalog-url", "http://127.0.0.1:9")
    done = run_pytest(tmp_path, "--pyargs", FEW, "-q", *there, *more)
    said = done.stderr + done.stdout
    assert done.returncode == 4
    assert "cannot be reached" in said
    assert "Traceback" not in said
    assert report.exists() == reported == (f"the report is {report / 'index.html'}" in said)
    if reported:
        assert {path.name for path in report.iterdir()} == {*FORMATS, EXCHANGES_FILE}
        run = json.loads((report / "run.json").read_text())
        assert "cannot be reached" in run["verdict"]["headline"]
        assert (run["verdict"]["status"], run["verdict"]["exit_code"]) == ("no-verdict", 4)
        assert (run["complete"], run["config"]["groups"]) == (False, [])
        assert [each["response"]["status"] for each in run["preflight"]] == [None] * 4


def test_a_misuse_leaves_an_earlier_report_as_it_was(tmp_path, mock):
    report = tmp_path / "report"
    report.mkdir()
    (report / "run.json").write_text("earlier")
    given = ("--conformance-report", str(report), "--conformance-run-id", "No Id")
    refused = run_pytest(tmp_path, "--pyargs", FEW, "-q", *target(mock, *given))
    assert refused.returncode == 1
    assert "use 1 to 16 lower-case letters and digits" in refused.stdout
    assert {path.name: path.read_text() for path in report.iterdir()} == {"run.json": "earlier"}


def test_a_job_that_is_cancelled_leaves_a_report(tmp_path, mock):
    """CI systems cancel with SIGTERM."""
    faithful = mock.registries.operations["reportMetrics"]

    def answer(context, state, call):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        return faithful(context, state, call)

    mock.registries.operations["reportMetrics"] = answer
    report = tmp_path / "report"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q"]
    command += ["--pyargs", FEW, *target(mock, "--conformance-report", str(report))]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, said
    run = json.loads((report / "run.json").read_text())
    assert (run["complete"], run["verdict"]["exit_reason"]) == (False, "interrupted")
    assert run["verdict"]["headline"].startswith("interrupted; until then ")
    assert run["safety"]["residue"] == []


@pytest.mark.parametrize("option", [("--catalog-url", "ftp://x"), ("--catalog-header", "no colon")])
def test_a_bad_option_is_a_usage_error(tmp_path, option):
    given = option if option[0] == "--catalog-url" else ("--catalog-url", "http://h", *option)
    done = run_pytest(tmp_path, "--pyargs", FEW, "-q", *given)
    assert done.returncode == 4
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize("workers", WORKERS, ids=["two workers", "one process"])
def test_a_faithful_catalog_passes_and_the_verdict_is_printed(tmp_path, mock, workers):
    done = run_pytest(tmp_path, "--pyargs", FEW, "-q", *target(mock), *workers)
    assert done.returncode == 0, done.stdout
    assert "all " in done.stdout
    assert "checks that ran passed" in done.stdout
    assert TOKEN not in done.stdout


def _wrong_status(context, state, call):
    raise Problem(418, "TeapotException", "not today")


def test_a_failing_check_shows_requirement_expectation_and_curl(tmp_path, mock):
    mock.registries.operations["reportMetrics"] = _wrong_status
    done = run_pytest(tmp_path, "--pyargs", FEW, "-q", *target(mock))
    assert done.returncode == 1
    for part in ("reportMetrics.204", "expected", "204", "418", "curl -sS", "$ICECHECK_TOKEN"):
        assert part in done.stdout
    assert TOKEN not in done.stdout
    assert "Traceback" not in done.stdout


def test_what_only_passive_judgement_sees_is_red_too(tmp_path, mock):
    faithful = mock.registries.operations["createTable"]

    def without_uuid(context, state, call):
        outcome = faithful(context, state, call)
        body = outcome.reply.body.replace(b'"last-column-id"', b'"last-column"')
        reply = type(outcome.reply)(outcome.reply.status, outcome.reply.headers, body)
        return Outcome(outcome.state, reply, outcome.effects)

    mock.registries.operations["createTable"] = without_uuid
    done = run_pytest(tmp_path, "--pyargs", FEW, "-q", *target(mock))
    assert done.returncode == 1, done.stdout
    assert "schema.createTable.200" in done.stdout


@pytest.mark.complete("test_one_runner has a run in which everything is blocked")
def test_checks_that_cannot_be_judged_are_not_green(tmp_path, mock):
    mock.registries.operations["createTable"] = _wrong_status
    done = run_pytest(tmp_path, "--pyargs", FEW, "-q", *target(mock))
    assert done.returncode == 1
    assert "BLOCKED" in done.stdout


@pytest.mark.parametrize("workers", WORKERS, ids=["two workers", "one process"])
def test_the_report_is_the_files_of_the_command_line(tmp_path, mock, workers):
    report = tmp_path / "report"
    report.mkdir()
    (report / "gw9.exchanges.jsonl.zst.partial").write_bytes(b"of a process that was killed")
    done = run_pytest(tmp_path, "--pyargs", FEW, "-q", *workers,
                      *target(mock, "--conformance-report", str(report)))  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert {path.name for path in report.iterdir()} == {*FORMATS, EXCHANGES_FILE}
    run = json.loads((report / "run.json").read_text())
    kept = list(read_exchanges(report / EXCHANGES_FILE))
    assert [artifact["exchanges"] for artifact in run["artifacts"]] == [len(kept)]
    judged = {check["id"] for check in run["checks"] if check["requests"] and not check["passive"]}
    assert judged <= {exchange.check for exchange in kept}
    assert TOKEN not in "".join(map(repr, kept))


def test_what_the_catalog_does_not_claim_is_tried_under_pytest_too(tmp_path, mock):
    report = tmp_path / "report"

    def without_metrics(body):
        return body | {"endpoints": [e for e in body["endpoints"] if not e.endswith("/metrics")]}

    alter_body(mock.registries, "getConfig", without_metrics)
    done = run_pytest(tmp_path, "--pyargs", FEW, "icecheck.conformance.config.test_config", "-q",
                      *target(mock, "--conformance-report", str(report)))  # fmt: skip
    assert done.returncode == 0, done.stdout
    rows = json.loads((report / "run.json").read_text())["capabilities"]
    (row,) = [row for row in rows if row["id"].endswith("/metrics")]
    assert row["assessment"] == "served-but-undeclared"


@pytest.mark.complete("a pytest of its own; the gate is the same code for both runners")
@pytest.mark.parametrize(
    "option", some([(("--conformance-witnessed-only",),), ((),)], 2), ids=["witnessed", "all"]
)
def test_an_unwitnessed_failure_warns_where_only_witnessed_ones_gate(tmp_path, mock, option):
    defects()["register-overwrite-ignored"].install(mock.registries)
    done = run_pytest(tmp_path, "--pyargs", "icecheck.conformance.tables.test_register", "-q",
                      "-k", "overwrite", *target(mock, *option))  # fmt: skip
    assert "registerTable.overwrites" in done.stdout
    assert done.returncode == (0 if option else 1), done.stdout


@pytest.mark.complete("a pytest of its own; the command line leaves it out in the usual command")
def test_what_strains_a_catalog_is_deselected_without_leave(tmp_path, mock):
    scale = ("--pyargs", "icecheck.conformance.commits.test_scale", "-q", *target(mock))
    assert "2 deselected" in run_pytest(tmp_path, *scale).stdout
    allowed = run_pytest(tmp_path, *scale, "--catalog-disruptive", "-k", "mebibytes")
    assert "1 passed" in allowed.stdout


@pytest.mark.complete("test_one_runner finds a release out under pytest")
def test_a_run_may_hold_to_an_older_document_under_pytest_too(tmp_path, mock):
    few = ("--pyargs", "icecheck.conformance.security.test_credentials", "-q", "-rs", *target(mock))
    done = run_pytest(tmp_path, *few, "--conformance-spec", "1.6.0")
    assert "demanded since Iceberg 1." in done.stdout
    refused = run_pytest(tmp_path, *few, "--conformance-spec", "0.9")
    assert refused.returncode == 4
    assert "--conformance-spec 0.9" in refused.stderr + refused.stdout
