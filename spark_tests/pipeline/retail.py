"""The steps of the pipeline in Spark. Each may be done again: it then ends in the same tables."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from icecheck.spark_tests.pipeline.events import COLUMNS, LATER_COLUMNS
from icecheck.spark_tests.pipeline.landing import Landing
from icecheck.spark_tests.pipeline.scale import DAYS
from icecheck.spark_tests.pipeline.tables import Tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

_POLLED = "200 milliseconds"


@dataclass(frozen=True, slots=True)
class Retail:
    """The pipeline over its tables; ``checkpoint`` is the directory of the streaming query."""

    session: "SparkSession"
    tables: Tables
    landing: Landing
    checkpoint: Path

    @property
    def _procedures(self) -> str:
        return f"{self.tables.bronze.partition('.')[0]}.system"

    def create(self, *kinds: str) -> None:
        """Create the tables of these kinds, unless they are there."""
        for kind in kinds:
            self.session.sql(self.tables.definition(kind))

    def stream(self, day: int) -> None:
        """Let the narrow events of a day arrive, and append them to bronze as they come.

        On the last day bronze gets a column in between, and the query runs on.
        """
        parts = [part for part in self.landing.scale.parts(day) if not part.wide]
        half = len(parts) // 2
        with self._running(COLUMNS) as query:
            self.landing.arrive(parts[:half])
            query.processAllAvailable()
            if day == DAYS[-1]:
                self.widen()
            self.landing.arrive(parts[half:])
            query.processAllAvailable()

    def stream_wide(self, day: int) -> None:
        """Let the wide events of a day arrive, for the query that goes on with the new column.

        The narrow query must not see them: it would leave the column out.
        """
        with self._running(COLUMNS | LATER_COLUMNS) as query:
            self.landing.arrive([part for part in self.landing.scale.parts(day) if part.wide])
            query.processAllAvailable()

    def load(self, day: int) -> None:
        """Append the events of a day to bronze at once, without a stream; it gets their columns."""
        parts = self.landing.scale.parts(day)
        self.landing.arrive(parts)
        if any(part.wide for part in parts):
            self.widen()
        files = [(self.landing.directory / part.file).as_uri() for part in parts]
        rows = self.session.read.option("mergeSchema", "true").parquet(*files)
        rows.select(*self.columns("bronze")).writeTo(self.tables.bronze).append()

    def widen(self) -> None:
        """Add the later columns to bronze, unless it has them."""
        if not self._is_wide():
            self.session.sql(self.tables.later_columns())

    def merge_orders(self, day: int) -> None:
        """Bring silver's orders forward by a day of arrival."""
        self.session.sql(self.tables.merge_orders(day, with_channel=self._is_wide()))

    def merge_customers(self, day: int) -> None:
        """Bring the histories of customers forward by a day of arrival."""
        self.session.sql(self.tables.merge_customers(day))

    def figures(self) -> "DataFrame":
        """Return the figures of silver as it is now."""
        return self.session.sql(self.tables.figures())

    def write_figures(self, figures: "DataFrame", branch: str = "") -> None:
        """Replace gold by figures, on main or on a branch."""
        from pyspark.sql import functions as f

        table = self.tables.revenue + (f".branch_{branch}" if branch else "")
        figures.writeTo(table).overwrite(f.lit(True))

    def spoil_figures(self, branch: str) -> None:
        """Append a bad batch to gold on a branch: what is there, with the sign changed."""
        table = f"{self.tables.revenue}.branch_{branch}"
        self.session.sql(
            f"INSERT INTO {table} SELECT day, country, orders, units, -revenue, customers "
            f"FROM {self.tables.revenue}"
        )

    def branch(self, name: str) -> None:
        """Begin a branch of gold at the current state, also if it is there."""
        self.session.sql(f"ALTER TABLE {self.tables.revenue} CREATE OR REPLACE BRANCH {name}")

    def drop_branch(self, name: str) -> None:
        """Drop a branch of gold, if it is there."""
        self.session.sql(f"ALTER TABLE {self.tables.revenue} DROP BRANCH IF EXISTS {name}")

    def faults(self, branch: str) -> int:
        """Return how many rows of a branch of gold the audit finds fault with.

        They are rows without orders or revenue, and rows of a day and country beyond the first.
        """
        [[wrong, twice]] = self.session.sql(
            "SELECT count_if(orders <= 0 OR revenue <= 0 OR country IS NULL), "
            "count(*) - count(DISTINCT day, country) "
            f"FROM {self.tables.revenue} VERSION AS OF '{branch}'"
        ).collect()
        return int(wrong) + int(twice)

    def publish(self, branch: str) -> None:
        """Make the state of a branch of gold the current one, and drop the branch."""
        self.session.sql(
            f"CALL {self._procedures}.fast_forward("
            f"'{_without_catalog(self.tables.revenue)}', 'main', '{branch}')"
        ).collect()
        self.drop_branch(branch)

    def create_view(self) -> None:
        """Create or replace the view of gold."""
        self.session.sql(self.tables.view())

    def tag(self, kind: str, name: str) -> None:
        """Give the current snapshot of a table a name; one that bears it loses it."""
        self.session.sql(f"ALTER TABLE {self.tables.name(kind)} CREATE OR REPLACE TAG {name}")

    def snapshot(self, kind: str) -> str:
        """Return the id of the current snapshot of a table; "" if it has none."""
        [[found]] = self.session.sql(
            "SELECT coalesce(max(CAST(snapshot_id AS STRING)), '') "
            f"FROM {self.tables.name(kind)}.refs WHERE name = 'main'"
        ).collect()
        return str(found)

    def compact(self, kind: str) -> None:
        """Write the rows of a table into few files."""
        self.session.sql(
            f"CALL {self._procedures}.rewrite_data_files("
            f"table => '{_without_catalog(self.tables.name(kind))}', "
            "options => map('rewrite-all', 'true'))"
        ).collect()

    def expire(self, kind: str) -> None:
        """Remove the snapshots of a table that are neither current nor named."""
        self.session.sql(
            f"CALL {self._procedures}.expire_snapshots("
            f"table => '{_without_catalog(self.tables.name(kind))}', "
            "older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)"
        ).collect()

    def snapshots(self, kind: str) -> tuple[int, int]:
        """Return how many snapshots a table has, and how many of them a branch or tag names."""
        table = self.tables.name(kind)
        [[every]] = self.session.sql(f"SELECT count(*) FROM {table}.snapshots").collect()
        [[named]] = self.session.sql(
            f"SELECT count(DISTINCT snapshot_id) FROM {table}.refs"
        ).collect()
        return int(every), int(named)

    def columns(self, kind: str) -> list[str]:
        """Return the names of the columns of a table."""
        return list(self.session.table(self.tables.name(kind)).columns)

    def _is_wide(self) -> bool:
        return set(LATER_COLUMNS) <= set(self.columns("bronze"))

    @contextlib.contextmanager
    def _running(self, columns: Mapping[str, str]) -> "Iterator[StreamingQuery]":
        """Run the query that appends to bronze what arrives, from where it was stopped."""
        third = max(1, len(self.landing.scale.parts(DAYS[-1])) // 3)
        received = (
            self.session.readStream.schema(", ".join(f"{n} {t}" for n, t in columns.items()))
            .option("maxFilesPerTrigger", third)
            .parquet(self.landing.directory.as_uri())
        )
        query = (
            received.writeStream.format("iceberg")
            .outputMode("append")
            .trigger(processingTime=_POLLED)
            .option("checkpointLocation", self.checkpoint.as_uri())
            .toTable(self.tables.bronze)
        )
        try:
            yield query
        finally:
            query.stop()


def _without_catalog(table: str) -> str:
    """Return the name of a table as procedures take it."""
    return table.partition(".")[2].replace("'", "\\'")
