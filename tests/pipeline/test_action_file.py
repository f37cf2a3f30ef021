"""action.yml is one that GitHub takes, and hands nothing to a shell but through the environment."""

import re
import subprocess
import sys

import click
import pytest
import yaml

from icecheck.cli import main
from tests.pipeline.action import ROOT, action

STEPS = action()["runs"]["steps"]
SCRIPTS = sorted((ROOT / "action").glob("*.sh"))
WORKFLOW = "docs/examples/downstream/.github/workflows/catalog.yml"


@pytest.mark.parametrize(
    ("schema", "path"),
    [("vendor.github-actions", "action.yml"), ("vendor.github-workflows", WORKFLOW)],
)
def test_the_file_keeps_to_the_published_schema(schema, path):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_script_holds_an_expression():
    assert [step["run"] for step in STEPS if "${{" in step.get("run", "")] == []
    assert [s.name for s in SCRIPTS if "${{" in s.read_text(encoding="utf-8")] == []


def test_every_input_is_used_and_every_value_comes_from_an_input_or_a_step():
    used = set(re.findall(r"inputs\.([a-z-]+)", yaml.safe_dump(STEPS)))
    assert used == set(action()["inputs"])
    given = [output["value"] for output in action()["outputs"].values()]
    assert [
        v for v in given if not re.fullmatch(r"\$\{\{ steps\.verify\.outputs\.\S+ \}\}", v)
    ] == []


def test_actions_of_others_are_pinned_to_a_major_version():
    uses = [step["uses"] for step in STEPS if "uses" in step]
    assert uses
    assert [each for each in uses if not re.fullmatch(r"actions/[a-z-]+@v\d+", each)] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_stops_at_the_first_error(script):
    lines = script.read_text(encoding="utf-8").splitlines()
    assert (lines[0], "set -euo pipefail" in lines) == ("#!/usr/bin/env bash", True)
    assert not re.search(r"\beval\b|::set-output|::save-state", "\n".join(lines))


def test_every_script_is_run_by_a_step():
    run = {f"action/{script.name}" for script in SCRIPTS}
    named = {name for step in STEPS for name in re.findall(r"action/\w+\.sh", step.get("run", ""))}
    assert named == run


def test_what_the_documents_give_to_the_action_exists():
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"```yaml\n(- uses: OWNER.*?)```", text, re.DOTALL)
    (step,) = yaml.safe_load(snippet)
    assert set(step["with"]) <= set(action()["inputs"])
    known = main.get_command(click.Context(main), "run").params
    names = {name for parameter in known for name in (*parameter.opts, *parameter.secondary_opts)}
    for line in step["with"]["options"].splitlines():
        assert line.partition(" ")[0] in names
