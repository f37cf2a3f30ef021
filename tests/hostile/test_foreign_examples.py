"""The example projects in Java, Go and JavaScript pass their own tests with the real clients."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PROJECTS = {
    "java": (
        {"mvn": "maven", "javac": "openjdk-17-jdk"},
        ["mvn -B -Dstyle.color=never test"],
        r"Tests run: 2, Failures: 0, Errors: 0, Skipped: 0",
    ),
    "go": (
        {"go": "golang"},
        ["go test -mod=mod -count=1 -v ./..."],
        r"--- PASS: TestACommitWhoseAnswerIsLostIsMadeOnce",
    ),
    "javascript": (
        {"npm": "npm", "node": "nodejs"},
        ["npm install --silent --no-audit", "npm test"],
        r"(?s)pass 1\b.*fail 0\b.*skipped 0\b",
    ),
}
PYTHON = {"downstream"}  # tests/pipeline follows it
BUILD_SECONDS_MAX = 1_800


@pytest.mark.hostile
@pytest.mark.parametrize("project", PROJECTS)
def test_a_project_tests_itself(project: str, tmp_path: Path) -> None:
    tools, commands, says = PROJECTS[project]
    for tool, package in tools.items():
        assert shutil.which(tool), f"no {tool} on this machine: apt-get install {package}"
    copy = shutil.copytree(EXAMPLES / project, tmp_path / project)
    for command in commands:
        done = run(command, copy)
        assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(says, done.stdout), done.stdout


def test_every_folder_of_the_examples_is_run() -> None:
    folders = {each.name for each in EXAMPLES.iterdir() if each.is_dir()}
    assert folders - {"__pycache__"} == {*PROJECTS, *PYTHON}


def run(command: str, where: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of a developer, whose PATH has the icecheck of this environment first."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return subprocess.run(
        command.split(),
        cwd=where,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS_MAX,
        check=False,
    )
