"""Rules that no linter knows: sizes, names, one sentence per module; and the linters themselves."""

import ast
import os
import platform
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
FORBIDDEN = {"utils", "helpers", "common", "base", "manager", "handler", "misc"}


def modules():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted({ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()})


MODULES = modules()
PRODUCT = [m for m in MODULES if m.relative_to(ROOT).parts[0] not in {"tests", "benchmarks"}]


def relative(path):
    return str(path.relative_to(ROOT))


def test_no_module_is_longer_than_400_lines():
    long = {relative(m): n for m in MODULES if (n := len(m.read_text().splitlines())) > 400}
    assert long == {}


class Parsed(NamedTuple):
    """What the rules ask of a module: the trees of all of them would take a gigabyte."""

    docstring: str
    functions: dict[str, int]
    classes: dict[str, set[str]]
    catches_everything: bool


@cache
def parsed(module):
    tree = ast.parse(module.read_text())
    functions, classes, broad = {}, {}, False
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                functions[node.name] = max(lines, functions.get(node.name, 0))
            case ast.ClassDef():
                bases = {getattr(b, "id", getattr(b, "attr", "")) for b in node.bases}
                classes[node.name] = classes.get(node.name, set()) | bases
            case ast.ExceptHandler():
                named = ast.walk(node.type) if node.type else ()
                caught = {n.id for n in named if isinstance(n, ast.Name)}
                broad |= node.type is None or bool(caught & {"Exception", "BaseException"})
    return Parsed(ast.get_docstring(tree) or "", functions, classes, broad)


def test_no_function_is_longer_than_70_lines():
    long = {
        f"{relative(module)}:{name}": lines
        for module in MODULES
        for name, lines in parsed(module).functions.items()
        if lines > 70
    }
    assert long == {}


def test_no_module_has_a_name_that_says_nothing():
    assert [relative(m) for m in MODULES if m.stem in FORBIDDEN] == []


def test_every_module_starts_with_a_sentence():
    silent = [relative(m) for m in PRODUCT if len(parsed(m).docstring.split("\n")[0]) < 10]
    assert silent == []


def test_broad_excepts_stand_in_eight_places_only():
    """Where a check ends, where the mock and its object store answer, where the mock tells of it,
    where its HTTP server takes an answer, with ASGI and without, and where a client's errors have
    no base.
    """
    broad = {relative(module) for module in MODULES if parsed(module).catches_everything}
    assert broad <= {
        "src/icecheck/judging/judge.py",
        "src/icecheck/witnesses/pyiceberg_client.py",
        "mock_server/serving/app.py",
        "mock_server/http/asgi.py",
        "mock_server/http/httptools_protocol.py",
        "mock_server/admin/door.py",
        "mock_server/core/journal.py",
        "mock_server/objects/guard.py",
    }


def test_nothing_is_marked_unfinished_and_nothing_names_a_machine():
    marks = re.compile(
        r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b|(^|[\s\"'=(])/(work|root|opt)/", re.MULTILINE
    )
    found = [
        f"{relative(module)}:{number}: {match[0]}"
        for module in MODULES
        if marks.search(text := module.read_text())
        for number, line in enumerate(text.splitlines(), 1)
        for match in marks.finditer(line)
    ]
    remedy = "finish what is marked, and name no path of a machine (nor a word that reads as one)"
    assert not found, "\n".join([f"{remedy}:", *found])


def test_no_module_of_ours_inherits_from_another():
    ours = {name for module in PRODUCT for name in parsed(module).classes}
    # An exception may refine another: callers catch the family.
    families = ("Error", "Unusable", "Unreachable", "Problem", "UnknownRef")
    inherited = [
        f"{relative(module)}:{name}"
        for module in PRODUCT
        for name, bases in parsed(module).classes.items()
        if [b for b in bases & ours - {"Exception", "Protocol"} if not b.endswith(families)]
    ]
    assert inherited == []


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("lint-imports",),
        ("mypy",),
        ("hadolint", "Dockerfile"),
    ],
    ids=" ".join,
)
def test_the_linters_agree(command):
    tool = Path(sys.executable).with_name(command[0])
    if command[0] == "hadolint" and (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("hadolint is in the extra dev for Linux on x86-64 only")
    done = subprocess.run(
        [str(tool), *command[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
