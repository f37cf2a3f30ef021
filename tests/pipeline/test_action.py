"""The action's own steps, run as they are: on the mock, on nothing, and with hostile inputs."""

import json
import sys
from pathlib import Path

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.targets.options import TARGET_OPTIONS
from tests.pipeline.action import run_action

DEFECT = "namespace-drop-cascades"
FEW = "--only checks\n--check=dropNamespace.*"
UPLOAD = "actions/upload-artifact@v4"


@pytest.fixture
def workspace(tmp_path):
    path = tmp_path / "workspace"
    path.mkdir()
    return path


def job_on_the_mock(workspace, *defects_of_it):
    inputs = {"warehouse": "wh", "options": FEW, "baseline": "icecheck-report"}
    with MockCatalog(warehouses=["wh"]) as mock:
        for name in defects_of_it:
            defects()[name].install(mock.registries)
        return run_action(workspace, {"catalog-url": mock.uri} | inputs)


@pytest.mark.complete("two whole runs in a shell; test_downstream runs the commands")
def test_a_catalog_that_passes_passes_the_job_and_one_that_fails_fails_it_last(workspace):
    done = job_on_the_mock(workspace)
    assert done.code == 0, done.log
    report = str(workspace / "icecheck-report")
    assert done.outputs == {
        "verdict": "partial",
        "exit-code": "0",
        "exit-reason": "gate-satisfied",
        "report-path": report,
        "regressions": "",
    }
    assert done.summary.startswith("## PARTIAL: ")
    assert [name for name, _ in done.commands] == ["notice", "notice"], done.log
    assert "there is no baseline yet" in done.commands[1][1]
    assert done.used[UPLOAD]["path"] == report

    # The baseline lies where the new report is written.
    done = job_on_the_mock(workspace, DEFECT)
    assert done.code == 1, done.log
    assert done.outputs == {
        "verdict": "not-conformant",
        "exit-code": "1",
        "exit-reason": "unexpected-failure",
        "report-path": report,
        "regressions": "1",
    }
    assert [name for name, _ in done.commands] == ["error", "notice"]
    assert done.summary.startswith("## NOT CONFORMANT")
    assert "## REGRESSION: 1 check lost" in done.summary
    # What was kept was kept before the job failed.
    kept = json.loads((Path(done.used[UPLOAD]["path"]) / "run.json").read_text())
    assert kept["verdict"]["exit_code"] == 1


@pytest.mark.complete("a whole run in a shell; the exit codes of the command are usual")
def test_a_target_that_cannot_be_used_is_exit_4_and_one_annotation(workspace):
    stale = workspace / "icecheck-report" / "run.json"
    stale.parent.mkdir()
    stale.write_text("{}")
    done = run_action(workspace, {"catalog-url": "http://127.0.0.1:1"})
    assert done.code == 4, done.log
    assert done.outputs["verdict"] == "no-verdict"
    assert (done.outputs["exit-code"], done.outputs["exit-reason"]) == ("4", "target-unusable")
    (error,) = [message for name, message in done.commands if name == "error"]
    assert "cannot be reached" in error
    assert "cannot be reached" in done.summary


HOSTILE = "a'b\"c $(touch pwned) `touch pwned` ;touch pwned; && ${HOME} %0A::error::x é"
COMMANDS = "x\n::set-output name=verdict::conformant\nverdict=conformant\n::error::y"


@pytest.mark.complete("whole runs in a shell; each input is refused or quoted in the usual command")
def test_hostile_inputs_stay_values(workspace):
    token = f"secret-{HOSTILE}".encode("ascii", "ignore").decode().strip()
    inputs = {
        "warehouse": COMMANDS,
        "token": token,
        "options": f"{FEW}\n--implementation   {HOSTILE}  \r\n\n--run-id=hostile1",
        "output": HOSTILE,
        "baseline": f"-r {COMMANDS}",
    }
    with MockCatalog() as mock:
        done = run_action(workspace, {"catalog-url": mock.uri} | inputs)
    assert done.code == 0, done.log
    assert not list(workspace.parent.rglob("pwned"))
    assert {name for name, _ in done.commands} == {"notice"}
    report = workspace / HOSTILE
    assert done.outputs["report-path"] == str(report)
    assert set(done.outputs) == set(done.steps["verify"])
    assert done.outputs["verdict"] == "partial"
    assert "secret-" not in done.log + done.summary + json.dumps(done.outputs)
    run = json.loads((report / "run.json").read_text())
    assert run["target"]["implementation"]["project"] == HOSTILE
    assert run["run_id"] == "hostile1"


# Cheaper with a program in the place of icecheck, which writes down how it was called.

PROGRAM = """\
#!/usr/bin/env bash
printf '%s\\0' "$@" >>"$CALLS/arguments"
env -0 >"$CALLS/environment"
echo '::set-output name=verdict::conformant'
echo '##[error]no'
echo '::error::no'
printf '%s' '::add-mask::e'
exit "$CODE"
"""


@pytest.fixture
def stand_in(tmp_path, workspace):
    """Run the action with a program in the place of icecheck: ``stand_in(inputs, code)``."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "icecheck").write_text(PROGRAM)
    (programs / "icecheck").chmod(0o755)
    (programs / "python").symlink_to(sys.executable)

    def run(inputs, code=0, **environment):
        environment |= {"CALLS": str(tmp_path), "CODE": str(code)}
        done = run_action(workspace, inputs, programs=programs, environment=environment.items())
        called = (tmp_path / "arguments").exists()
        arguments = (tmp_path / "arguments").read_text().split("\0")[:-1] if called else None
        environment = (tmp_path / "environment").read_text().split("\0") if called else []
        return done, arguments, environment

    return run


@pytest.mark.parametrize("code", [0, 3])
def test_no_report_is_no_success_and_its_log_is_no_command(stand_in, code):
    done, _, _ = stand_in({}, code)
    assert done.code == 3
    assert done.commands == [("error", "::add-mask::e")]
    assert done.outputs["exit-reason"] == "suite-error"


def test_options_are_lines_and_no_shell_reads_them(stand_in):
    options = "  --only checks \n\n--check=a b*\n--quiet\r\n--implementation $(id) \"x\"  'y'\n-n 2"
    inputs = {"options": options, "expectations": "known failures.toml", "output": "/dev/an out"}
    _, arguments, _ = stand_in(inputs)
    assert arguments == [
        "run",
        *("--only", "checks"),
        "--check=a b*",
        "--quiet",
        *("--implementation", "$(id) \"x\"  'y'"),
        *("-n", "2"),
        "--expectations=known failures.toml",
        "--output=/dev/an out",
    ]


def test_secrets_go_through_the_environment_only(stand_in):
    inputs = {"token": "t0p", "credential": "id:s3cret", "catalog-url": "http://c", "warehouse": ""}
    done, arguments, environment = stand_in(inputs, CATALOG_WAREHOUSE="of the job")
    assert {"CATALOG_TOKEN=t0p", "CATALOG_CREDENTIAL=id:s3cret"} <= set(environment)
    # What is not given leaves what the job says.
    assert {"CATALOG_URI=http://c", "CATALOG_WAREHOUSE=of the job"} <= set(environment)
    said = " ".join(arguments) + done.log + done.summary + json.dumps(done.outputs)
    assert "t0p" not in said
    assert "s3cret" not in said


@pytest.mark.parametrize("secret", [o.name for o in TARGET_OPTIONS if o.secret])
@pytest.mark.parametrize("between", ["=", " "])
def test_a_secret_among_the_options_is_refused_and_not_shown(stand_in, secret, between):
    done, arguments, _ = stand_in({"options": f"--{secret}{between}t0p"})
    assert (done.code, arguments) == (2, None)
    ((name, message),) = done.commands
    assert (name, "must not hold a secret" in message) == ("error", True)
    assert "t0p" not in done.log + done.summary


@pytest.mark.parametrize("option", ["--output=x", "--expectations x"])
def test_an_option_that_is_an_input_is_refused(stand_in, option):
    done, arguments, _ = stand_in({"options": option})
    assert (done.code, done.outputs["exit-reason"], arguments) == (2, "usage", None)


@pytest.mark.parametrize(("fail_on", "code"), [("never", 0), ("gate", 4), ("$(exit 0)", 2)])
def test_fail_on_decides_how_the_job_ends(stand_in, fail_on, code):
    done, _, _ = stand_in({"fail-on": fail_on}, 4)
    assert (done.code, done.outputs["exit-code"]) == (code, "4")
