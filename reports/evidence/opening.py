"""Opens the evidence in a catalog: starts Spark for it, and says beforehand what cannot work."""

import contextlib
import re
import socket
from collections.abc import Iterator
from pathlib import Path

from icecheck.reports.evidence.store import Store
from icecheck.spark.catalog_conf import catalog_conf
from icecheck.spark.launcher import WORKING_FLAGS, find_installation, require_rows_for_python
from icecheck.spark.session import SparkWorkbench
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.targets.target import Target, UsageError

CATALOG = "evidence"
_REACHED_SECONDS = 5.0

_OF_THE_SESSION = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.shuffle.partitions": "8",
    # Rows that are handed to Python are whole documents, or stand for whole files.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",
    "spark.sql.session.timeZone": "UTC",
    # It would make the rows of a merge twice, to look which files match: conditions say that.
    "spark.sql.optimizer.runtime.rowLevelOperationGroupFilter.enabled": "false",
}


@contextlib.contextmanager
def opened(
    target: Target,
    *,
    prefix: str,
    master: str = "local[2]",
    local_root: Path | None = None,
) -> Iterator[Store]:
    """Yield the evidence in a REST catalog, its tables made where they were missing.

    ``master`` is Spark's; ``local_root`` is the directory of the tables where they are on this
    machine. Raises SparkUnavailable, or UsageError for a root that the executors do not see.
    """
    after_its_end = "what was not finished is completed by the next ingestion"
    with working_spark(master, "icecheck evidence", after_its_end) as workbench:
        store = store_in(workbench, target, prefix)
        if local_root is not None and not master.startswith("local"):
            _expect_seen(store, local_root)
        store.prepare()
        yield store


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
    if not master.startswith("local"):
        # Executors elsewhere have no class path of ours.
        jars = find_installation().runtime.jars
        conf |= {"spark.jars": ",".join(map(str, jars))} if jars else {}
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


def store_in(workbench: SparkWorkbench, target: Target, prefix: str) -> Store:
    """Return the evidence in a catalog, in a new session of a Spark that runs already."""
    workbench.prepare_tls(target)
    session = workbench.catalog_session(CATALOG, catalog_conf(target))
    for name, value in _OF_THE_SESSION.items():
        session.conf.set(name, value)
    return Store(session, CATALOG, prefix)


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


def _expect_seen(store: Store, root: Path) -> None:
    """Raise UsageError where an executor does not see the directory of the tables."""
    path = str(root)
    context = store.spark.sparkContext
    seen = context.parallelize(range(8), 8).map(lambda _: Path(path).is_dir()).collect()
    if not all(seen):
        raise UsageError(
            f"the executors of {context.master} do not see {root}: name a directory that they "
            "share (--root), or a catalog with an object store (--catalog-url)"
        )
