"""Spark loses the answer of an append, looks what became of it, and ends with one row.

Run it: `python lost_answer_spark.py`. It needs `icecheck[spark]`.
"""

import uuid
from typing import TYPE_CHECKING

from icecheck.mock_server import MockCatalog
from icecheck.spark import SparkWorkbench

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ATTEMPTS_MAX = 3


def append_once(frame: "DataFrame", table: str) -> int:
    """Append a frame exactly once, whatever happens to the answer; return how often it was tried.

    The snapshot bears a name of its own. After an error nobody knows whether the catalog
    committed it, so the table is asked before anything is sent again.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    run_id = str(uuid.uuid4())
    committed = f"summary['run-id'] = '{run_id}'"
    for attempt in range(1, ATTEMPTS_MAX + 1):
        try:
            frame.writeTo(table).option("snapshot-property.run-id", run_id).append()
            return attempt
        except (Py4JError, PySparkException):
            if frame.sparkSession.table(f"{table}.snapshots").where(committed).count():
                return attempt
    raise RuntimeError(f"the append failed {ATTEMPTS_MAX} times")


def main() -> None:
    """Lose the answer of a commit that was applied, then that of one that was not."""
    with MockCatalog() as mock, SparkWorkbench.start() as workbench:
        conf = {"type": "rest", "uri": mock.uri, "warehouse": "wh", "cache-enabled": "false"}
        spark = workbench.catalog_session("mock", conf)
        spark.sql("CREATE NAMESPACE mock.db")
        for fault in ("answer-lost", "connection-dropped"):
            table = f"mock.db.{fault.replace('-', '_')}"
            spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
            with mock.fault(fault, table=table.removeprefix("mock.")) as rule:
                attempts = append_once(spark.range(1), table)
            count = spark.table(table).count()
            print(f"{fault}: fired {rule.fired}, attempts {attempts}, rows {count}")


if __name__ == "__main__":
    main()
