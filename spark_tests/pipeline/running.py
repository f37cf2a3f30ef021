"""A whole pipeline on a catalog, as a user runs it: its place there, and what is left of it."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from icecheck.client.catalog import Catalog
from icecheck.ownership.ledger_file import LEDGER_FILE
from icecheck.spark_tests.pipeline.course import Stage, course_in
from icecheck.spark_tests.pipeline.scale import Scale
from icecheck.spark_tests.pipeline.state import State
from icecheck.spark_tests.pipeline.tables import KINDS, VIEW, Tables, tables_within
from icecheck.targets.target import Namespace, UsageError
from icecheck.witnesses.spark_statements import judged_by_spark, qualified

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHECK_ID = "pipeline"
SESSION_CONF = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.session.timeZone": "UTC",
    # It would make the rows of a merge twice, to look which files match.
    "spark.sql.optimizer.runtime.rowLevelOperationGroupFilter.enabled": "false",
}
_VIEWS = ("createView", "loadView", "replaceView")
_PROBES = 4


class Place:
    """Where a pipeline keeps its tables: a namespace of the run, all of it in the ledger.

    The same run has the same names, whenever it is gone on with.
    """

    def __init__(self, catalog: Catalog, catalog_name: str) -> None:
        self.catalog = catalog
        self.namespace: Namespace = catalog.new_namespace_name()
        self._names = {each: catalog.new_name(f"_{each}") for each in (*KINDS, VIEW)}
        self.within = (catalog_name, *self.namespace)

    @property
    def tables(self) -> Tables:
        """The names of the tables and the view in SQL."""
        return tables_within(self.within, self._names)

    @property
    def own_names(self) -> dict[str, str]:
        """Placeholder -> name, for messages about failures."""
        return {"namespace": qualified(self.namespace), **self._names}

    @property
    def has_views(self) -> bool:
        """Whether the catalog claims what the view needs."""
        return all(map(self.catalog.claims, _VIEWS))

    def enter(self) -> None:
        """Enter everything that the pipeline makes in the ledger."""
        self.catalog.ledger_namespace(self.namespace)
        for each in KINDS:
            self.catalog.ledger_table(self.namespace, self._names[each])
        if self.has_views:
            self.catalog.ledger_view(self.namespace, self._names[VIEW])


def run_course(
    session: "SparkSession", place: Place, state: State, scale: Scale
) -> Iterator[Stage]:
    """Yield the stages that are not done, up to the first that differs.

    Raises UsageError for executors that cannot write the state's directory and for tables that are
    gone, before anything is made on the catalog; Violation, NotOffered or Unreachable for a
    statement that the catalog fails.
    """
    for name, value in SESSION_CONF.items():
        session.conf.set(name, value)
    expect_writable(session, state.directory)
    tables = place.tables
    course = course_in(state.directory, session, tables, scale, progress=state, tasks=True)
    with judged_by_spark("the retail pipeline", place.own_names):
        if state.has_begun and not session.catalog.tableExists(tables.bronze):
            raise UsageError(
                f"the tables of the run in --state {state.directory} are gone: remove the "
                "directory, or name another one"
            )
        place.enter()
        _forget_earlier_ledger(state)
        session.sql(f"CREATE NAMESPACE IF NOT EXISTS {qualified(place.within)}")
        course.retail.create(*KINDS)
        stages = course.whole(
            with_refs=lambda: not course.refusal_of_branches(),
            with_view=place.has_views,
            again=state.resumed,
        )
        for stage in stages:
            yield stage
            if stage.difference is not None:
                return


def purge(session: "SparkSession", place: Place) -> None:
    """Drop the tables with their files, as far as that works; the rest stays in the ledger."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    for each in KINDS:
        with contextlib.suppress(Py4JError, PySparkException):
            session.sql(f"DROP TABLE IF EXISTS {place.tables.name(each)} PURGE")


def expect_writable(session: "SparkSession", directory: Path) -> None:
    """Raise UsageError where an executor cannot write a directory that this process reads."""
    context = session.sparkContext
    troubles = context.parallelize(range(_PROBES), _PROBES).map(_written_in(directory)).collect()
    trouble = next((each for each in troubles if each), "")
    seen = [directory / f".probe-{number}" for number in range(_PROBES)]
    missing = [each for each in seen if not each.exists()]
    for each in seen:
        each.unlink(missing_ok=True)
    if trouble or missing:
        why = trouble or "what they write there is not seen here"
        raise UsageError(
            f"the executors of {context.master} cannot write {directory} ({why}): name a "
            "directory that they share with --state DIR"
        )


def _written_in(directory: Path) -> Callable[[int], str]:
    def write(number: int) -> str:
        try:
            (directory / f".probe-{number}").write_text("")
        except OSError as error:
            return error.strerror or str(error)
        return ""

    return write


def _forget_earlier_ledger(state: State) -> None:
    """Remove the record of the process before: everything in it is entered in the new one."""
    stem, suffix = LEDGER_FILE.split(".")
    (state.directory / f"{stem}-{state.run_id}.{suffix}").unlink(missing_ok=True)
