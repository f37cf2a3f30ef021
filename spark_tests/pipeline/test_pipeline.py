"""Checks of the retail pipeline on the catalog under test, with a few thousand events.

`icecheck pipeline` takes the whole course with more of them.
"""

import contextlib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.findings.symptoms import Severity, declare
from icecheck.findings.verdict import SkipKind
from icecheck.judging.check import check
from icecheck.replies.expect import NotOffered, Violation
from icecheck.witnesses.spark_statements import (
    SparkSource,
    judged_by_spark,
    qualified,
    spark_session,
)

if TYPE_CHECKING:
    from icecheck.spark_tests.pipeline.course import Course, Stage

_FIGURES = declare(
    "spark-figures",
    "A pipeline of Spark ends with other figures than are due",
    Severity.FALSE_OR_LOST,
    "Spark: the pipeline ends with other figures",
)
_ROWS = 3_000
_FEWER_ROWS = 1_000


@check("spark.pipeline.retail", proves="client.spark.pipeline")
def test_retail_pipeline(catalog: Catalog, spark: SparkSource) -> None:
    """A stream fills bronze, merges fill silver, and gold has the figures that pandas computes."""
    with _given_course(catalog, spark, _ROWS) as course:
        course.retail.create("bronze", "orders", "customers", "revenue")
        for day in (1, 2):
            _expect_equal(course.streamed(day))
            _expect_equal(course.silver(day))
            _expect_equal(course.gold(day))


@check("spark.pipeline.publish", proves="client.spark.pipeline-publish")
def test_publish(catalog: Catalog, spark: SparkSource) -> None:
    """A bad batch on a branch never reaches main, and a good one is published as it is."""
    with _given_course(catalog, spark, _FEWER_ROWS) as course:
        course.retail.create("revenue")
        course.retail.landing.arrive_all()
        _expect_equal(course.gold(1, course.wanted_figures(1)))
        _expect_branches(course)
        _expect_equal(course.published(2, course.wanted_figures(2)))


@check("spark.pipeline.upkeep", proves="client.spark.pipeline-upkeep", needs=("snapshot-history",))
def test_upkeep(catalog: Catalog, spark: SparkSource) -> None:
    """Compaction and expiry change no row, and the figures of an earlier day are read again."""
    with _given_course(catalog, spark, _FEWER_ROWS) as course:
        retail = course.retail
        retail.create("bronze", "orders")
        retail.load(1)
        _expect_equal(course.orders(1))
        earlier = retail.snapshot("orders")
        retail.load(2)
        _expect_equal(course.orders(2))
        _expect_equal(course.compaction(2, ("orders",)))
        _expect_equal(course.as_of(1, earlier))
        _expect_equal(course.expiry(2, ("orders",)))


@check("spark.pipeline.view", proves="client.spark.pipeline-view")
def test_view(catalog: Catalog, spark: SparkSource) -> None:
    """A view of gold shows the figures of the day, also after gold was replaced."""
    with _given_course(catalog, spark, _FEWER_ROWS) as course:
        course.retail.create("revenue")
        course.retail.landing.arrive_all()
        _expect_equal(course.gold(1, course.wanted_figures(1)))
        _expect_equal(course.view(1))
        _expect_equal(course.gold(2, course.wanted_figures(2)))
        _expect_equal(course.viewed(2))


@contextlib.contextmanager
def _given_course(catalog: Catalog, spark: SparkSource, rows: int) -> "Iterator[Course]":
    """Yield a pipeline with tables in a new namespace; failures in the block are the catalog's."""
    from icecheck.spark_tests.pipeline.course import course_in
    from icecheck.spark_tests.pipeline.scale import Scale
    from icecheck.spark_tests.pipeline.tables import KINDS, VIEW, tables_within

    namespace = given_namespace(catalog)
    session, catalog_name = spark_session(catalog, spark)
    names = {each: catalog.new_name(f"_{each}") for each in (*KINDS, VIEW)}
    for each in KINDS:
        catalog.ledger_table(namespace, names[each])
    catalog.ledger_view(namespace, names[VIEW])
    tables = tables_within((catalog_name, *namespace), names)
    with tempfile.TemporaryDirectory(prefix="icecheck-retail-") as directory:
        scale = Scale(rows, catalog.session.seed)
        course = course_in(Path(directory), session, tables, scale)
        own = {"namespace": qualified(namespace), **names}
        with judged_by_spark("the retail pipeline", own):
            yield course


def _expect_equal(stages: "Iterable[Stage]") -> None:
    for stage in stages:
        if (found := stage.difference) is not None:
            raise Violation(
                _FIGURES, found.expected, found.actual, detail=f"{stage.name}: {found.where}"
            )


def _expect_branches(course: "Course") -> None:
    """Raise NotOffered where the catalog refuses a branch: it may keep main alone."""
    if refused := course.refusal_of_branches():
        raise NotOffered(f"the catalog keeps no branches: {refused}", SkipKind.NOT_APPLICABLE)
