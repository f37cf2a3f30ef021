"""The course of the pipeline, stage by stage, each compared with what pandas computed."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from icecheck.spark_tests.pipeline import tables
from icecheck.spark_tests.pipeline.comparing import Comparison, Difference
from icecheck.spark_tests.pipeline.events import COLUMNS, LATER_COLUMNS
from icecheck.spark_tests.pipeline.expected import Expected
from icecheck.spark_tests.pipeline.landing import Landing
from icecheck.spark_tests.pipeline.retail import Retail
from icecheck.spark_tests.pipeline.scale import DAYS, Scale
from icecheck.spark_tests.pipeline.tables import KINDS
from icecheck.witnesses.spark_failures import read_failure

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LANDING, CHECKPOINT = "landing", "checkpoint"
_BRANCH = "audit"
_TAGGED = ("orders", "revenue")


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage that has ended: rows that were compared, seconds, and what differs, if anything."""

    name: str
    rows: int
    seconds: float
    difference: Difference | None = None


class Progress(Protocol):
    """The steps that are done: what is remembered of them may outlive the process."""

    def has(self, step: str) -> bool:
        """Return whether a step was done."""

    def add(self, step: str) -> None:
        """Remember that a step is done."""


class Forgetful:
    """Progress of a course that begins at its beginning."""

    def has(self, step: str) -> bool:  # noqa: ARG002 - nothing was done before
        """Return False: no step was done before."""
        return False

    def add(self, step: str) -> None:
        """Remember nothing."""


@dataclass(frozen=True, slots=True)
class _Side:
    """Rows in Spark and what they have to be: an Arrow table or a pandas frame."""

    what: str
    found: "DataFrame"
    wanted: Any
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Course:
    """A pipeline, what its tables have to hold, and which of its steps are done.

    Each method yields stages. A step that was done before is neither done nor compared again. What
    Spark raises is raised.
    """

    retail: Retail
    expected: Expected
    comparison: Comparison
    progress: Progress = field(default_factory=Forgetful)

    def whole(
        self, *, with_refs: Callable[[], bool], with_view: bool, again: bool = False
    ) -> Iterator[Stage]:
        """Yield all stages; with ``again`` every table is compared at the end once more.

        ``with_refs`` tells whether the catalog keeps branches and tags: then gold is published from
        a branch, and the figures of each day bear its name. It is asked when gold is there.
        """
        refs = False
        for day in DAYS:
            yield from self.streamed(day)
            yield from self.silver(day)
            if day == DAYS[0]:
                yield from self.gold(day)
                refs = with_refs()
            else:
                yield from self.published(day) if refs else self.gold(day)
            if refs:
                yield from self.tagged(day)
        if with_view:
            yield from self.view(DAYS[-1])
        yield from self.compaction(DAYS[-1], KINDS)
        yield from self.expiry(DAYS[-1], KINDS)
        if refs:
            yield from self.history()
        if again:
            # Whatever was done before, this is done in each process.
            yield from replace(self, progress=Forgetful()).everything(DAYS[-1])

    def refusal_of_branches(self) -> str:
        """Return how the catalog refuses a branch of gold; "" if it keeps one, which is dropped."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            self.retail.branch(_BRANCH)
        except (Py4JError, PySparkException) as error:
            failure = read_failure(error, self.retail.tables.placeholders)
            if failure is None or not failure.refused:
                raise
            return failure.words
        self.retail.drop_branch(_BRANCH)
        return ""

    def wanted_figures(self, day: int) -> "DataFrame":
        """Return the figures that gold has to have after a day, as rows that Spark can write."""
        from decimal import Decimal

        columns = (
            "day STRING, country STRING, orders BIGINT, units BIGINT, revenue DECIMAL(18, 2), "
        )
        rows = [
            (row.day, row.country, row.orders, row.units, Decimal(row.revenue_cents) / 100,
             row.customers)
            for row in self.expected.revenue(day).itertuples()
        ]  # fmt: skip
        frame = self.retail.session.createDataFrame(rows, f"{columns} customers BIGINT")
        return frame.withColumn("day", frame["day"].cast("date"))

    def streamed(self, day: int) -> Iterator[Stage]:
        """Yield the stages in which the events of a day are streamed into bronze.

        On the last day bronze gets a column meanwhile, which the query fills once it is restarted.
        """
        retail = self.retail
        if day != DAYS[-1]:
            yield from self._step(
                f"day {day} bronze", lambda: retail.stream(day), lambda: [self._bronze(day)]
            )
            return
        yield from self._step(f"day {day} bronze", lambda: retail.stream(day))
        yield from self._step(
            f"day {day} new column", lambda: retail.stream_wide(day), lambda: [self._bronze(day)]
        )

    def silver(self, day: int) -> Iterator[Stage]:
        """Yield the stages in which the events of a day in bronze are merged into silver."""
        yield from self.orders(day)
        yield from self._step(
            f"day {day} customers",
            lambda: self.retail.merge_customers(day),
            lambda: [self._customers(day)],
        )

    def orders(self, day: int) -> Iterator[Stage]:
        """Yield the stage in which the orders of a day in bronze are merged into silver."""
        yield from self._step(
            f"day {day} orders",
            lambda: self.retail.merge_orders(day),
            lambda: [self._orders(day), self._counted(day)],
        )

    def gold(self, day: int, figures: "DataFrame | None" = None) -> Iterator[Stage]:
        """Yield the stage in which figures of a day replace gold; by default silver's."""
        yield from self._step(
            f"day {day} gold",
            lambda: self.retail.write_figures(self._figures(figures)),
            lambda: [self._revenue(day)],
        )

    def published(self, day: int, figures: "DataFrame | None" = None) -> Iterator[Stage]:
        """Yield the stages in which a bad batch is caught on a branch, and a good one published.

        ``figures`` are those of the day; by default silver's.
        """
        yield from self._step(
            f"day {day} bad batch",
            lambda: self._catch(day),
            lambda: [self._revenue(day - 1)],
        )
        yield from self._step(
            f"day {day} publish",
            lambda: self._publish(self._figures(figures)),
            lambda: [self._revenue(day)],
        )

    def tagged(self, day: int) -> Iterator[Stage]:
        """Yield the stage in which the tables of a day get a tag that is named after it."""
        yield from self._step(f"day {day} tags", lambda: self._tag(day))

    def view(self, day: int) -> Iterator[Stage]:
        """Yield the stage in which a view of gold is made."""
        yield from self._step("view", self.retail.create_view, lambda: [self._by_country(day)])

    def viewed(self, day: int) -> Iterator[Stage]:
        """Yield the stage in which a view is read that was made before."""
        yield from self._step("view again", lambda: None, lambda: [self._by_country(day)])

    def compaction(self, day: int, kinds: Sequence[str]) -> Iterator[Stage]:
        """Yield the stage in which files of tables are rewritten: no row changes."""

        def compact() -> None:
            for kind in kinds:
                self.retail.compact(kind)

        def compared() -> Iterator[_Side]:
            # What expiry compares again, row by row, is only counted here.
            for kind in kinds:
                if kind == "bronze":
                    yield from (self._counted(each) for each in DAYS[:day])
                else:
                    yield self._side_of(kind, day)

        yield from self._step("compaction", compact, compared)

    def expiry(self, day: int, kinds: Sequence[str]) -> Iterator[Stage]:
        """Yield the stage in which snapshots expire that nothing names: no row changes."""

        def expire() -> Difference | None:
            for kind in kinds:
                self.retail.expire(kind)
                every, named = self.retail.snapshots(kind)
                if every != named:
                    return _same_number(f"expiry of {kind}", named, every, "snapshots")
            return None

        yield from self._step("expiry", expire, lambda: self._all_of(day, kinds))

    def everything(self, day: int) -> Iterator[Stage]:
        """Yield the stage in which all tables are compared as they are."""
        yield from self._step("all tables", lambda: None, lambda: self._all_of(day, KINDS))

    def as_of(self, day: int, snapshot: str) -> Iterator[Stage]:
        """Yield the stage in which the orders of an earlier day are read by their snapshot."""
        yield from self._step(
            f"as of day {day}", lambda: None, lambda: [self._orders(day, snapshot)]
        )

    def history(self) -> Iterator[Stage]:
        """Yield the stage in which the figures and orders of each day are read by their tags."""

        def compared() -> Iterator[_Side]:
            for day in DAYS:
                yield self._revenue(day, f"'{_tag_of(day)}'")
                yield self._orders(day, f"'{_tag_of(day)}'")

        yield from self._step("history", lambda: None, compared)

    # -------------------------------------------------------------------------- what is compared

    def _bronze(self, day: int) -> _Side:
        """Return the events of a day in bronze, and in the files."""
        bronze = self.retail.tables.bronze
        # The later columns are not there on the first day.
        later = [each for each in LATER_COLUMNS if each in self.retail.columns("bronze")]
        query = tables.compared(bronze, ", ".join((tables.RECEIVED, *later)))
        found = self.retail.session.sql(f"{query} WHERE day = {day}")
        wanted = self.expected.received(day).select([*COLUMNS, *later])
        return _Side(f"bronze of day {day}", found, wanted, ("event_id", *later))

    def _orders(self, day: int, version: str = "") -> _Side:
        """Return silver's orders, and what they have to be after a day."""
        found = self._read(self.retail.tables.orders, tables.ORDERS, version)
        return _Side(f"orders after day {day}", found, self.expected.orders(day), ("order_id",))

    def _customers(self, day: int) -> _Side:
        """Return the histories of customers, and what they have to be after a day."""
        found = self._read(self.retail.tables.customers, tables.CUSTOMERS)
        keys = ("customer_id", "valid_from")
        return _Side(f"customers after day {day}", found, self.expected.customers(day), keys)

    def _revenue(self, day: int, version: str = "") -> _Side:
        """Return gold now or in a version, and what it has to be after a day."""
        found = self._read(self.retail.tables.revenue, tables.REVENUE, version)
        what = f"gold after day {day}" + (f" as of {version}" if version.startswith("'") else "")
        return _Side(what, found, self.expected.revenue(day), ("day", "country"))

    def _by_country(self, day: int) -> _Side:
        """Return the rows of the view, and what they have to be after a day."""
        found = self._read(self.retail.tables.by_country, tables.BY_COUNTRY)
        return _Side(f"view after day {day}", found, self.expected.by_country(day), ("country",))

    def _counted(self, day: int) -> _Side:
        found = self.retail.session.sql(self.retail.tables.counted(day))
        return _Side(f"events of day {day}", found, self.expected.counted(day), ("kind",))

    def _side_of(self, kind: str, day: int) -> _Side:
        sides = {"orders": self._orders, "customers": self._customers, "revenue": self._revenue}
        return sides[kind](day)

    def _all_of(self, day: int, kinds: Sequence[str]) -> Iterator[_Side]:
        """Yield every row of tables, and what they have to be after a day."""
        for kind in kinds:
            if kind == "bronze":
                yield from (self._bronze(each) for each in DAYS[:day])
            else:
                yield self._side_of(kind, day)

    def _read(self, table: str, columns: str, version: str = "") -> "DataFrame":
        return self.retail.session.sql(tables.compared(table, columns, version))

    # -------------------------------------------------------------------------------- what is done

    def _figures(self, given: "DataFrame | None") -> "DataFrame":
        return self.retail.figures() if given is None else given

    def _catch(self, day: int) -> Difference | None:
        """Write a bad batch to a branch, audit it, and drop the branch."""
        retail = self.retail
        before = retail.snapshot("revenue")
        retail.branch(_BRANCH)
        retail.spoil_figures(_BRANCH)
        found = retail.faults(_BRANCH)
        retail.drop_branch(_BRANCH)
        after = retail.snapshot("revenue")
        if after != before:
            return Difference("a bad batch on a branch", "main stays at its snapshot", "it moves")
        # Each row that was added is wrong, and one too many for its day and country.
        faults = 2 * len(self.expected.revenue(day - 1))
        return _same_number("the audit of a bad batch", faults, found, "faults")

    def _publish(self, good: "DataFrame") -> Difference | None:
        """Write figures to a branch, audit them, and fast-forward main to it."""
        retail = self.retail
        retail.branch(_BRANCH)
        retail.write_figures(good, _BRANCH)
        if (found := retail.faults(_BRANCH)) == 0:
            retail.publish(_BRANCH)
        return _same_number("the audit of a good batch", 0, found, "faults")

    def _tag(self, day: int) -> None:
        for kind in _TAGGED:
            self.retail.tag(kind, _tag_of(day))

    def _step(
        self,
        name: str,
        act: Callable[[], Difference | None],
        compared: Callable[[], Iterable[_Side]] = lambda: (),
    ) -> Iterator[Stage]:
        """Do a step and compare what it made; yield nothing if it was done before."""
        if self.progress.has(name):
            return
        began = time.monotonic()
        difference, rows = act(), 0
        for side in () if difference is not None else compared():
            rows += len(side.wanted)
            difference = self.comparison.difference(side.what, side.found, side.wanted, side.keys)
            if difference is not None:
                break
        if difference is None:
            self.progress.add(name)
        yield Stage(name, rows, time.monotonic() - began, difference)


def _tag_of(day: int) -> str:
    return f"day_{day}"


def _same_number(where: str, wanted: int, found: int, what: str) -> Difference | None:
    return None if wanted == found else Difference(where, f"{wanted} {what}", str(found))


def course_in(
    directory: Path,
    session: "SparkSession",
    tables_: tables.Tables,
    scale: Scale,
    *,
    progress: Progress | None = None,
    tasks: bool = False,
) -> Course:
    """Return a course whose files lie in a directory; with ``tasks`` Spark's tasks draw events."""
    for name in (LANDING, CHECKPOINT):
        (directory / name).mkdir(exist_ok=True)
    landing = Landing(directory / LANDING, scale, session if tasks else None)
    retail = Retail(session, tables_, landing, directory / CHECKPOINT)
    expected = Expected(directory / LANDING, scale)
    return Course(retail, expected, Comparison(directory), progress or Forgetful())
