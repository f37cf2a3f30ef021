"""Starts the Spark that checks take as ``spark``, from what the command line was told."""

from collections.abc import Mapping

from icecheck.spark.session import SparkWorkbench

__all__ = ["start_bench"]


def start_bench(options: Mapping[str, str]) -> SparkWorkbench:
    """Start Spark; ``jar`` is a path and ``packages`` Maven coordinates of an Iceberg runtime.

    Raises SparkUnavailable, whose message says what to install.
    """
    return SparkWorkbench.start(jar=options.get("jar"), packages=options.get("packages"))
