"""Spark's S3FileIO writes and reads tables in the object store: with credentials, and without."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from icecheck.mock_server import MockCatalog, WarehouseDeclaration
from icecheck.spark.runtime import wheel_jar
from tests.mock.objects.conftest import sender
from tests.reference.packages import Jar, fetch_jars, java_command

PROGRAM = """
import json, sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[2]").config(map=json.loads(sys.argv[1])).getOrCreate()
for statement in (
    "CREATE NAMESPACE c.db",
    "CREATE TABLE c.db.t (id BIGINT, name STRING) PARTITIONED BY (bucket(4, id))"
    " TBLPROPERTIES ('write.delete.mode'='merge-on-read', 'format-version'='2')",
    "INSERT INTO c.db.t SELECT id, CAST(id AS STRING) FROM range(1000)",
    "DELETE FROM c.db.t WHERE id % 10 = 0",
    "CALL c.system.rewrite_data_files('db.t')",
    "CALL c.system.expire_snapshots(table => 'db.t', "
    "older_than => TIMESTAMP '2999-01-01 00:00:00')",
    "CREATE TABLE c.db.other AS SELECT * FROM c.db.t",
):
    spark.sql(statement).collect()
count, = spark.sql("SELECT count(*), sum(id) FROM c.db.t").collect()
files = [row.file_path for row in spark.sql("SELECT file_path FROM c.db.t.files").collect()]
spark.sql("DROP TABLE c.db.t PURGE").collect()
print(json.dumps({"count": list(count), "files": files}))
"""


@pytest.mark.spark
@pytest.mark.complete("starts a JVM of its own, with a jar of 55 MB from Maven Central")
@pytest.mark.parametrize("delegation", ["vended-credentials", "remote-signing"])
def test_spark_writes_reads_maintains_and_purges(delegation: str, tmp_path: Path) -> None:
    name = "iceberg-aws-bundle-1.10.1"
    bundle = fetch_jars(name, [Jar("org.apache.iceberg", "iceberg-aws-bundle", "1.10.1")])
    jars = f"{wheel_jar()},{bundle / name}.jar"
    lake = WarehouseDeclaration("wh", location="s3://lake/wh")
    with MockCatalog(warehouses=[lake]) as mock:
        conf = {
            **mock.spark_conf("c", "wh"),
            "spark.sql.catalog.c.header.X-Iceberg-Access-Delegation": delegation,
            "spark.jars": jars,
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
        }
        java_home = str(Path(java_command()).parent.parent)
        kept = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, json.dumps(conf)],
            env={**kept, "JAVA_HOME": java_home},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        told = json.loads(done.stdout.splitlines()[-1])
        assert told["count"] == [900, sum(n for n in range(1000) if n % 10)]
        assert told["files"]
        assert all(each.startswith("s3://lake/wh/db/t-") for each in told["files"])
        assert mock.objects is not None
        listed = sender(mock.objects.properties()).ask("GET", "/lake?list-type=2&prefix=wh%2Fdb%2F")
        assert b"wh/db/other-" in listed.body
        assert b"wh/db/t-" not in listed.body
        signed = mock.journal.count("signRequest", status=200)
        assert (signed > 0) == (delegation == "remote-signing")
        assert mock.pyiceberg("wh").load_table("db.other").scan().to_arrow().num_rows == 900
