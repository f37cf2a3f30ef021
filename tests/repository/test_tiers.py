"""Slow tiers are left out of the usual test command loudly, and run when they are asked for."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    "PATH": str(Path(sys.executable).parent),
    "ICECHECK_HOSTILE": "",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_PLUGINS": "icecheck.pytest.plugin,xdist.plugin",
}
FILE = "tests/docs/test_snippets_with_extras.py"


def collected(*arguments):
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only"]
    return subprocess.run(
        [*command, *arguments],
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_the_summary_says_how_many_hostile_tests_were_not_run(workers):
    command = [sys.executable, "-m", "pytest", "-q", FILE, *workers]
    done = subprocess.run(
        command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert "hostile tests were not run: tox -e hostile" in done.stdout


@pytest.mark.complete("collects in a pytest of its own, as the summary of the others does")
def test_hostile_tests_are_collected_when_they_are_asked_for():
    assert "test_signing_needs_nothing" not in collected(FILE)
    assert "test_signing_needs_nothing" in collected("-m", "hostile", FILE)


def is_mark(node):
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.complete"


def test_every_test_of_the_complete_tier_says_why_it_is_there():
    without = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        reasoned = {
            id(node.func)
            for node in nodes
            if isinstance(node, ast.Call)
            and len(node.args) == 1
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
            and len(node.args[0].value) > len("because")
        }
        without += [
            f"{path.relative_to(ROOT)}:{node.lineno}"
            for node in nodes
            if is_mark(node) and id(node) not in reasoned
        ]
    assert without == []
