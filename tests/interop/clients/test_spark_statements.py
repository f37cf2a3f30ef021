"""Every statement that Spark 3.5 with Iceberg 1.10 supports runs against the mock: here is where.

Most are in scripts, which are checks of any catalog. What says nothing about a catalog, or shows
its effect only inside the mock, is run below.
"""

import inspect
import os
import re
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import icecheck.spark_tests
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.mock_warehouse import MockWarehouse
from icecheck.spark_tests.outcomes import Refusal
from icecheck.spark_tests.script import read_scripts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPTS = {
    script.path.stem: script
    for script in read_scripts(Path(icecheck.spark_tests.__file__).parent / "scripts")
}

# What it is -> how it is written, and the scripts or tests in which it succeeds.
STATEMENTS: dict[str, tuple[str, str]] = {
    "CREATE NAMESPACE": (r"CREATE NAMESPACE \S+ COMMENT", "namespaces"),
    "CREATE NAMESPACE IF NOT EXISTS": (r"CREATE NAMESPACE IF NOT EXISTS", "namespaces"),
    "DESCRIBE NAMESPACE": (r"DESCRIBE NAMESPACE", "namespaces"),
    "COMMENT ON NAMESPACE": (r"COMMENT ON NAMESPACE", "namespaces"),
    "SHOW NAMESPACES": (r"SHOW NAMESPACES IN", "namespaces"),
    "DROP NAMESPACE": (r"DROP NAMESPACE \S+", "namespaces namespace_not_empty"),
    "DROP NAMESPACE IF EXISTS": (r"DROP NAMESPACE IF EXISTS", "namespaces"),
    "CREATE TABLE": (r"CREATE TABLE {table} \(", "create_insert_select create_existing all_types"),
    "PARTITIONED BY": (
        r"PARTITIONED BY \(", "partitioned_table partition_transforms insert_overwrite"
    ),
    "SHOW TABLES": (r"SHOW TABLES IN", "show_tables"),
    "DROP TABLE": (r"DROP TABLE {table}$", "drop_table"),
    "DROP TABLE IF EXISTS": (r"DROP TABLE IF EXISTS", "missing_table"),
    "DROP TABLE PURGE": (r"DROP TABLE {table} PURGE", "drop_purge"),
    "RENAME TABLE": (r"ALTER TABLE {table} RENAME TO", "rename_table"),
    "CTAS": (r"CREATE TABLE {table2?} USING iceberg.* AS\s", "ctas"),
    "RTAS": (r"REPLACE TABLE {table} .*AS\s", "rtas"),
    "CREATE OR REPLACE TABLE": (r"CREATE OR REPLACE TABLE", "create_or_replace"),
    "TRUNCATE": (r"TRUNCATE TABLE", "truncate"),
    "INSERT": (r"INSERT INTO {table} VALUES", "create_insert_select"),
    "INSERT OVERWRITE": (r"INSERT OVERWRITE", "insert_overwrite"),
    "MERGE, copy on write": (r"MERGE INTO", "merge"),
    "MERGE, merge on read": (r"MERGE INTO", "merge_on_read_merge"),
    "UPDATE, copy on write": (r"UPDATE {table} SET", "update"),
    "UPDATE, merge on read": (r"UPDATE {table} SET", "merge_on_read_delete"),
    "DELETE, copy on write": (r"DELETE FROM {table} WHERE", "delete"),
    "DELETE, merge on read": (r"DELETE FROM {table} WHERE", "merge_on_read_delete"),
    "VERSION AS OF id": (r"VERSION AS OF {first}", "time_travel_snapshot"),
    "VERSION AS OF tag": (r"VERSION AS OF 'here'", "tag"),
    "VERSION AS OF branch": (r"VERSION AS OF 'audit'", "branch"),
    "TIMESTAMP AS OF": (r"TIMESTAMP AS OF", "time_travel_timestamp"),
    "CREATE TAG": (r"CREATE TAG \w+ AS OF VERSION \S+ RETAIN", "tag"),
    "REPLACE TAG": (r"REPLACE TAG", "tag"),
    "DROP TAG": (r"DROP TAG", "tag"),
    "CREATE BRANCH": (r"CREATE BRANCH", "branch"),
    "DROP BRANCH": (r"DROP BRANCH", "branch"),
    "write to a branch": (r"INSERT INTO {table}\.branch_audit", "branch"),
    "write, audit, publish": (r"SET spark\.wap\.id", "write_audit_publish"),
    "ADD COLUMN": (r"ADD COLUMN", "add_column"),
    "ADD COLUMN, nested": (r"ADD COLUMN point\.z", "nested_evolution"),
    "RENAME COLUMN": (r"RENAME COLUMN", "rename_column"),
    "RENAME COLUMN, nested": (r"RENAME COLUMN point\.y", "nested_evolution"),
    "ALTER COLUMN TYPE": (r"ALTER COLUMN \w+ TYPE", "widen_column"),
    "ALTER COLUMN TYPE, nested": (r"ALTER COLUMN point\.x TYPE", "nested_evolution"),
    "ALTER COLUMN FIRST": (r"ALTER COLUMN \w+ FIRST", "reorder_columns"),
    "ALTER COLUMN AFTER": (r"ALTER COLUMN \w+ AFTER", "reorder_columns"),
    "ALTER COLUMN COMMENT": (r"ALTER COLUMN \w+ COMMENT", "column_comment_and_null"),
    "ALTER COLUMN DROP NOT NULL": (r"DROP NOT NULL", "column_comment_and_null"),
    "DROP COLUMN": (r"DROP COLUMN", "drop_column"),
    "DROP COLUMN, nested": (r"DROP COLUMN items\.element\.amount", "nested_evolution"),
    "SET IDENTIFIER FIELDS": (r"SET IDENTIFIER FIELDS", "identifier_fields"),
    "ADD PARTITION FIELD": (r"ADD PARTITION FIELD", "partition_evolution"),
    "REPLACE PARTITION FIELD": (r"REPLACE PARTITION FIELD", "partition_evolution"),
    "DROP PARTITION FIELD": (r"DROP PARTITION FIELD", "partition_evolution"),
    "WRITE ORDERED BY": (r"WRITE ORDERED BY", "write_order"),
    "WRITE UNORDERED": (r"WRITE UNORDERED", "write_order"),
    "WRITE DISTRIBUTED BY": (r"WRITE DISTRIBUTED BY", "write_order"),
    "SET TBLPROPERTIES": (r"SET TBLPROPERTIES", "table_properties"),
    "UNSET TBLPROPERTIES": (r"UNSET TBLPROPERTIES", "table_properties"),
    "format version 1": (r"'format-version' = '1'", "format_v1"),
    "deletion vectors": (r"DELETE FROM", "format_v3_deletion_vectors"),
    "row lineage": (r"SELECT .*_row_id", "format_v3_row_lineage"),
    "functions": (r"system\.bucket\(", "test_functions_of_iceberg"),
    "DataFrameWriterV2": (r"\.writeTo\(", "test_frames_are_written"),
    "CREATE VIEW": (r"CREATE VIEW", "create_replace_view"),
    "CREATE OR REPLACE VIEW": (r"CREATE OR REPLACE VIEW", "create_replace_view"),
    "SELECT from a view": (r"SELECT number FROM {view}", "create_replace_view"),
    "DESCRIBE VIEW": (r"DESCRIBE {view}", "create_replace_view"),
    "SET TBLPROPERTIES, of a view": (
        r"ALTER VIEW {view} SET TBLPROPERTIES", "create_replace_view"
    ),
    "SHOW TBLPROPERTIES, of a view": (r"SHOW TBLPROPERTIES {view}", "create_replace_view"),
    "SHOW VIEWS": (r"SHOW VIEWS IN", "show_views"),
    "RENAME VIEW": (r"ALTER VIEW {view} RENAME TO", "rename_view"),
    "DROP VIEW": (r"DROP VIEW", "show_views"),
}  # fmt: skip

METADATA_TABLES = {
    "snapshots": "metadata_tables",
    "history": "metadata_tables",
    "refs": "metadata_tables",
    "files": "metadata_tables",
    "manifests": "metadata_tables",
    "entries": "metadata_tables",
    "metadata_log_entries": "metadata_tables",
    "partitions": "metadata_tables",
    "data_files": "metadata_tables",
    "delete_files": "rewrite_position_deletes",
    "position_deletes": "rewrite_position_deletes",
    "all_data_files": "metadata_tables",
    "all_delete_files": "metadata_tables",
    "all_files": "metadata_tables",
    "all_manifests": "metadata_tables",
    "all_entries": "metadata_tables",
}
CHANGES = {"changes": "changelog"}
"""The one table beside another that Iceberg's library does not count among the metadata tables."""

PROCEDURES = {
    "add_files": "test_files_are_added",
    "ancestors_of": "rollback",
    "cherrypick_snapshot": "test_a_snapshot_is_picked",
    "compute_partition_stats": "test_statistics_are_computed",
    "compute_table_stats": "test_statistics_are_computed",
    "create_changelog_view": "changelog",
    "expire_snapshots": "expire_snapshots",
    "fast_forward": "branch",
    "publish_changes": "write_audit_publish",
    "register_table": "test_a_table_is_registered",
    "remove_orphan_files": "test_orphans_are_removed",
    "rewrite_data_files": "rewrite_data_files",
    "rewrite_manifests": "rewrite_manifests",
    "rewrite_position_delete_files": "rewrite_position_deletes",
    "rewrite_table_path": "test_a_table_is_copied_elsewhere",
    "rollback_to_snapshot": "rollback",
    "rollback_to_timestamp": "test_a_table_is_rolled_back_to_a_time",
    "set_current_snapshot": "rollback",
}
OF_OTHER_CATALOGS = {"migrate", "snapshot"}
"""Procedures that read a table of Spark's own catalog, which is not ours."""

ROWS = {
    **STATEMENTS,
    **{f"table {name}": (rf"{{table}}\.{name}\b", at) for name, at in METADATA_TABLES.items()},
    **{f"table {name}": (rf"{{table}}\.{name}\b", at) for name, at in CHANGES.items()},
    **{f"CALL {name}": (rf"CALL \S+\.system\.{name}\(", at) for name, at in PROCEDURES.items()},
}


def texts(where: str) -> list[str]:
    """The statements of a script that have to succeed, or the source of a test."""
    if where in SCRIPTS:
        statements = SCRIPTS[where].statements
        return [s.sql for s in statements if not isinstance(s.outcome, Refusal)]
    return [inspect.getsource(getattr(sys.modules[__name__], where))]


@pytest.mark.parametrize("what", ROWS)
def test_a_statement_stands_where_the_table_says(what: str) -> None:
    written, places = ROWS[what]
    for where in places.split():
        found = [text for text in texts(where) if re.search(written, text, re.DOTALL)]
        assert found, f"{where} has no {what}"


def test_every_script_is_in_the_table() -> None:
    named = {where for _, places in ROWS.values() for where in places.split()}
    assert sorted(set(SCRIPTS) - named) == []


def test_every_test_of_statements_is_in_the_table() -> None:
    named = {where for _, places in ROWS.values() for where in places.split()}
    tests = {name for name in globals() if name.startswith("test_")}
    takes_spark = {n for n in tests if "sql" in inspect.signature(globals()[n]).parameters}
    assert sorted(takes_spark - named) == []


# What needs no script


class Sql:
    """Runs statements in the test's own session; `t` is a table of three rows, two commits."""

    def __init__(self, session: "SparkSession", warehouse: MockWarehouse) -> None:
        self.session = session
        self.warehouse = warehouse

    def __call__(self, statement: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.session.sql(statement).collect()]

    def metadata(self, name: str = "t") -> TableMetadata:
        entry = self.warehouse.state().table(("db",), name)
        assert entry is not None
        return entry.metadata


@pytest.fixture
def sql(iceberg_spark: "SparkSession", mock_catalog: MockWarehouse) -> Sql:
    sql = Sql(iceberg_spark, mock_catalog)
    sql("CREATE NAMESPACE db")
    sql("CREATE TABLE db.t (id BIGINT, word STRING) USING iceberg PARTITIONED BY (word)")
    sql("INSERT INTO db.t VALUES (1, 'a'), (2, 'b')")
    sql("INSERT INTO db.t VALUES (3, 'c')")
    return sql


@pytest.mark.spark
def test_spark_has_no_procedure_and_no_metadata_table_that_is_not_here(
    iceberg_spark: "SparkSession",
) -> None:
    iceberg = iceberg_spark.sparkContext._jvm.org.apache.iceberg
    tables = {str(each).lower() for each in iceberg.MetadataTableType.values()}
    assert tables == set(METADATA_TABLES)
    known = set(iceberg.spark.procedures.SparkProcedures.names())
    assert known == set(PROCEDURES) | OF_OTHER_CATALOGS


@pytest.mark.spark
def test_functions_of_iceberg(sql: Sql) -> None:
    # The hash of 34 is 2017239379, which leaves 3 when divided by 16.
    calls = "system.bucket(16, 34), system.truncate(3, 'iceberg'), system.iceberg_version()"
    assert sql(f"SELECT {calls}") == [(3, "ice", "1.10.2")]
    moment = "TIMESTAMP '2024-03-01 05:30:00'"
    parts = ", ".join(f"CAST(system.{n}({moment}) AS INT)" for n in ("years", "months", "hours"))
    assert sql(f"SELECT {parts}, CAST(system.days({moment}) AS STRING)") == [
        (54, 650, 474797, "2024-03-01")
    ]


@pytest.mark.spark
def test_frames_are_written(sql: Sql) -> None:
    from pyspark.sql.functions import col, lit

    frame = sql.session.createDataFrame([(7, "x"), (8, "y")], "id BIGINT, word STRING")
    frame.writeTo("db.f").using("iceberg").partitionedBy(col("word")).create()
    frame.writeTo("db.f").append()
    assert sql("SELECT count(*) FROM db.f") == [(4,)]
    frame.where("id = 8").writeTo("db.f").overwritePartitions()
    assert sql("SELECT id FROM db.f ORDER BY id") == [(7,), (7,), (8,)]
    frame.where("id = 7").writeTo("db.f").overwrite(col("word") == lit("x"))
    assert sql("SELECT id FROM db.f ORDER BY id") == [(7,), (8,)]
    frame.selectExpr("id AS other").writeTo("db.f").tableProperty("a", "1").replace()
    assert sql("SELECT other FROM db.f ORDER BY other") == [(7,), (8,)]
    frame.writeTo("db.g").createOrReplace()
    frame.select("id").writeTo("db.g").createOrReplace()
    assert sql("SELECT * FROM db.g ORDER BY id") == [(7,), (8,)]
    assert len(sql.metadata("g").schemas) == 2


@pytest.mark.spark
def test_statistics_are_computed(sql: Sql) -> None:
    current = sql.metadata().current_snapshot_id
    ((path,),) = sql("CALL mock.system.compute_table_stats('db.t')")
    (statistics,) = sql.metadata().statistics
    assert (statistics.snapshot_id, statistics.statistics_path) == (current, path)
    ((path,),) = sql("CALL mock.system.compute_partition_stats('db.t')")
    (partitions,) = sql.metadata().partition_statistics
    assert (partitions.snapshot_id, partitions.statistics_path) == (current, path)


@pytest.mark.spark
def test_orphans_are_removed(sql: Sql) -> None:
    directory = Path(sql.metadata().location.removeprefix("file://"))
    orphan = directory / "data" / "orphan.parquet"
    orphan.write_bytes(b"nobody refers to this")
    long_ago = time.time() - 7 * 24 * 3600
    os.utime(orphan, (long_ago, long_ago))
    removed = sql("CALL mock.system.remove_orphan_files('db.t')")
    assert [Path(row[0].removeprefix("file:")).name for row in removed] == [orphan.name]
    assert not orphan.exists()
    assert sql("SELECT count(*) FROM db.t") == [(3,)]


@pytest.mark.spark
def test_a_table_is_rolled_back_to_a_time(sql: Sql) -> None:
    first, second = sql.metadata().snapshots
    moment = datetime.fromtimestamp(second.timestamp_ms / 1000, UTC).isoformat(" ", "milliseconds")
    called = sql(f"CALL mock.system.rollback_to_timestamp('db.t', TIMESTAMP '{moment}')")
    assert called == [(second.snapshot_id, first.snapshot_id)]
    assert sql("SELECT id FROM db.t ORDER BY id") == [(1,), (2,)]


@pytest.mark.spark
def test_a_snapshot_is_picked(sql: Sql) -> None:
    sql("ALTER TABLE db.t SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
    sql("SET spark.wap.id = audit")
    sql("INSERT INTO db.t VALUES (4, 'd')")
    sql("RESET spark.wap.id")
    sql("INSERT INTO db.t VALUES (5, 'e')")
    (staged,) = (s for s in sql.metadata().snapshots if (s.summary or {}).get("wap.id") == "audit")
    ((source, current),) = sql(
        f"CALL mock.system.cherrypick_snapshot('db.t', {staged.snapshot_id})"
    )
    assert (source, current) == (staged.snapshot_id, sql.metadata().current_snapshot_id)
    assert [row[0] for row in sql("SELECT id FROM db.t ORDER BY id")] == [1, 2, 3, 4, 5]


@pytest.mark.spark
def test_files_are_added(sql: Sql, tmp_path: Path) -> None:
    sql("CREATE TABLE db.plain (id BIGINT) USING iceberg")
    sql.session.range(3).write.parquet(f"file://{tmp_path}/ready")
    source = f"`parquet`.`{tmp_path}/ready`"
    sql(f"CALL mock.system.add_files(table => 'db.plain', source_table => '{source}')")
    assert sql("SELECT count(*) FROM db.plain") == [(3,)]


@pytest.mark.spark
def test_a_table_is_registered(sql: Sql) -> None:
    ((latest,),) = sql("SELECT file FROM db.t.metadata_log_entries ORDER BY timestamp DESC LIMIT 1")
    called = sql(f"CALL mock.system.register_table('db.again', '{latest}')")
    assert called == [(sql.metadata("again").current_snapshot_id, 3, 3)]
    assert sql("SELECT count(*) FROM db.again") == [(3,)]


@pytest.mark.spark
def test_a_table_is_copied_elsewhere(sql: Sql, tmp_path: Path) -> None:
    old, new = f"file:{tmp_path}/old", f"file:{tmp_path}/new"
    sql(f"CREATE TABLE db.old (id BIGINT) USING iceberg LOCATION '{old}'")
    sql("INSERT INTO db.old VALUES (1), (2), (3)")
    ((latest, listed),) = sql(f"CALL mock.system.rewrite_table_path('db.old', '{old}', '{new}')")
    for line in sql.session.read.csv(listed).collect():
        source, target = (Path(each.removeprefix("file:")) for each in line)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    sql(f"CALL mock.system.register_table('db.new', '{new}/metadata/{latest}')")
    sql("DROP TABLE db.old PURGE")
    assert sql.metadata("new").location == new
    assert sql("SELECT id FROM db.new ORDER BY id") == [(1,), (2,), (3,)]
