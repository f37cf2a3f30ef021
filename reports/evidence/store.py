"""The evidence in a catalog: makes its tables, and adds rows so that none is there twice."""

import contextlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from icecheck.reports.evidence.arrivals import INGESTED
from icecheck.reports.evidence.declared_tables import (
    DOCUMENTS,
    FILES,
    REPORTS,
    RUNS,
    TABLES,
    VERSION,
    VERSION_PROPERTY,
    Table,
    schema_of,
)
from icecheck.reports.evidence.files import EXCHANGES_SUFFIX
from icecheck.reports.evidence.sorting import Report
from icecheck.targets.target import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ATTEMPTS_MAX = 12
_WAIT_SECONDS = 0.5
_IN_ONE_STATEMENT = 200
_PARTITIONS_MAX = 32
_WITH_REPORTS = 3
"""The version of the tables since which `REPORTS` is there."""
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
        before = [(table, self._prepare(table)) for table in TABLES]
        if min(version for _, version in before) < _WITH_REPORTS:
            for attempt in attempts():
                with attempt:
                    self._complete_version_2()
        for table in (table for table, version in before if version < VERSION):
            self.spark.sql(
                f"ALTER TABLE {self.name(table)} "
                f"SET TBLPROPERTIES ('{VERSION_PROPERTY}' = '{VERSION}')"
            )

    def has(self, table: Table | str) -> bool:
        """Return whether a table is there."""
        return bool(self.spark.catalog.tableExists(self.name(table)))

    def _prepare(self, table: Table) -> int:
        """Make a table, or complete it; return the version of it that was there before."""
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
        return int(version)

    def _complete_version_2(self) -> None:
        """Say which reports are whole: before version 3, the rows of their files said it.

        These rows could be there twice.
        """
        files, documents = self.name(FILES), self.name(DOCUMENTS)
        columns = ", ".join(f"`{column}`" for column in FILES.columns)
        exchanges = f"f.uri LIKE '%{EXCHANGES_SUFFIX}'"
        self.spark.sql(
            f"""
            INSERT OVERWRITE {files} SELECT {columns} FROM (
              SELECT *, row_number() OVER (
                PARTITION BY uri ORDER BY state != '{INGESTED}', state
              ) AS nth FROM {files}
            ) WHERE nth = 1
            """
        )
        whole = self.spark.sql(
            f"""
            SELECT d.report_id, d.`day`, min(r.run_id) AS run_id, min(d.file) AS file,
              min(d.sha256) AS sha256, CAST(NULL AS string) AS exchanges_stated,
              max(CASE WHEN {exchanges} THEN f.uri END) AS exchanges_file,
              CAST(NULL AS string) AS exchanges_sha256, max(f.seen_at) AS taken_at
            FROM {documents} d JOIN {files} f ON d.report_id = f.report_id
            JOIN {self.name(RUNS)} r ON d.report_id = r.report_id
            WHERE f.state = '{INGESTED}' GROUP BY d.report_id, d.`day`
            """
        )
        self.put(REPORTS, whole)

    def reports_in(self, table: Table, reports: Collection[str]) -> set[str]:
        """Return which of these reports have rows in a table."""
        found: set[str] = set()
        for some in _portions(sorted(reports)):
            query = f"SELECT DISTINCT report_id FROM {self.name(table)} WHERE {reports_among(some)}"
            found |= {row[0] for row in self.spark.sql(query).collect()}
        return found

    def exchanges_in(self, table: Table, reports: Collection[str]) -> dict[str, set[str]]:
        """Return which of these reports have rows in a table, and of which files of exchanges."""
        found: dict[str, set[str]] = {}
        for some in _portions(sorted(reports)):
            query = (
                "SELECT DISTINCT report_id, coalesce(exchanges_sha256, '') "
                f"FROM {self.name(table)} WHERE {reports_among(some)}"
            )
            for report_id, digest in self.spark.sql(query).collect():
                found.setdefault(report_id, set()).add(digest)
        return found

    def put(
        self, table: Table, rows: "DataFrame", *, only: str = "true", keeping: bool = False
    ) -> None:
        """Put rows into a table, each in the place of one with the same keys, if there is one.

        With ``keeping`` that one stays. All of them appear at once, or none. ``only`` is a
        condition for the rows ``t`` of the table that are looked at. Of two writers at the same
        time one fails, by Iceberg's validation, and has to look again.
        """
        columns = [*table.columns]
        rows.select(*columns).createOrReplaceTempView("icecheck_rows")
        same = [only, *(f"t.`{key}` = s.`{key}`" for key in table.keys)]
        # With a row that matches something has to be done: without, Spark makes an append of it,
        # which Iceberg does not validate.
        by = "t" if keeping else "s"
        changed = ", ".join(f"t.`{column}` = {by}.`{column}`" for column in columns)
        inserted = ", ".join(f"`{column}`" for column in columns)
        values = ", ".join(f"s.`{column}`" for column in columns)
        self.spark.sql(
            f"MERGE INTO {self.name(table)} t USING icecheck_rows s ON {' AND '.join(same)} "
            f"WHEN MATCHED THEN UPDATE SET {changed} "
            f"WHEN NOT MATCHED THEN INSERT ({inserted}) VALUES ({values})"
        )

    def taken_in(self) -> str:
        """Return a query for the ids of the reports of which everything was taken in."""
        return f"SELECT report_id FROM {self.name(REPORTS)}"

    def rows(self, values: Sequence[Mapping[str, Any]], table: Table) -> "DataFrame":
        """Return rows of a table as a data frame; members that are left out are null."""
        listed = [tuple(map(row.get, table.columns)) for row in values]
        return self.spark.createDataFrame(listed, schema_of(table.columns))

    def spread(self, rows: Sequence[tuple[Any, ...]], schema: str) -> "DataFrame":
        """Return rows as a data frame in some partitions: what is next to each other is apart."""
        partitions = max(1, min(len(rows), _PARTITIONS_MAX))
        return self.spark.createDataFrame([*rows], schema).repartition(partitions)


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


def of_reports(reports: Sequence[Report], of: str = "") -> str:
    """Return the condition that a row of a table by day belongs to one of these reports."""
    days = sorted({each.day for each in reports})
    dates = ", ".join(f"DATE'{day}'" for day in days)
    among = reports_among({each.report_id for each in reports}, of)
    return f"{among} AND {of}`day` IN ({dates})"
