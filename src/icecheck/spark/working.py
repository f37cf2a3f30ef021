"""A Spark for a job over much data, here or on a cluster; it says beforehand what cannot work."""

import contextlib
import re
import socket
from collections.abc import Iterator

from icecheck.spark.failures import told_at_once
from icecheck.spark.launcher import WORKING_FLAGS, require_rows_for_python
from icecheck.spark.session import SparkWorkbench
from icecheck.spark.unavailable import SparkFailed, SparkUnavailable
from icecheck.targets.addresses import bracketed
from icecheck.targets.target import UsageError

_REACHED_SECONDS = 5.0
_LOCAL = re.compile(r"local(\[([1-9]\d*|\*)(,[1-9]\d*)?\])?")
_HOST_AND_PORT = re.compile(r"([^:/,\s]+|\[[^]\s]+\]):(\d+)")
_STANDALONE = re.compile(rf"spark://{_HOST_AND_PORT.pattern}(,{_HOST_AND_PORT.pattern})*")


@contextlib.contextmanager
def working_spark(master: str, name: str, after_its_end: str) -> Iterator[SparkWorkbench]:
    """Yield a Spark for a job over much data; ``name`` is the application's.

    Raises SparkUnavailable, with the words ``after_its_end`` if Spark ends during the block, or
    UsageError for a master that is none.
    """
    driver = bracketed(expect_master(master))
    conf = {
        "spark.app.name": name,
        "spark.master": master,
        "spark.driver.host": driver,
        "spark.driver.bindAddress": driver,
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
        with told_at_once():
            yield
    except (Py4JError, SparkFailed, OSError) as error:
        if why := workbench.ended_because():
            raise SparkUnavailable(f"{why}; {after_its_end}") from error
        raise


def expect_master(master: str) -> str:
    """Return the IP address of this machine at which the executors of a master reach it.

    Raises UsageError for a master that icecheck cannot use, or that does not answer.
    """
    if _LOCAL.fullmatch(master):
        return "127.0.0.1"
    if not _STANDALONE.fullmatch(master):
        raise UsageError(
            f"--master {master} is none that icecheck can use: name local[2], or "
            "spark://HOST:PORT of a standalone cluster"
        )
    refused: list[OSError | OverflowError] = []
    for host, port in _HOST_AND_PORT.findall(master.removeprefix("spark://")):
        try:
            at = (host.strip("[]"), int(port))
            with socket.create_connection(at, _REACHED_SECONDS) as connection:
                # Workers are in the network of their master, and this is our address in it.
                return str(connection.getsockname()[0])
        except (OSError, OverflowError) as error:
            refused.append(error)
    raise UsageError(
        f"no Spark master answers at {master} ({refused[0]}): start it, or leave --master out"
    )
