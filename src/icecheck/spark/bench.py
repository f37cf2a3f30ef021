"""Starts the Spark that checks take as ``spark``, with the options of the command line."""

from collections.abc import Mapping
from contextlib import ExitStack

from icecheck.spark.session import SparkWorkbench
from icecheck.targets.target import Target

_LOGS_OF_ERRORS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


def start_bench(options: Mapping[str, str], target: Target) -> SparkWorkbench:
    """Start Spark for a target; ``jar`` is a path, ``packages`` Maven coordinates of a runtime.

    Raises SparkUnavailable, whose message says what to install or to change.
    """
    bench = SparkWorkbench.start(jar=options.get("jar"), packages=options.get("packages"))
    with ExitStack() as undo:
        undo.callback(bench.stop)
        bench.prepare_tls(target)
        _silence_logs()
        undo.pop_all()
    return bench


def _silence_logs() -> None:
    """Let PySpark 4 not print each error that it raises: a check may expect it."""
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:  # PySpark 3.5 prints none
        return
    for name in _LOGS_OF_ERRORS:
        PySparkLogger.getLogger(name).disabled = True
