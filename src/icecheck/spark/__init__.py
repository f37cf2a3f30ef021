"""Spark on this machine: finds Java and the Iceberg runtime, starts one JVM, makes sessions.

Importing this package imports neither PySpark nor py4j: ``SparkWorkbench.start`` does.
"""

from icecheck.spark.catalog_conf import catalog_conf
from icecheck.spark.launcher import SparkInstallation, find_installation
from icecheck.spark.session import SparkWorkbench
from icecheck.spark.unavailable import SparkUnavailable

__all__ = [
    "SparkInstallation",
    "SparkUnavailable",
    "SparkWorkbench",
    "catalog_conf",
    "find_installation",
]
