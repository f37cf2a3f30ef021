"""Checks of tables that are written and read through data frames instead of SQL."""

from typing import TYPE_CHECKING

from icecheck.client.catalog import Catalog
from icecheck.judging.check import check
from icecheck.spark_tests.engines import read_bounds, require_engine
from icecheck.spark_tests.own_tables import (
    OwnTable,
    expect_frame,
    given_spark_tables,
    names_of,
)
from icecheck.witnesses.spark_statements import SparkSource, judged_by_spark, spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader

SOURCE = "id INT, word STRING"


def _frame(table: OwnTable, values: str, columns: str = "id, word") -> "DataFrame":
    return table.session.sql(f"SELECT * FROM VALUES {values} AS v ({columns})")


def _loading(table: OwnTable, **options: str) -> "DataFrameReader":
    """Return a reader that loads tables of the table's session by their names."""
    # Iceberg looks a name up in the session that is active in the thread. What makes a session
    # active is the creation of a frame.
    table.session.createDataFrame([], "nothing INT")
    return table.session.read.format("iceberg").options(**options)


@check("spark.frames.writes", proves="client.spark.frames.writes")
def test_frame_writes(catalog: Catalog, spark: SparkSource) -> None:
    """Frames create, append to, overwrite and replace a table."""
    table, second = given_spark_tables(catalog, spark, 2)
    with judged_by_spark("a table written by frames", names_of(table, second)):
        from pyspark.sql.functions import col, lit

        frame = _frame(table, "(7, 'x'), (8, 'y')")
        frame.writeTo(table.name).using("iceberg").partitionedBy(col("word")).create()
        frame.writeTo(table.name).append()
        ids = "SELECT id FROM {t}"
        table.expect("appended", ids, [("7",), ("7",), ("8",), ("8",)])
        frame.where("id = 8").writeTo(table.name).overwritePartitions()
        table.expect("one partition overwritten", ids, [("7",), ("7",), ("8",)])
        frame.where("id = 7").writeTo(table.name).overwrite(col("word") == lit("x"))
        table.expect("overwritten by a filter", ids, [("7",), ("8",)])
        other = frame.selectExpr("id AS other")
        other.writeTo(table.name).tableProperty("made-by", "frames").replace()
        table.expect("replaced", "SELECT * FROM {t}", [("7",), ("8",)])
        made_by = "SHOW TBLPROPERTIES {t} ('made-by')"
        table.expect("its property", made_by, [("made-by", "frames")])
        other.writeTo(second.name).createOrReplace()
        frame.writeTo(second.name).createOrReplace()
        second.expect("created or replaced", "SELECT * FROM {t}", [("7", "x"), ("8", "y")])
        frame.write.mode("append").insertInto(second.name)
        second.expect("inserted by the older way", "SELECT count(*) FROM {t}", [("4",)])


@check("spark.frames.options", proves="client.spark.frames.options")
def test_frame_options(catalog: Catalog, spark: SparkSource) -> None:
    """Options of a write choose its format and note, and add the columns that are missing."""
    [table] = given_spark_tables(catalog, spark)
    with judged_by_spark("a table written with options", names_of(table)):
        properties = "TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')"
        table.session.sql(f"CREATE TABLE {table.name} ({SOURCE}) USING iceberg {properties}")
        _frame(table, "(1, 'a')").writeTo(table.name).append()
        wider = _frame(table, "(2, 'b', 0.5D)", "id, word, score")
        wider.writeTo(table.name).option("mergeSchema", "true").append()
        rows = [("1", "a", None), ("2", "b", "0.5")]
        table.expect("a column is added", "SELECT * FROM {t}", rows)
        narrow = _frame(table, "(3)", "id")
        options = {"write-format": "avro", "snapshot-property.audit": "passed"}
        narrow.writeTo(table.name).options(**options).append()
        table.expect("a column is left out", "SELECT * FROM {t}", [*rows, ("3", None, None)])
        noted = "SELECT count(*) FROM {t}.snapshots WHERE summary['audit'] = 'passed'"
        table.expect("the note in the snapshot", noted, [("1",)])
        formats = "SELECT DISTINCT file_format FROM {t}.files"
        table.expect("the format of the files", formats, [("AVRO",), ("PARQUET",)])


@check("spark.frames.branches", proves="client.spark.frames.branches", needs=("snapshot-history",))
def test_frame_branches(catalog: Catalog, spark: SparkSource) -> None:
    """Frames are written to a branch, and read from branches, tags, snapshots and moments."""
    [table] = given_spark_tables(catalog, spark)
    with judged_by_spark("a table with a branch and a tag", names_of(table)):
        table.session.sql(f"CREATE TABLE {table.name} ({SOURCE}) USING iceberg")
        table.append("(1, 'a')")
        for kind in ("BRANCH audit", "TAG first"):
            table.session.sql(f"ALTER TABLE {table.name} CREATE {kind}")
        table.append("(2, 'b')")
        _frame(table, "(3, 'c')").writeTo(f"{table.name}.branch_audit").append()
        [[first, moment]] = table.sql(
            "SELECT s.snapshot_id, s.committed_at FROM {t}.snapshots s "
            "JOIN {t}.refs r ON r.snapshot_id = s.snapshot_id WHERE r.name = 'first'"
        )
        one = [("1", "a")]
        expected = {
            ("branch", "audit"): [*one, ("3", "c")],
            ("versionAsOf", "audit"): [*one, ("3", "c")],
            ("versionAsOf", "first"): one,
            ("versionAsOf", first): one,
            ("timestampAsOf", moment): one,
        }
        for (option, value), rows in expected.items():
            read = _loading(table, **{option: str(value)})
            expect_frame(f"read by {option}", read.load(table.name), rows)
        _frame(table, "(4, 'd')").writeTo(f"{table.name}.branch_audit").overwritePartitions()
        table.expect("the branch overwritten", "SELECT * FROM {t}.branch_audit", [("4", "d")])
        table.expect("main", "SELECT * FROM {t}", [*one, ("2", "b")])


@check("spark.frames.reads", proves="client.spark.frames.reads", needs=("snapshot-history",))
def test_frame_reads(catalog: Catalog, spark: SparkSource) -> None:
    """Frames read what was appended between snapshots, and metadata as of a snapshot."""
    [table] = given_spark_tables(catalog, spark)
    with judged_by_spark("a table read by frames", names_of(table)):
        session = table.session
        session.sql(f"CREATE TABLE {table.name} ({SOURCE}) USING iceberg")
        for values in ("(1, 'a')", "(2, 'b')", "(3, 'c')"):
            table.append(values)
        snapshots = table.sql("SELECT snapshot_id FROM {t}.snapshots ORDER BY committed_at")
        ids = [str(snapshot) for [snapshot] in snapshots]
        appended = _loading(table, **{"start-snapshot-id": ids[0]})
        expect_frame("appended since", appended.load(table.name), [("2", "b"), ("3", "c")])
        between = appended.option("end-snapshot-id", ids[1]).load(table.name)
        expect_frame("appended between", between, [("2", "b")])
        history = _loading(table).load(f"{table.name}.history")
        expect_frame("the history", history.selectExpr("count(*)"), [("3",)])
        now = session.table(table.name).selectExpr("count(*)")
        expect_frame("the table of now", now, [("3",)])


@check(
    "spark.frames.time-travel",
    proves="client.spark.frames.time-travel",
    needs=("snapshot-history",),
)
def test_frame_time_travel(catalog: Catalog, spark: SparkSource) -> None:
    """Iceberg's own options choose the snapshot that a frame reads."""
    # With Spark 4.1 Iceberg wants Spark's own options instead, whatever its documentation says.
    require_engine(spark_session(catalog, spark)[0], read_bounds("spark < 4.1"))
    [table] = given_spark_tables(catalog, spark)
    with judged_by_spark("a table of earlier times", names_of(table)):
        table.session.sql(f"CREATE TABLE {table.name} ({SOURCE}) USING iceberg")
        table.append("(1, 'a')")
        table.session.sql(f"ALTER TABLE {table.name} CREATE TAG first")
        now = "SELECT snapshot_id, unix_millis(committed_at) FROM {t}.snapshots"
        [[first, moment]] = table.sql(now)
        table.append("(2, 'b')")
        chosen = {"tag": "first", "snapshot-id": first, "as-of-timestamp": moment}
        for option, value in chosen.items():
            read = _loading(table, **{option: str(value)})
            expect_frame(f"read by {option}", read.load(table.name), [("1", "a")])
        read = table.session.read.option("snapshot-id", str(first))
        expect_frame("read from the catalog", read.table(table.name), [("1", "a")])
        files = _loading(table, **{"snapshot-id": str(first)}).load(f"{table.name}.files")
        expect_frame("the files of then", files.selectExpr("sum(record_count)"), [("1",)])


@check("spark.frames.merge", proves="client.spark.frames.merge")
def test_frame_merge(catalog: Catalog, spark: SparkSource) -> None:
    """A frame is merged into a table, with a clause for each kind of match."""
    require_engine(spark_session(catalog, spark)[0], read_bounds("spark >= 4.0"))
    [table] = given_spark_tables(catalog, spark)
    with judged_by_spark("a table merged into", names_of(table)):
        from pyspark.sql.functions import col, expr, lit

        table.session.sql(f"CREATE TABLE {table.name} ({SOURCE}) USING iceberg")
        table.append("(1, 'a'), (2, 'b'), (3, 'c')")
        source = _frame(table, "(1, 'A'), (2, 'B'), (4, 'D')").alias("s")
        target = table.bare
        matched = expr(f"s.id = `{target}`.id")
        merging = source.mergeInto(table.name, matched)
        merging = merging.whenMatched(col("s.id") == 1).updateAll()
        merging = merging.whenMatched(col("s.id") == 2).delete()
        merging = merging.whenNotMatched().insertAll()
        merging = merging.whenNotMatchedBySource().update({"word": lit("invalid")})
        merging.merge()
        table.expect("merged", "SELECT * FROM {t}", [("1", "A"), ("3", "invalid"), ("4", "D")])
