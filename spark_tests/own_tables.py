"""Tables that a Spark check makes under its own names, and their rows compared with those due."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.findings.symptoms import Severity, declare
from icecheck.replies.expect import Violation
from icecheck.targets.target import Namespace
from icecheck.witnesses.spark_statements import (
    Row,
    SparkSource,
    fetch_rows,
    qualified,
    spark_session,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SPARK_ROWS = declare(
    "spark-rows",
    "A statement of Spark answers other rows than are due",
    Severity.FALSE_OR_LOST,
    "Spark: the query answers other rows",
)


@dataclass(frozen=True, slots=True)
class OwnTable:
    """A name for a table that stands in the ledger; nothing exists under it at first.

    ``name`` is its whole name in SQL, ``argument`` the name that procedures take.
    """

    session: "SparkSession"
    catalog_name: str
    namespace: Namespace
    bare: str

    @property
    def name(self) -> str:
        """The name with catalog and namespace."""
        return qualified((self.catalog_name, *self.namespace, self.bare))

    @property
    def argument(self) -> str:
        """The name with its namespace, without the catalog."""
        return qualified((*self.namespace, self.bare))

    def sql(self, statement: str) -> list[Row]:
        """Run a statement in which ``{t}`` is the table and return its rows as text."""
        return fetch_rows(self.session.sql(statement.replace("{t}", self.name)))

    def append(self, values: str) -> None:
        """Append rows that are written as VALUES of SQL."""
        self.session.sql(f"INSERT INTO {self.name} VALUES {values}")

    def expect(self, what: str, query: str, wanted: Sequence[Row]) -> None:
        """Raise Violation unless a query answers these rows, in any order."""
        expect_rows(what, self.sql(query), wanted)


def given_spark_tables(
    catalog: Catalog, spark: SparkSource, count: int = 1
) -> tuple[OwnTable, ...]:
    """Return names for tables in a namespace of the check's own, entered in the ledger."""
    namespace = given_namespace(catalog)
    session, catalog_name = spark_session(catalog, spark)
    tables = []
    for _ in range(count):
        name = catalog.new_name()
        catalog.ledger_table(namespace, name)
        tables.append(OwnTable(session, catalog_name, namespace, name))
    return tuple(tables)


def names_of(*tables: OwnTable) -> dict[str, str]:
    """Return the run's own names, placeholder -> text, for findings to leave them out."""
    return {f"table{number}": each.bare for number, each in enumerate(tables, 1)}


def expect_frame(what: str, frame: "DataFrame", wanted: Sequence[Row]) -> None:
    """Raise Violation unless a frame has these rows, in any order."""
    expect_rows(what, fetch_rows(frame), wanted)


def expect_rows(what: str, rows: Sequence[Row], wanted: Sequence[Row]) -> None:
    """Raise Violation unless these are the wanted rows, in any order."""
    if Counter(rows) != Counter(wanted):
        raise Violation(SPARK_ROWS, _shown(wanted), _shown(rows), detail=what)


def _shown(rows: Sequence[Row]) -> str:
    cells = (" | ".join("NULL" if cell is None else cell for cell in row) for row in rows)
    return "; ".join(sorted(cells)) or "no rows"
