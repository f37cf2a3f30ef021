"""Checks in which PyIceberg and Spark work on one table; they need both on this machine."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from icecheck.client.catalog import Catalog
from icecheck.findings.symptoms import Severity, declare
from icecheck.replies.expect import Violation
from icecheck.replies.matching import show
from icecheck.scenarios.clients.observing import (
    appended,
    created,
    expect_rows,
    pyiceberg_check,
    seen,
)
from icecheck.witnesses.pyiceberg_client import PyIceberg, pyiceberg
from icecheck.witnesses.spark_statements import (
    SparkSource,
    fetch_rows,
    judged_by_spark,
    qualified,
    spark_session,
)

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyspark.sql import SparkSession

_OTHER_ROWS = declare(
    "client-rows-of-another",
    "A client does not see the rows that another client was told are committed",
    Severity.FALSE_OR_LOST,
    "Spark: reads other rows than PyIceberg has written",
)


@pyiceberg_check("spark-reads")
def test_spark_reads(catalog: Catalog, spark_if_installed: SparkSource) -> None:
    """Spark reads what PyIceberg has written, after each of its commits."""
    with pyiceberg(catalog) as client:
        table = created(client)
        session, names = _spark_on(catalog, table, spark_if_installed)
        for number in (1, 2):
            appended(client, table, number)
            _expect_spark_reads(session, names, range(1, number + 1))
        with client.step("delete rows") as sent:
            table.delete("id == 1")
        seen(client, table, sent, "add-snapshot", "set-snapshot-ref")
        _expect_spark_reads(session, names, [2])


@pyiceberg_check("reads-spark")
def test_pyiceberg_reads(catalog: Catalog, spark_if_installed: SparkSource) -> None:
    """PyIceberg reads what Spark has written and changed, and Spark what PyIceberg adds to it."""
    with pyiceberg(catalog) as client:
        table = created(client)
        session, names = _spark_on(catalog, table, spark_if_installed)
        with judged_by_spark("Spark writes to a table of PyIceberg", names):
            session.sql(f"INSERT INTO {names['table']} VALUES (1, 'one'), (2, 'two')")
            session.sql(f"ALTER TABLE {names['table']} ADD COLUMN size BIGINT")
            session.sql(f"DELETE FROM {names['table']} WHERE id = 1")
        _refresh(client, table)
        expect_rows(client, table, 2)
        appended(client, table, 3)
        _expect_spark_reads(session, names, [2, 3])


def _spark_on(
    catalog: Catalog, table: "Table", spark: SparkSource
) -> tuple["SparkSession", Mapping[str, str]]:
    session, catalog_name = spark_session(catalog, spark)
    return session, {"table": qualified((catalog_name, *table.name()))}


def _refresh(client: PyIceberg, table: "Table") -> None:
    with client.step("refresh a table"):
        table.refresh()


def _expect_spark_reads(
    session: "SparkSession", names: Mapping[str, str], ids: Sequence[int]
) -> None:
    with judged_by_spark("Spark reads a table of PyIceberg", names):
        found = fetch_rows(session.sql(f"SELECT id FROM {names['table']} ORDER BY id"))
    due = [(str(each),) for each in ids]
    if found != due:
        raise Violation(_OTHER_ROWS, show(due), show(found))
