"""A Spark for a job over much data, here or on a cluster; it says beforehand what cannot work."""

import contextlib
import re
import socket
from collections.abc import Iterator

from icecheck.spark.launcher import WORKING_FLAGS, require_rows_for_python
from icecheck.spark.session import SparkWorkbench
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.targets.target import UsageError

_REACHED_SECONDS = 5.0


@contextlib.contextmanager
def working_spark(master: str, name: str, after_its_end: str) -> Iterator[SparkWorkbench]:
    """Yield a Spark for a job over much data; ``name`` is the application's.

    Raises SparkUnavailable, with the words ``after_its_end`` if Spark ends during the block, or
    UsageError for a master that is none.
    """
    expect_master(master)
    conf = {
        "spark.app.name": name,
        "spark.master": master,
        "spark.default.parallelism": "2",
    }
    with (
        SparkWorkbench.start(conf, flags=WORKING_FLAGS, needs=require_rows_for_python) as workbench,
        _saying_why_it_ended(workbench, after_its_end),
    ):
        yield workbench


@contextlib.contextmanager
def _saying_why_it_ended(workbench: SparkWorkbench, after_its_end: str) -> Iterator[None]:
    """Raise SparkUnavailable in place of what else is raised when Spark is gone."""
    from py4j.protocol import Py4JError

    try:
        yield
    except (Py4JError, OSError) as error:
        if why := workbench.ended_because():
            raise SparkUnavailable(f"{why}; {after_its_end}") from error
        raise


def expect_master(master: str) -> None:
    """Raise UsageError for a master that is none, or a Spark master that does not answer."""
    if re.fullmatch(r"local(\[.+\])?|yarn|k8s://.+", master):
        return
    given = re.fullmatch(r"spark://([^:/,]+|\[[^]]+\]):(\d+)(,.*)?", master)
    if given is None:
        raise UsageError(f"--master {master} is none of Spark: local[2], or spark://HOST:PORT")
    try:
        socket.create_connection((given[1].strip("[]"), int(given[2])), _REACHED_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"no Spark master answers at {master} ({error}): start it, or leave --master out"
        ) from None
