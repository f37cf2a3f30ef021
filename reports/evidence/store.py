"""The evidence in a catalog: makes its tables, and adds rows so that none is there twice."""

import contextlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from icecheck.reports.evidence.declared_tables import (
    FILES,
    TABLES,
    VERSION,
    VERSION_PROPERTY,
    Table,
    schema_of,
)
from icecheck.reports.evidence.sorting import INGESTED
from icecheck.targets.target import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ATTEMPTS_MAX = 12
_WAIT_SECONDS = 0.5
_IN_ONE_STATEMENT = 200
# What another writer's commit makes of ours; each is tried again from the beginning.
_CONFLICTS = (
    "ValidationException", "CommitFailedException", "CommitStateUnknownException",
    "AlreadyExistsException", "TableAlreadyExistsException",
)  # fmt: skip

_MADE_MEANWHILE = "TABLE_OR_VIEW_ALREADY_EXISTS"


class Store:
    """The tables of the evidence in one catalog of a Spark session.

    ``prefix`` begins the names of its three namespaces, as in ``icecheck_silver``: they have one
    level, because some catalogs have no deeper ones.
    """

    __slots__ = ("catalog", "prefix", "spark")

    def __init__(self, spark: "SparkSession", catalog: str, prefix: str = "icecheck") -> None:
        self.spark = spark
        self.catalog = catalog
        self.prefix = prefix

    def name(self, table: Table | str) -> str:
        """Return the whole name of a table, quoted for SQL."""
        own = table if isinstance(table, str) else table.name
        level, _, name = own.partition(".")
        return f"`{self.catalog}`.`{self.namespace(level)}`.`{name}`"

    def namespace(self, level: str) -> str:
        """Return the namespace of bronze, silver or gold."""
        return f"{self.prefix}_{level}"

    def prepare(self) -> None:
        """Make the tables that are missing, and add the columns that earlier releases lack.

        Raises UsageError for tables of a later release.
        """
        for level in ("bronze", "silver", "gold"):
            namespace = f"`{self.catalog}`.`{self.namespace(level)}`"
            self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
        for table in TABLES:
            self._prepare(table)

    def has(self, table: Table | str) -> bool:
        """Return whether a table is there."""
        return bool(self.spark.catalog.tableExists(self.name(table)))

    def _prepare(self, table: Table) -> None:
        name = self.name(table)
        partitioned = " PARTITIONED BY (`day`)" if table.by_day else ""
        properties = {
            "format-version": "2",
            VERSION_PROPERTY: str(VERSION),
            # A row is written by whoever first commits it: others have to look again.
            "write.merge.isolation-level": "serializable",
            "write.distribution-mode": "none",
            "write.merge.distribution-mode": "none",
            "write.spark.fanout.enabled": "true",
            "write.metadata.delete-after-commit.enabled": "true",
            "write.metadata.previous-versions-max": "20",
            **table.properties,
        }
        listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        self.spark.sql(
            f"CREATE TABLE IF NOT EXISTS {name} ({schema_of(table.columns)}) "
            f"USING iceberg{partitioned} TBLPROPERTIES ({listed})"
        )
        shown = self.spark.sql(f"SHOW TBLPROPERTIES {name}").collect()
        version = next((row[1] for row in shown if row[0] == VERSION_PROPERTY), "0")
        if int(version) > VERSION:
            raise UsageError(
                f"the evidence in {name} is of a later release of icecheck (version {version} of "
                f"its tables, this one knows {VERSION}): use that release"
            )
        there = set(self.spark.table(name).columns)
        missing = {c: kind for c, kind in table.columns.items() if c not in there}
        if missing:
            self.spark.sql(f"ALTER TABLE {name} ADD COLUMNS ({schema_of(missing)})")
        if int(version) < VERSION:
            self.spark.sql(
                f"ALTER TABLE {name} SET TBLPROPERTIES ('{VERSION_PROPERTY}' = '{VERSION}')"
            )

    def snapshot(self, table: Table) -> int:
        """Return the id of the present snapshot of a table; 0 while it is empty."""
        found = self.spark.sql(
            f"SELECT snapshot_id FROM {self.name(table)}.refs WHERE name = 'main'"
        ).collect()
        return int(found[0][0]) if found else 0

    def reports_in(self, table: Table, reports: Collection[str]) -> set[str]:
        """Return which of these reports have rows in a table."""
        found: set[str] = set()
        for some in _portions(sorted(reports)):
            query = f"SELECT DISTINCT report_id FROM {self.name(table)} WHERE {reports_among(some)}"
            found |= {row[0] for row in self.spark.sql(query).collect()}
        return found

    def put(self, table: Table, rows: "DataFrame", *, only: str = "true") -> None:
        """Put rows into a table, each in the place of one with the same keys, if there is one.

        All of them appear at once, or none. ``only`` is a condition for the rows ``t`` of the table
        that are looked at. Of two writers at the same time one fails, by Iceberg's validation, and
        has to look again.
        """
        columns = [*table.columns]
        rows.select(*columns).createOrReplaceTempView("icecheck_rows")
        same = [only, *(f"t.`{key}` = s.`{key}`" for key in table.keys)]
        # With a row that matches something has to be done: without, Spark makes an append of it,
        # which Iceberg does not validate.
        changed = ", ".join(f"t.`{column}` = s.`{column}`" for column in columns)
        inserted = ", ".join(f"`{column}`" for column in columns)
        values = ", ".join(f"s.`{column}`" for column in columns)
        self.spark.sql(
            f"MERGE INTO {self.name(table)} t USING icecheck_rows s ON {' AND '.join(same)} "
            f"WHEN MATCHED THEN UPDATE SET {changed} "
            f"WHEN NOT MATCHED THEN INSERT ({inserted}) VALUES ({values})"
        )

    def taken_in(self) -> str:
        """Return a query for the ids of the reports of which everything was taken in."""
        return (
            f"SELECT report_id FROM {self.name(FILES)} "
            f"WHERE state = '{INGESTED}' AND report_id IS NOT NULL"
        )

    def rows(self, values: Sequence[Mapping[str, Any]], table: Table) -> "DataFrame":
        """Return rows of a table as a data frame; members that are left out are null."""
        listed = [tuple(map(row.get, table.columns)) for row in values]
        return self.spark.createDataFrame(listed, schema_of(table.columns))


def attempts() -> "Iterator[contextlib.AbstractContextManager[None]]":
    """Yield contexts until one ends without a conflict with another writer.

    The last one raises what the conflict was.
    """
    for number in range(ATTEMPTS_MAX):
        conflict: list[Exception] = []
        yield _noticing(conflict, last=number == ATTEMPTS_MAX - 1)
        if not conflict:
            return
        time.sleep(_WAIT_SECONDS * (1 + number))


@contextlib.contextmanager
def _noticing(conflict: list[Exception], *, last: bool) -> Iterator[None]:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import AnalysisException

    try:
        yield
    except (Py4JJavaError, AnalysisException) as error:
        if last or not is_conflict(error):
            raise
        conflict.append(error)


def is_conflict(error: Any) -> bool:
    """Return whether an error of Spark says that another writer came first."""
    from pyspark.errors import AnalysisException

    if isinstance(error, AnalysisException):  # raised by the analysis, before anything was sent
        return bool(error.getErrorClass() == _MADE_MEANWHILE)
    cause = error.java_exception
    for _ in range(10):
        if cause is None:
            return False
        name = cause.getClass().getSimpleName()
        # Between two looks at a table while a statement is planned; it has no class of its own.
        changed = name == "IllegalStateException" and "modified" in str(cause.getMessage())
        if changed or name in _CONFLICTS:
            return True
        cause = cause.getCause()
    return False


def _portions(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), _IN_ONE_STATEMENT):
        yield values[start : start + _IN_ONE_STATEMENT]


def reports_among(reports: Iterable[str], of: str = "") -> str:
    """Return the condition that a row belongs to one of these reports; their ids are UUIDs.

    ``of`` comes before the column, as in ``t.``.
    """
    listed = ", ".join(f"'{each}'" for each in sorted(reports))
    return f"{of}report_id IN ({listed})"
