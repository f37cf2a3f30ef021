"""docs/examples/downstream, copied elsewhere and followed as its README says."""

import os
import re
import shutil
import subprocess

import pytest
import yaml

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from tests.pipeline.action import PROGRAMS, ROOT, action

PROJECT = ROOT / "docs" / "examples" / "downstream"
COMMANDS = re.findall(
    r"^```sh\n(.*?)```$", (PROJECT / "README.md").read_text(), re.DOTALL | re.MULTILINE
)
URL = "http://127.0.0.1:8181"
NARROWER = "--check 'dropNamespace.*'"


@pytest.fixture
def project(tmp_path):
    """The project in a directory of its own, without anything of ours around it."""
    return shutil.copytree(PROJECT, tmp_path / "orders")


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(NARROWER, id="one-family"),
        pytest.param(
            "", id="everything", marks=pytest.mark.complete("whole runs, three of them on the mock")
        ),
    ],
)
def test_each_command_of_the_readme_ends_as_it_says(project, more):
    lines = [line for line in COMMANDS[1].splitlines() if line]
    followed = 0
    while lines:
        serve, *run = [lines.pop(0), *_until_another_catalog(lines)]
        with MockCatalog() as mock:
            if defect := re.search(r"--defect (\S+)", serve):
                defects()[defect[1]].install(mock.registries)
            (project / "icecheck.toml").write_text(_with_url("icecheck.toml", mock.uri))
            for line in run:
                command, _, says = line.partition("#")
                command = f"{command.strip().replace(URL, mock.uri)} "
                command += more if command.startswith("icecheck run") else ""
                done = _typed(command, project)
                expected, _, words = says.strip().removeprefix("exit ").partition(":")
                assert done.returncode == int(expected), (line, done.stdout, done.stderr)
                assert "fails" not in words or words.split()[0] in done.stdout
                followed += 1
    assert followed == 4


def _until_another_catalog(lines):
    taken = []
    while lines and not lines[0].startswith("icecheck serve"):
        taken.append(lines.pop(0))
    return taken


def _with_url(name, url):
    text = (PROJECT / name).read_text()
    assert URL in text
    return text.replace(URL, url)


def _typed(command, directory):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CATALOG_")}
    kept |= {"PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-c", command],
        cwd=directory,
        env=kept,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_known_failure_has_an_issue_and_a_day_on_which_it_ends():
    text = (PROJECT / "known-failures.toml").read_text()
    assert re.search(r'^issue = "https://\S+"$', text, re.MULTILINE)
    assert re.search(r"^expires = 20\d\d-\d\d-\d\d$", text, re.MULTILINE)


def test_its_workflow_gives_the_action_inputs_that_it_has():
    text = (PROJECT / ".github" / "workflows" / "catalog.yml").read_text()
    (step,) = [
        step
        for step in yaml.safe_load(text)["jobs"]["catalog"]["steps"]
        if step.get("uses") == "./icecheck"
    ]
    assert set(step["with"]) <= set(action()["inputs"])
    assert (PROJECT / step["with"]["expectations"]).is_file()
