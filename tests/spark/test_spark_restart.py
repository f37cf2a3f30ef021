"""Spark stops without leaving anything, and can be started again in the same process."""

import os
import signal

import pytest

from icecheck.spark import SparkWorkbench
from tests.kit.one_spark import OneSpark

pytestmark = pytest.mark.spark

IN_MEMORY = {"catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog"}


@pytest.mark.complete("starts two JVMs; many tests start one and stop it")
def test_after_stop_nothing_is_left_and_spark_can_start_again(one_spark: OneSpark) -> None:
    one_spark.stop()
    environment, interrupt = dict(os.environ), signal.getsignal(signal.SIGINT)
    first = SparkWorkbench.start({"spark.app.name": "first"})
    process, directory = first._jvm._process, first._jvm.work_directory
    assert directory.is_dir()
    assert first.catalog_session("x", IN_MEMORY).conf.get("spark.app.name") == "first"
    first.stop()
    first.stop()
    assert process.returncode == 0
    assert not directory.exists()
    with SparkWorkbench.start() as again:
        assert again.catalog_session("x", IN_MEMORY).sql("SELECT 1").collect()[0][0] == 1
    assert signal.getsignal(signal.SIGINT) is interrupt
    assert {k: v for k, v in os.environ.items() if k.startswith(("PYSPARK", "JAVA"))} == {
        k: v for k, v in environment.items() if k.startswith(("PYSPARK", "JAVA"))
    }
