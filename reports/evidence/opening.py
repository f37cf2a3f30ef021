"""Opens the evidence in a catalog: starts Spark for it, and says beforehand what cannot work."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from icecheck.reports.evidence.declared_tables import FILES
from icecheck.reports.evidence.store import Store
from icecheck.spark.catalog_conf import catalog_conf
from icecheck.spark.session import SparkWorkbench
from icecheck.spark.working import working_spark
from icecheck.targets.target import Target, UsageError

CATALOG = "evidence"

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
    only_asked: bool = False,
) -> Iterator[Store]:
    """Yield the evidence in a REST catalog, its tables made where they were missing.

    ``master`` is Spark's; ``local_root`` is the directory of the tables where they are on this
    machine. If the evidence is ``only_asked``, nothing is made where there is none. Raises
    SparkUnavailable, or UsageError for that and for a root that the executors do not see.
    """
    after_its_end = "what was not finished is completed by the next ingestion"
    with working_spark(master, "icecheck evidence", after_its_end) as workbench:
        store = store_in(workbench, target, prefix)
        if local_root is not None and not master.startswith("local"):
            _expect_seen(store, local_root)
        if only_asked and not store.has(FILES):
            raise UsageError(nothing_taken_in(str(local_root or f"{target.base_url} ({prefix})")))
        store.prepare()
        yield store


def nothing_taken_in(place: str) -> str:
    """Return what is said of a place without evidence."""
    return (
        f"nothing was taken in at {place} yet: take runs in with `icecheck evidence ingest`, or "
        "name another place (--root, --catalog-url)"
    )


def store_in(workbench: SparkWorkbench, target: Target, prefix: str) -> Store:
    """Return the evidence in a catalog, in a new session of a Spark that runs already."""
    workbench.prepare_tls(target)
    session = workbench.catalog_session(CATALOG, catalog_conf(target))
    for name, value in _OF_THE_SESSION.items():
        session.conf.set(name, value)
    return Store(session, CATALOG, prefix)


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
