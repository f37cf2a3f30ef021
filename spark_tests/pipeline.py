"""A small Iceberg pipeline: bronze as received, silver cleaned, gold summed.

It uses the DataFrame API and SQL: appends, an incremental read between snapshots, a MERGE that
accepts only newer versions, an overwrite of the result, and reads of earlier versions.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from icecheck.findings.symptoms import Severity, declare
from icecheck.replies.expect import Violation
from icecheck.spark_tests.orders import RawOrder
from icecheck.witnesses.spark_statements import Row, fetch_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FIGURES = declare(
    "spark-figures",
    "A pipeline of Spark ends with other figures than are due",
    Severity.FALSE_OR_LOST,
    "Spark: the pipeline ends with other figures",
)

RAW_SCHEMA = (
    "order_id STRING, email STRING, country STRING, ordered_at STRING, amount STRING, "
    "status STRING, updated_at STRING"
)
BRONZE_SCHEMA = f"{RAW_SCHEMA}, batch INT"
SILVER_SCHEMA = (
    "order_id STRING, email STRING, country STRING, ordered_at TIMESTAMP, amount DECIMAL(12, 2), "
    "status STRING, updated_at TIMESTAMP"
)
SILVER_COLUMNS = ("order_id", "email", "country", "ordered_at", "amount", "status", "updated_at")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The pipeline over three tables, each named with its catalog and namespace.

    ``landing`` is a local directory where batches arrive as files of JSON lines.
    """

    session: "SparkSession"
    bronze: str
    silver: str
    gold: str
    landing: Path

    @property
    def names(self) -> dict[str, str]:
        """The names of the three tables, which are removed from messages about failures."""
        return {"bronze": self.bronze, "silver": self.silver, "gold": self.gold}

    def create(self) -> None:
        """Create the bronze and silver tables; gold is created by the first summary."""
        self.session.sql(
            f"CREATE TABLE {self.bronze} ({BRONZE_SCHEMA}) USING iceberg PARTITIONED BY (batch)"
        )
        self.session.sql(
            f"CREATE TABLE {self.silver} ({SILVER_SCHEMA}) USING iceberg "
            "PARTITIONED BY (days(ordered_at)) TBLPROPERTIES ('format-version' = '2')"
        )

    def receive(self, batch: int, records: Iterable[RawOrder]) -> None:
        """Append a batch to bronze exactly as received, with the number of the batch."""
        from pyspark.sql import functions as f

        path = self.landing / f"batch-{batch}.jsonl"
        lines = (json.dumps(record.as_json(), ensure_ascii=False) for record in records)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        received = self.session.read.schema(RAW_SCHEMA).json(path.as_uri())
        received.withColumn("batch", f.lit(batch)).writeTo(self.bronze).append()

    def clean(self, since: str | None) -> None:
        """Merge into silver what bronze received after the snapshot ``since``."""
        self._usable(self._received(since)).createOrReplaceTempView("incoming")
        self.session.sql(
            f"MERGE INTO {self.silver} t USING incoming s ON t.order_id = s.order_id "
            "WHEN MATCHED AND s.updated_at > t.updated_at THEN UPDATE SET * "
            "WHEN NOT MATCHED THEN INSERT *"
        )

    def rejected(self, batch: int) -> int:
        """Return the number of unusable records in a batch."""
        from pyspark.sql import functions as f

        received = self.session.table(self.bronze).where(f.col("batch") == batch)
        return int(received.count() - self._typed(received).count())

    def summarise(self) -> None:
        """Replace gold by the figures of the current silver."""
        from pyspark.sql import functions as f

        figures = (
            self.session.table(self.silver)
            .where(f.col("status") != "cancelled")
            .groupBy(f.to_date("ordered_at").alias("day"), "country")
            .agg(
                f.count("*").alias("orders"),
                f.sum("amount").alias("amount"),
                f.countDistinct("email").alias("customers"),
            )
        )
        if self.session.catalog.tableExists(self.gold):
            figures.writeTo(self.gold).overwrite(f.lit(True))
        else:
            figures.writeTo(self.gold).using("iceberg").partitionedBy("country").create()

    def snapshot(self, table: str) -> str:
        """Return the id of a table's current snapshot; raise Violation if it has none."""
        refs = self.session.table(f"{table}.refs").where("name = 'main'").select("snapshot_id")
        rows = refs.collect()
        if len(rows) != 1:
            raise Violation(FIGURES, "a table with a current snapshot", "none")
        return str(rows[0][0])

    def silver_rows(self, snapshot: str | None = None) -> list[Row]:
        """Return silver's sorted rows, now or as of a snapshot."""
        reader = self.session.read
        if snapshot is not None:
            reader = reader.option("snapshot-id", snapshot)
        return fetch_rows(reader.table(self.silver).select(*SILVER_COLUMNS).orderBy("order_id"))

    def gold_rows(self, snapshot: str | None = None) -> list[Row]:
        """Return gold's sorted rows, now or as of a snapshot."""
        version = "" if snapshot is None else f"VERSION AS OF {snapshot}"
        columns = "day, country, orders, amount, customers"
        # The names are the run's own, so they cannot inject SQL.
        return fetch_rows(
            self.session.sql(f"SELECT {columns} FROM {self.gold} {version} ORDER BY day, country")
        )

    def _received(self, since: str | None) -> "DataFrame":
        if since is None:
            return self.session.table(self.bronze)
        reader = self.session.read.option("start-snapshot-id", since)
        return reader.option("end-snapshot-id", self.snapshot(self.bronze)).table(self.bronze)

    def _typed(self, received: "DataFrame") -> "DataFrame":
        """Return the usable records, tidied and typed."""
        from pyspark.sql import functions as f

        typed = received.select(
            f.trim("order_id").alias("order_id"),
            f.lower(f.trim("email")).alias("email"),
            f.upper(f.trim("country")).alias("country"),
            f.expr("try_to_timestamp(ordered_at, 'yyyy-MM-dd HH:mm:ss')").alias("ordered_at"),
            f.expr("try_cast(amount AS DECIMAL(12, 2))").alias("amount"),
            "status",
            f.expr("try_to_timestamp(updated_at, 'yyyy-MM-dd HH:mm:ss')").alias("updated_at"),
        )
        return typed.where(
            "order_id <> '' AND amount > 0 AND country RLIKE '^[A-Z]{2}$' "
            "AND ordered_at IS NOT NULL AND updated_at IS NOT NULL"
        )

    def _usable(self, received: "DataFrame") -> "DataFrame":
        """Return the newest usable version of each order."""
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        newest_first = Window.partitionBy("order_id").orderBy(f.col("updated_at").desc())
        numbered = self._typed(received).withColumn("version", f.row_number().over(newest_first))
        return numbered.where("version = 1").drop("version")
