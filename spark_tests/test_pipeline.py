"""A check of a data pipeline through the catalog, compared with figures computed without Spark."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.judging.check import check
from icecheck.replies.expect import Violation
from icecheck.spark_tests.orders import CleanOrder, gold_rows, make_batches, upsert
from icecheck.spark_tests.pipeline import FIGURES, Pipeline
from icecheck.witnesses.spark_statements import (
    Row,
    SparkSource,
    judged_by_spark,
    qualified,
    spark_session,
)


@check("spark.pipeline.orders", proves="client.spark.pipeline")
def test_orders_pipeline(catalog: Catalog, spark: SparkSource) -> None:
    """Orders flow from bronze to silver to gold, with the figures that plain Python gives."""
    first_batch, second_batch = make_batches(catalog.session.seed)
    silver_first, rejected_first = upsert({}, first_batch)
    silver_second, rejected_second = upsert(silver_first, second_batch)

    with tempfile.TemporaryDirectory(prefix="icecheck-orders-") as landing:
        pipeline = _given_pipeline(catalog, spark, Path(landing))
        with judged_by_spark("the orders pipeline", pipeline.names):
            pipeline.create()
            pipeline.receive(1, first_batch)
            pipeline.clean(since=None)
            pipeline.summarise()
            bronze_then = pipeline.snapshot(pipeline.bronze)
            silver_then = pipeline.snapshot(pipeline.silver)
            gold_then = pipeline.snapshot(pipeline.gold)
            _expect_tables(pipeline, silver_first, "after the first batch")
            _expect("rejected records of the first batch", rejected_first, pipeline.rejected(1))

            pipeline.receive(2, second_batch)
            pipeline.clean(since=bronze_then)
            pipeline.summarise()
            _expect_tables(pipeline, silver_second, "after the second batch")
            _expect("rejected records of the second batch", rejected_second, pipeline.rejected(2))

            silver_as_of, gold_as_of = _rows(silver_first)
            _expect_rows("silver as of then", silver_as_of, pipeline.silver_rows(silver_then))
            _expect_rows("gold as of then", gold_as_of, pipeline.gold_rows(gold_then))


def _given_pipeline(catalog: Catalog, spark: SparkSource, landing: Path) -> Pipeline:
    namespace = given_namespace(catalog)
    session, catalog_name = spark_session(catalog, spark)
    names = [catalog.new_name(f"_{layer}") for layer in ("bronze", "silver", "gold")]
    for name in names:
        catalog.ledger_table(namespace, name)
    bronze, silver, gold = (qualified((catalog_name, *namespace, name)) for name in names)
    return Pipeline(session, bronze, silver, gold, landing)


def _rows(orders: Mapping[str, CleanOrder]) -> tuple[list[Row], list[Row]]:
    """Return the expected rows of silver and gold for these orders, in order."""
    silver: list[Row] = [orders[order_id].as_text() for order_id in sorted(orders)]
    return silver, [row.as_text() for row in gold_rows(orders.values())]


def _expect_tables(pipeline: Pipeline, orders: Mapping[str, CleanOrder], when: str) -> None:
    silver, gold = _rows(orders)
    _expect_rows(f"silver {when}", silver, pipeline.silver_rows())
    _expect_rows(f"gold {when}", gold, pipeline.gold_rows())


def _expect(what: str, expected: int, actual: int) -> None:
    if actual != expected:
        raise Violation(FIGURES, f"{expected} {what}", str(actual))


def _expect_rows(what: str, expected: Sequence[Row], actual: Sequence[Row]) -> None:
    """Compare two lists of rows in order; the finding shows the first difference."""
    _expect(f"rows in {what}", len(expected), len(actual))
    for number, (wanted, got) in enumerate(zip(expected, actual, strict=True)):
        if wanted != got:
            raise Violation(
                FIGURES,
                " | ".join(map(str, wanted)),
                " | ".join(map(str, got)),
                detail=f"row {number} of {what}",
            )
