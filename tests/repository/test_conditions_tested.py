"""Each condition in the register stands in a list with what tests it, and its checks reach that."""

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from icecheck.findings.verdict import Group
from icecheck.judging.check import Check
from icecheck.judging.probes import CAPABILITIES
from icecheck.run.collect import collect
from tests.kit.contracts import CONTRACT

PAGE = Path(__file__).parents[2] / "docs" / "decisions" / "verdicts.md"
# The judge excuses what the document lists, and arrange steps end checks, of every module.
EVERYWHERE = ("icecheck.judging.judge", "icecheck.client.given")


def what_tests() -> dict[str, list[str]]:
    """Return condition -> capabilities and functions that test it, as the list names them."""
    _, _, table = PAGE.read_text().partition("| condition: the catalog … | rows | tested by |")
    rows = re.findall(r"^\| (.+) \| \d+ \| (.+) \|$", table, re.MULTILINE)
    return {condition: re.findall(r"`([\w-]+)`", named) for condition, named in rows}


def conditions_in(text: str | None) -> list[str]:
    return [each.removeprefix("the catalog ") for each in text.split(", and ")] if text else []


@cache
def source_of(module: str) -> str:
    return Path(str(importlib.import_module(module).__file__)).read_text()


@cache
def reached_from(module: str) -> str:
    """Return the sources of a module of checks, of what it imports, and of what judges it."""
    imported = (
        node.module
        for node in ast.walk(ast.parse(source_of(module)))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("icecheck.")
    )
    return "\n".join(map(source_of, (module, *EVERYWHERE, *map(str, imported))))


def conditional() -> Iterator[tuple[Check, str]]:
    for check in collect(tuple(Group), CONTRACT):
        for requirement in check.requirements:
            for condition in conditions_in(requirement.condition):
                yield check, condition


def test_every_condition_is_listed_with_what_tests_it_and_nothing_else_is() -> None:
    found = {c for row in CONTRACT.requirements.values() for c in conditions_in(row.condition)}
    assert {*what_tests()} == found
    assert len(found) > 50


def test_every_check_of_a_conditional_row_reaches_what_tests_the_condition() -> None:
    listed = what_tests()
    astray = [
        f"{check.id}: {condition}"
        for check, condition in conditional()
        if {*check.needs}.isdisjoint(listed[condition])
        and not any(
            re.search(rf"\b{name}\b", reached_from(check.function.__module__))
            for name in listed[condition]
            if name not in CAPABILITIES
        )
    ]
    assert astray == []
