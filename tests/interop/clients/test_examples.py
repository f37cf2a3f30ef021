"""The examples of docs/examples run, and say what they are there to show."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
LOST = """\
answer-lost: fired 1, attempts 1, rows 1
connection-dropped: fired 1, attempts 2, rows 1
"""
OWN_JVM = pytest.mark.complete("starts a JVM of its own; another test loses answers in the shared")
TOLD = {
    "lost_answer_pyiceberg.py": LOST,
    "lost_answer_spark.py": LOST,
    "throttled_pyiceberg.py": "read 30 rows in 10 loads, 4 refused\n",
    "race_by_gate.py": "first conflict, second committed, rows [2]\n",
    "expired_token.py": "after two hours the token is refused; with a new one: [('db',)]\n",
    "snapshots.sh": """\
after going back: {"namespaces":[["db"]],"next-page-token":null}
throttled: 429
asked: 2 times
""",
}
TESTS = "test_with_a_catalog.py"


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(each, marks=[pytest.mark.spark, OWN_JVM] if "spark" in each else [])
        for each in TOLD
    ],
)
def test_an_example_says_what_it_shows(example: str, tmp_path: Path) -> None:
    done = run([interpreter(example), str(EXAMPLES / example)], tmp_path)
    assert done.stdout == TOLD[example], done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("workers", [(), ("-n", "4")], ids=["one", "four"])
def test_the_tests_among_them_pass_also_side_by_side(tmp_path: Path, workers: list[str]) -> None:
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, str(EXAMPLES / TESTS)]
    done = run([sys.executable, *words], tmp_path)
    assert done.returncode == 0, done.stdout
    assert "10 passed" in done.stdout


def test_every_example_is_run() -> None:
    files = {each.name for each in EXAMPLES.iterdir() if each.is_file()}
    assert files == {*TOLD, TESTS}


def interpreter(example: str) -> str:
    return "sh" if example.endswith(".sh") else sys.executable


def run(command: list[str], where: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with the programs of this environment first."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return subprocess.run(
        command,
        cwd=where,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
