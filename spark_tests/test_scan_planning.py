"""A check that the catalog plans the files that Spark has written, as Spark itself reads them."""

from typing import TYPE_CHECKING

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_table
from icecheck.client.planned_scan import planned
from icecheck.findings.symptoms import OTHER_ROWS, Severity, declare
from icecheck.judging.check import check
from icecheck.replies.expect import equal
from icecheck.witnesses.spark_statements import (
    SparkSource,
    fetch_rows,
    judged_by_spark,
    qualified,
    spark_session,
)

_PLANNED_FILES = declare(
    "spark-planned-files",
    "Plans other files than Spark has written",
    Severity.FALSE_OR_LOST,
    OTHER_ROWS,
)
_PLANNED_DELETES = declare(
    "spark-planned-deletes",
    "Plans other delete files than Spark has written",
    Severity.FALSE_OR_LOST,
    OTHER_ROWS,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PROPERTIES = "'format-version' = '2', 'write.delete.mode' = 'merge-on-read'"


@check("spark.scan-planning", proves="client.spark.scan-planning")
def test_scan_planning(catalog: Catalog, spark: SparkSource) -> None:
    """The catalog plans the files that Spark has written, with the deletes that it wrote."""
    table = given_table(catalog, properties={"format-version": "2"})
    session, catalog_name = spark_session(catalog, spark)
    name = qualified((catalog_name, *table.namespace, table.name))
    with judged_by_spark("the planned table", {"table": name}):
        session.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ({_PROPERTIES})")
        for low in (0, 100):
            session.sql(
                f"INSERT INTO {name} SELECT id + {low}, CAST(id AS STRING) FROM range(0, 10, 1, 1)"
            )
        session.sql(f"DELETE FROM {name} WHERE id = 3")
        data = _locations(session, name, content="content = 0")
        deletes = _locations(session, name, content="content <> 0")
        deleted = f"SELECT DISTINCT file_path FROM {name}.position_deletes"
        [[rewritten]] = fetch_rows(session.sql(deleted))
    found = planned(catalog, table)
    equal(found.locations, data, symptom=_PLANNED_FILES)
    equal(found.deletes_of(str(rewritten)), deletes, symptom=_PLANNED_DELETES)


def _locations(session: "SparkSession", name: str, *, content: str) -> list[str]:
    """Return the sorted locations of a table's files of one kind, as Spark reads them."""
    rows = fetch_rows(session.sql(f"SELECT file_path FROM {name}.files WHERE {content}"))
    return sorted(str(location) for [location] in rows)
