"""Checks of structured streaming between tables of the catalog."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import SkipKind
from icecheck.judging.check import check
from icecheck.replies.expect import NotOffered, Violation
from icecheck.spark_tests.engines import read_bounds, require_engine
from icecheck.spark_tests.own_tables import (
    SPARK_ROWS,
    OwnTable,
    expect_rows,
    given_spark_tables,
    names_of,
)
from icecheck.witnesses.spark_statements import SparkSource, judged_by_spark, spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CHECKPOINT = "icecheck-stream-"

STREAM_SECONDS = 120
"""How long one query may take; what is there is streamed in a second or two."""


@contextlib.contextmanager
def _judged(what: str, *tables: OwnTable) -> Iterator[None]:
    """Raise what an error of Spark means, as ``judged_by_spark`` does.

    Iceberg keeps the beginning of a stream by the table's own FileIO in the checkpoint. One that
    knows a single store cannot do that on a disk: then NotOffered is raised.
    """
    try:
        with judged_by_spark(what, names_of(*tables)):
            yield
    except Violation as violation:
        if CHECKPOINT not in violation.finding.actual:
            raise
        raise NotOffered(
            "the tables' FileIO does not reach the directory of the stream's checkpoint",
            SkipKind.HARNESS_GAP,
        ) from violation


def _create(table: OwnTable, more: str = "") -> None:
    table.session.sql(f"CREATE TABLE {table.name} (id INT, word STRING) USING iceberg {more}")


def _read(table: OwnTable, **options: str) -> "DataFrame":
    named = {name.replace("_", "-"): value for name, value in options.items()}
    return table.session.readStream.options(**named).table(table.name)


def _run(
    frame: "DataFrame", target: OwnTable, checkpoint: str, *, mode: str = "append", **options: Any
) -> None:
    """Stream what is there into the target, then end; raise Violation if that takes too long."""
    writer = frame.writeStream.format("iceberg").outputMode(mode).trigger(availableNow=True)
    named = {name.replace("_", "-"): value for name, value in options.items()}
    writer = writer.options(**named).option("checkpointLocation", checkpoint)
    query = writer.toTable(target.name)
    try:
        if not query.awaitTermination(STREAM_SECONDS):
            raise Violation(SPARK_ROWS, "the query ends", f"it runs for {STREAM_SECONDS} s")
    finally:
        query.stop()


def _words(*ids: int) -> list[tuple[str | None, ...]]:
    return [(str(number), f"w{number}") for number in ids]


def _append(table: OwnTable, *ids: int) -> None:
    table.append(", ".join(f"({number}, 'w{number}')" for number in ids))


@check("spark.streaming.restarts", proves="client.spark.streaming.restarts")
def test_stream_restarts(catalog: Catalog, spark: SparkSource) -> None:
    """A stream that is stopped and started again brings each row exactly once."""
    source, target = given_spark_tables(catalog, spark, 2)
    with (
        tempfile.TemporaryDirectory(prefix=CHECKPOINT) as checkpoint,
        _judged("a stream from table to table", source, target),
    ):
        _create(source)
        _create(target, "PARTITIONED BY (word)")
        _append(source, 1, 2)
        _append(source, 3)
        copied = "SELECT * FROM {t}"
        # The writer that keeps a file open for each partition needs no sorted rows.
        _run(_read(source), target, checkpoint, fanout_enabled="true")
        target.expect("after the first run", copied, _words(1, 2, 3))
        _run(_read(source), target, checkpoint)
        target.expect("after a run without news", copied, _words(1, 2, 3))
        _append(source, 4)
        _append(target, 99)
        _run(_read(source), target, checkpoint)
        target.expect("after the restart", copied, _words(1, 2, 3, 4, 99))


@check("spark.streaming.limits", proves="client.spark.streaming.limits")
def test_stream_limits(catalog: Catalog, spark: SparkSource) -> None:
    """A stream takes no more files or rows at a time than it is told to."""
    # Earlier versions take all that is there at once, if they are told to end then.
    require_engine(spark_session(catalog, spark)[0], read_bounds("iceberg >= 1.11"))
    source, by_files, by_rows = given_spark_tables(catalog, spark, 3)
    with (
        tempfile.TemporaryDirectory(prefix=CHECKPOINT) as checkpoints,
        _judged("a stream in small batches", source, by_files, by_rows),
    ):
        _create(source)
        for first in (1, 3, 5):
            _append(source, first, first + 1)
        limits = {
            by_files: {"streaming_max_files_per_micro_batch": "1"},
            by_rows: {"streaming_max_rows_per_micro_batch": "2"},
        }
        for target, limit in limits.items():
            _create(target)
            _run(_read(source, **limit), target, str(Path(checkpoints) / target.bare))
            target.expect(f"all rows by {limit}", "SELECT * FROM {t}", _words(*range(1, 7)))
            # Each batch is a commit; one without rows may be one too.
            batches = (
                "SELECT summary['added-records'] FROM {t}.snapshots "
                "WHERE summary['added-records'] IS NOT NULL"
            )
            expect_rows(f"batches by {limit}", target.sql(batches), [("2",)] * 3)


@check("spark.streaming.reads", proves="client.spark.streaming.reads", needs=("snapshot-history",))
def test_stream_reads(catalog: Catalog, spark: SparkSource) -> None:
    """A stream begins at a moment, and leaves out deletes if it is told to."""
    source, target, refused = given_spark_tables(catalog, spark, 3)
    with (
        tempfile.TemporaryDirectory(prefix=CHECKPOINT) as checkpoints,
        _judged("a stream from a moment on", source, target, refused),
    ):
        for table in (source, target, refused):
            _create(table)
        _append(source, 1)
        _append(source, 2)
        moments = "SELECT unix_millis(max(committed_at)) FROM {t}.snapshots"
        [[moment]] = source.sql(moments)
        source.session.sql(f"DELETE FROM {source.name} WHERE id = 1")
        source.session.sql(f"UPDATE {source.name} SET word = 'changed' WHERE id = 2")
        _append(source, 3)
        skipping = {
            "stream_from_timestamp": str(moment),
            "streaming_skip_delete_snapshots": "true",
            "streaming_skip_overwrite_snapshots": "true",
        }
        _run(_read(source, **skipping), target, str(Path(checkpoints) / "skipping"))
        target.expect("from the moment on", "SELECT * FROM {t}", _words(2, 3))
        _expect_refused(source, refused, str(Path(checkpoints) / "refused"))


def _expect_refused(source: OwnTable, target: OwnTable, checkpoint: str) -> None:
    from pyspark.errors import StreamingQueryException

    try:
        _run(_read(source), target, checkpoint)
    except StreamingQueryException:
        return
    raise Violation(SPARK_ROWS, "a stream of a table with deletes fails", "it ends well")


@check("spark.streaming.complete", proves="client.spark.streaming.complete")
def test_stream_complete(catalog: Catalog, spark: SparkSource) -> None:
    """A stream in complete mode puts its whole result in the place of the former one."""
    source, target = given_spark_tables(catalog, spark, 2)
    with (
        tempfile.TemporaryDirectory(prefix=CHECKPOINT) as checkpoint,
        _judged("a stream in complete mode", source, target),
    ):
        _create(source)
        target.session.sql(f"CREATE TABLE {target.name} (word STRING, n BIGINT) USING iceberg")
        wanted = {
            (1, 2): [("w1", "1"), ("w2", "1")],
            (2, 3): [("w1", "1"), ("w2", "2"), ("w3", "1")],
        }
        for ids, rows in wanted.items():
            _append(source, *ids)
            counted = _read(source).groupBy("word").count().selectExpr("word", "count AS n")
            _run(counted, target, checkpoint, mode="complete")
            target.expect(f"after {ids}", "SELECT * FROM {t}", rows)
