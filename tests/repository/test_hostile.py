"""What is hostile is left out of the usual test command loudly, and in when it is asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = "tests/docs/test_snippets_with_extras.py"


def collected(*arguments):
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-q", "--collect-only"]
    environment = {"PATH": str(Path(sys.executable).parent), "ICECHECK_HOSTILE": ""}
    return subprocess.run(
        [*command, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    ).stdout


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_the_summary_says_how_many_hostile_tests_were_not_run(workers):
    command = [sys.executable, "-m", "pytest", "-q", FILE, *workers]
    environment = {"PATH": str(Path(sys.executable).parent), "ICECHECK_HOSTILE": ""}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert "hostile tests were not run: tox -e hostile" in done.stdout


def test_hostile_tests_are_collected_when_they_are_asked_for():
    assert "test_signing_needs_nothing" not in collected(FILE)
    assert "test_signing_needs_nothing" in collected("-m", "hostile", FILE)
