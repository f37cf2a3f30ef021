"""The documents followed by readers who have installed what they name, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.running import open_reader, run
from tests.docs.snippets import ROOT
from tests.docs.test_snippets import RUN

pytestmark = pytest.mark.hostile

EXAMPLES = (
    ("lost_answer_pyiceberg.py", "suite", ("pyarrow",)),
    ("lost_answer_spark.py", "spark", ()),
)


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    """Return the programs of an environment with one extra, made on first use from a wheel."""
    made = {}
    kept = os.environ.get("ICECHECK_HOSTILE_ENVIRONMENTS")
    root = Path(kept) if kept else tmp_path_factory.mktemp("environments")

    def make(extra, *beside):
        name = "-".join([extra or "core", *beside])
        if name not in made:
            programs = root / name / "bin"
            if not programs.exists():
                _installed(root / name, extra, beside)
            made[name] = programs
        return made[name]

    return make


def _installed(directory, extra, beside):
    subprocess.run([sys.executable, "-m", "venv", directory], check=True)
    wanted = f"{ROOT}[{extra}]" if extra else str(ROOT)
    command = [directory / "bin" / "pip", "install", "-q", wanted, *beside]
    subprocess.run(command, check=True, timeout=1800)


@pytest.mark.parametrize(("snippet", "rule"), RUN, ids=lambda value: str(value)[:60])
def test_a_snippet_needs_nothing_but_the_extra_that_it_names(snippet, rule, tmp_path, environment):
    run(snippet, rule, tmp_path, environment(rule.extra, *rule.beside))


def test_signing_needs_nothing_but_its_extra(tmp_path, environment):
    keys = "AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b"
    line = f"{keys} icecheck doctor {{url}} --sigv4 eu-west-1/execute-api"
    with open_reader(tmp_path, environment("sigv4")) as who:
        done = who.types(line.format(url=who.mock.uri))
        assert done.returncode == 0, done.stdout + done.stderr
    with open_reader(tmp_path, environment("")) as who:
        done = who.types(line.format(url=who.mock.uri))
        assert done.returncode == 2
        assert f"pip install '{ROOT}[sigv4]'" in done.stderr


@pytest.mark.parametrize(("program", "extra", "beside"), EXAMPLES)
def test_an_example_runs_with_what_it_says_that_it_needs(
    program, extra, beside, tmp_path, environment
):
    with open_reader(tmp_path, environment(extra, *beside)) as who:
        done = who.types(f"python {ROOT / 'docs' / 'examples' / program}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("rows 1") == 2
