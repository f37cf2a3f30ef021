"""The table of Spark's statements against what is there: each stands where the table says.

The table is spark_statements.toml beside this module. Most statements are in scripts, which are
checks of any catalog, or in checks written in Python. What shows its effect only inside the mock
is run below.
"""

import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import icecheck.spark_tests
from icecheck.judging.check import declaration_of
from icecheck.mock_server.mock_warehouse import MockWarehouse
from icecheck.spark_tests.outcomes import Refusal
from icecheck.spark_tests.script import read_scripts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path(icecheck.spark_tests.__file__).parent


def _module_of(path: Path) -> str:
    """Return the name of a module of Spark's checks."""
    return ".".join(["icecheck.spark_tests", *path.relative_to(FOLDER).with_suffix("").parts])


SCRIPTS = {script.path.stem: script for script in read_scripts(FOLDER / "scripts")}
CHECKS = {
    name: function
    for path in sorted(FOLDER.rglob("test_*.py"))
    if path.stem != "test_scripts"
    for name, function in vars(importlib.import_module(_module_of(path))).items()
    if declaration_of(function) is not None
}
"""The checks of the group that are written in Python, by the names of their functions."""

TABLE = tomllib.loads(Path(__file__).with_name("spark_statements.toml").read_text("utf-8"))
HEADINGS: dict[str, list[str]] = TABLE.pop("headings")
BESIDE_THE_DOCS = "beside the docs"
CHANGES = "changes"
"""The one table beside another that Iceberg's library does not count among the metadata tables."""


@dataclass(frozen=True, slots=True)
class Row:
    """A statement of the table: where it is, how it is written, or why it is nowhere."""

    id: str
    written: str
    places: tuple[str, ...]
    reason: str


def rows() -> Iterator[Row]:
    for page, headings in TABLE.items():
        for heading, statements in headings.items():
            for what, row in statements.items():
                assert set(row) <= {"written", "where", "not"}, (page, heading, what)
                assert ("written" in row) == ("where" in row), (page, heading, what)
                yield Row(
                    f"{page}: {heading}: {what}",
                    row.get("written", ""),
                    tuple(row.get("where", "").split()),
                    row.get("not", ""),
                )


ROWS = tuple(rows())


def on_the_mock() -> dict[str, Any]:
    """Return the tests of this module that run a statement on the mock, by their names."""
    return {
        name: found
        for name, found in globals().items()
        if name.startswith("test_") and "mock_catalog" in inspect.signature(found).parameters
    }


def texts(where: str) -> list[str]:
    """The statements of a script that have to succeed, or the source of a check or a test.

    With a check comes the source of each function of its module that it calls.
    """
    if where in SCRIPTS:
        statements = SCRIPTS[where].statements
        return [s.sql for s in statements if not isinstance(s.outcome, Refusal)]
    found = CHECKS.get(where) or on_the_mock().get(where)
    if found is None:
        return []
    called = (found.__globals__.get(name) for name in found.__code__.co_names)
    beside = [each for each in called if getattr(each, "__module__", "") == found.__module__]
    return [inspect.getsource(each) for each in (found, *beside) if inspect.isfunction(each)]


def test_every_statement_stands_where_the_table_says() -> None:
    absent = [
        f"{where} has no {row.id}"
        for row in ROWS
        for where in row.places
        if not any(re.search(row.written, text, re.DOTALL) for text in texts(where))
    ]
    assert absent == []


def test_a_statement_that_no_check_runs_has_a_sentence_that_says_why() -> None:
    for row in ROWS:
        if not any(where in SCRIPTS or where in CHECKS for where in row.places):
            assert row.reason.endswith("."), row.id
            assert len(row.reason.split()) > 5, row.id


def test_every_heading_of_the_docs_with_a_statement_is_in_the_table() -> None:
    assert set(TABLE) == {*HEADINGS, BESIDE_THE_DOCS}
    for page, headings in HEADINGS.items():
        assert [heading for heading in headings if not TABLE[page].get(heading)] == [], page


def test_every_script_and_every_check_is_in_the_table() -> None:
    named = {where for row in ROWS for where in row.places}
    assert sorted({*SCRIPTS, *CHECKS} - named) == []


def test_every_test_of_statements_is_in_the_table() -> None:
    named = {where for row in ROWS for where in row.places}
    assert sorted(set(on_the_mock()) - named) == []


@pytest.mark.spark
def test_spark_has_no_procedure_and_no_metadata_table_that_is_not_here(
    iceberg_spark: "SparkSession",
) -> None:
    iceberg = iceberg_spark.sparkContext._jvm.org.apache.iceberg
    tables = {str(each).lower() for each in iceberg.MetadataTableType.values()}
    queried = re.compile(r".*: table (\w+)")
    assert {found[1] for row in ROWS if (found := queried.fullmatch(row.id))} == {*tables, CHANGES}
    procedures = set(iceberg.spark.procedures.SparkProcedures.names())
    assert procedures <= set(TABLE["spark-procedures.md"])
    assert {name for name in HEADINGS["spark-procedures.md"] if "_" in name} <= procedures


# What shows its effect only inside the mock


@pytest.mark.spark
def test_a_table_is_copied_elsewhere(
    iceberg_spark: "SparkSession", mock_catalog: MockWarehouse, tmp_path: Path
) -> None:
    def sql(statement: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in iceberg_spark.sql(statement).collect()]

    old, new = f"file:{tmp_path}/old", f"file:{tmp_path}/new"
    sql("CREATE NAMESPACE db")
    sql(f"CREATE TABLE db.old (id BIGINT) USING iceberg LOCATION '{old}'")
    sql("INSERT INTO db.old VALUES (1), (2), (3)")
    staged = f"staging_location => '{old}/metadata/staged'"
    prefixes = f"source_prefix => '{old}', target_prefix => '{new}'"
    ((latest, *_),) = sql(
        f"CALL mock.system.rewrite_table_path(table => 'db.old', {prefixes}, {staged})"
    )
    for line in iceberg_spark.read.csv(f"{old}/metadata/staged/file-list").collect():
        source, target = (Path(each.removeprefix("file:")) for each in line)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    sql(f"CALL mock.system.register_table('db.new', '{new}/metadata/{latest}')")
    sql("DROP TABLE db.old PURGE")
    entry = mock_catalog.state().table(("db",), "new")
    assert entry is not None
    assert entry.metadata.location == new
    assert sql("SELECT id FROM db.new ORDER BY id") == [(1,), (2,), (3,)]
