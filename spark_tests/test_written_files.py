"""Checks of procedures that write files for the catalog to note, or hand it one to take over."""

from typing import TYPE_CHECKING, Any

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_table, reloaded
from icecheck.client.table import Table
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.replies.expect import equal
from icecheck.spark_tests.own_tables import OwnTable, expect_rows, given_spark_tables, names_of
from icecheck.witnesses.spark_statements import (
    SparkSource,
    fetch_rows,
    judged_by_spark,
    qualified,
    spark_session,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STATISTICS_NOTED = declare(
    "spark-statistics-noted",
    "Notes other statistics than Spark has computed",
    Severity.FALSE_OR_LOST,
    "Spark: plans queries without the statistics that it was told to compute",
)


@check("spark.statistics", proves="client.spark.statistics")
def test_statistics(catalog: Catalog, spark: SparkSource) -> None:
    """Statistics of a table and of its partitions are computed, and noted by the catalog."""
    table = given_table(catalog)
    session, catalog_name = spark_session(catalog, spark)
    name = qualified((catalog_name, *table.namespace, table.name))
    with judged_by_spark("a table with statistics", {"table": table.name}):
        session.sql(f"ALTER TABLE {name} ADD PARTITION FIELD bucket(2, id)")
        first = _appended(session, name, 0)
        second = _appended(session, name, 100)
        procedures = f"CALL {catalog_name}.system.compute_"
        argument = qualified((*table.namespace, table.name))
        [[of_table]] = _called(session, f"{procedures}table_stats('{argument}')")
        of_first = f"table => '{argument}', snapshot_id => {first}, columns => array('id')"
        [[of_snapshot]] = _called(session, f"{procedures}table_stats({of_first})")
        [[of_partitions]] = _called(session, f"{procedures}partition_stats('{argument}')")
    _expect_noted(catalog, table, "statistics", {second: of_table, first: of_snapshot})
    _expect_noted(catalog, table, "partition-statistics", {second: of_partitions})


def _called(session: "SparkSession", statement: str) -> list[tuple[str | None, ...]]:
    return fetch_rows(session.sql(statement))


def _appended(session: "SparkSession", name: str, low: int) -> str:
    """Append ten rows and return the id of their snapshot."""
    session.sql(f"INSERT INTO {name} SELECT id + {low}, CAST(id AS STRING) FROM range(0, 10, 1, 1)")
    [[snapshot]] = _called(session, f"SELECT snapshot_id FROM {name}.refs WHERE name = 'main'")
    return str(snapshot)


def _expect_noted(
    catalog: Catalog, table: Table, member: str, computed: dict[str, str | None]
) -> None:
    noted: list[dict[str, Any]] = reloaded(catalog, table).metadata.get(member) or []
    found = {str(each["snapshot-id"]): each["statistics-path"] for each in noted}
    equal(found, computed, symptom=_STATISTICS_NOTED.of(member), detail=f"the table's {member}")


@check("spark.register-table", proves="client.spark.register-table")
def test_register_table(catalog: Catalog, spark: SparkSource) -> None:
    """A metadata file is registered as a table, with its rows, snapshots and properties.

    Its table is dropped first, as in a move. If the catalog then refuses, because it deletes the
    files of dropped tables, the file of a table that stays is registered.
    """
    table, again, other, other_again = given_spark_tables(catalog, spark, 4)
    with judged_by_spark("a registered table", names_of(table, again, other, other_again)):
        if not _registered(table, again, dropped=True):
            _registered(other, other_again, dropped=False)
            again = other_again
        again.expect("its rows", "SELECT id FROM {t}", [("1",), ("2",), ("3",)])
        again.expect("its property", "SHOW TBLPROPERTIES {t} ('a')", [("a", "b")])
        again.append("(4)")
        again.expect("its rows after more", "SELECT sum(id) FROM {t}", [("10",)])


def _registered(table: OwnTable, again: OwnTable, *, dropped: bool) -> bool:
    """Register the file of a new table, and return whether that went well.

    A refusal is raised unless the table was ``dropped``.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    table.session.sql(f"CREATE TABLE {table.name} (id INT) USING iceberg TBLPROPERTIES ('a' = 'b')")
    table.append("(1), (2)")
    table.append("(3)")
    [[latest]] = table.sql(
        "SELECT file FROM {t}.metadata_log_entries "
        "ORDER BY timestamp DESC, latest_sequence_number DESC LIMIT 1"
    )
    [[snapshot]] = table.sql("SELECT snapshot_id FROM {t}.refs WHERE name = 'main'")
    if dropped:
        table.session.sql(f"DROP TABLE {table.name}")
    procedure = f"CALL {table.catalog_name}.system.register_table"
    arguments = f"table => '{again.argument}', metadata_file => '{latest}'"
    try:
        rows = again.sql(f"{procedure}({arguments})")
    except (Py4JError, PySparkException):
        if dropped:
            return False
        raise
    expect_rows("what is registered", rows, [(snapshot, "3", "2")])
    return True
