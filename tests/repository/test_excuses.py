"""Each place that ends a check as skipped, and each capability, stands in the list of excuses."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from icecheck.judging.probes import CAPABILITIES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "decisions" / "excuses.md"
FOLDERS = (
    "conformance", "scenarios", "spark_tests", "src/icecheck/client", "src/icecheck/objects",
    "src/icecheck/judging", "src/icecheck/replies", "src/icecheck/run", "src/icecheck/witnesses",
)  # fmt: skip
EXCUSES = {"NotOffered", "not_applicable", "Skip"}


def excuses_in(path: Path) -> Iterator[str]:
    """Yield the functions and classes of a module that make an excuse, as `path::function`."""
    for function in ast.parse(path.read_text()).body:
        if not isinstance(function, ast.FunctionDef | ast.ClassDef):
            continue
        made = {
            node.func.id
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        if made & EXCUSES:
            yield f"{path.relative_to(ROOT)}::{function.name}"


def test_every_excuse_is_listed_with_its_reason_and_nothing_else_is() -> None:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = [excuse for path in paths for excuse in excuses_in(path)]
    listed = re.findall(r"`([\w/]+\.py::\w+)`", PAGE.read_text())
    assert len(found) > 100
    assert sorted(listed) == sorted(found)


def test_every_capability_is_listed_with_its_reason_and_nothing_else_is() -> None:
    listed = re.findall(r"^\| `([\w-]+)` \|", PAGE.read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(CAPABILITIES)
