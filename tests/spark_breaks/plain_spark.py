"""Runs the scripts' statements in Spark alone, and says in which of them catalogs differ."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.spark import SparkWorkbench
from icecheck.spark_tests.engines import unmet_bound
from icecheck.spark_tests.outcomes import MayRefuse, Rows, Save
from icecheck.spark_tests.script import Script, Statement
from icecheck.witnesses.spark_statements import fetch_rows

_CATALOG = "plain"
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a user sees of one statement: the class of its error, or its rows and how often each."""

    error: str
    rows: Counter[tuple[str | None, ...]]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a statement shows wherever the catalog is faithful.

    ``rows`` come each time: identifiers, places and times differ from run to run. ``count`` is how
    many there are in all; None where that differs too.
    """

    error: str
    rows: Counter[tuple[str | None, ...]]
    count: int | None

    def shown_in(self, shown: Shown) -> bool:
        """Return whether a statement that showed this is the same to its user."""
        if self.error != shown.error or self.count not in (None, shown.rows.total()):
            return False
        return not self.rows - shown.rows


Course = Mapping[str, Sequence[Shown]]
"""Check id -> what each statement of its script showed."""


def course_on(workbench: SparkWorkbench, scripts: Sequence[Script], defect: str = "") -> Course:
    """Run the scripts on a new mock, faithful or with one defect, each in its own namespace."""
    with MockCatalog() as mock:
        if defect:
            defects()[defect].install(mock.registries)
        return course_at(workbench, scripts, mock.uri)


def course_at(workbench: SparkWorkbench, scripts: Sequence[Script], uri: str) -> Course:
    """Run the scripts on the catalog at an address, each in its own namespace."""
    properties = {"type": "rest", "uri": uri, "warehouse": "wh", "cache-enabled": "false"}
    session = workbench.catalog_session(_CATALOG, properties)
    return {
        script.check: _shown(session, script, f"ns{number}")
        for number, script in enumerate(scripts)
        if unmet_bound(session, script.engine) is None
    }


def expected_of(
    scripts: Sequence[Script], first: Course, second: Course
) -> Mapping[str, Sequence[Expected]]:
    """Return what two courses on faithful catalogs have in common.

    Statements of which a script expects nothing may show other things on another lawful catalog,
    such as how many files were rewritten: of these only the error counts, and of a statement of
    which it expects some rows only those.
    """
    return {
        script.check: [
            _common(*each)
            for each in zip(
                script.statements, first[script.check], second[script.check], strict=True
            )
        ]
        for script in scripts
        if script.check in first
    }


def broken_in(course: Course, expected: Mapping[str, Sequence[Expected]]) -> Mapping[str, int]:
    """Return check id -> number, from 0, of the first statement that differs for its user."""
    broken = {}
    for check, shown in course.items():
        pairs = enumerate(zip(expected[check], shown, strict=True))
        first = next((at for at, (wanted, seen) in pairs if not wanted.shown_in(seen)), None)
        if first is not None:
            broken[check] = first
    return broken


def _common(statement: Statement, first: Shown, second: Shown) -> Expected:
    assert first.error == second.error, (first, second)
    rows, count = first.rows & second.rows, first.rows.total()
    match statement.outcome:
        case None | MayRefuse():
            return Expected(first.error, Counter(), None)
        case Rows(rows=listed, partial=True):
            return Expected(first.error, rows & Counter(listed), None)
    return Expected(first.error, rows, count if count == second.rows.total() else None)


def _shown(session: Any, script: Script, namespace: str) -> list[Shown]:
    names = {
        "catalog": _CATALOG,
        "parent": _CATALOG,
        "namespace": namespace,
        "namespace2": f"{namespace}_b",
    }
    within = f"{_CATALOG}.{namespace}"
    for bare, whole in (("name", "table"), ("view_name", "view")):
        for suffix in ("", "2"):
            names[f"{bare}{suffix}"] = f"{whole}{suffix}"
            names[f"{whole}{suffix}"] = f"{within}.{whole}{suffix}"
    _run(session, f"CREATE NAMESPACE {within}")
    shown = []
    for statement in script.statements:
        sql = _PLACEHOLDER.sub(lambda found: names.get(found[1], found[0]), statement.sql)
        seen, cells = _run(session, sql)
        shown.append(seen)
        if isinstance(statement.outcome, Save):
            names.update(zip(statement.outcome.names, cells, strict=False))
    return shown


def _run(session: Any, sql: str) -> tuple[Shown, Sequence[str]]:
    """Return what a statement shows, and the cells of its first row."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        rows = fetch_rows(session.sql(sql))
    except PySparkException as error:
        return Shown(type(error).__name__, Counter()), ()
    except Py4JJavaError as error:
        return Shown(error.java_exception.getClass().getName(), Counter()), ()
    return Shown("", Counter(rows)), [cell or "" for cell in rows[0]] if rows else []
