"""Without what the examples of docs/examples do, a lost answer is a row too many."""

from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import CommitStateUnknownException
from pyiceberg.table import Table
from requests.exceptions import ConnectionError as ConnectionLost

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.mock_warehouse import MockWarehouse
from icecheck.mock_server.protocol import replies

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = pa.table({"id": pa.array([1], pa.int64()), "word": ["one"]})


def test_pyiceberg_that_repeats_itself_has_a_row_too_many(
    mock: MockCatalog, catalog: RestCatalog, table: Table
) -> None:
    with mock.fault("answer-lost"), pytest.raises(ConnectionLost):
        table.append(ROWS)
    catalog.load_table("ns.t").append(ROWS)
    assert catalog.load_table("ns.t").scan().to_arrow().num_rows == 2


def test_a_commit_without_a_known_end_does_not_lose_its_files(
    mock: MockCatalog, catalog: RestCatalog, table: Table
) -> None:
    with (
        mock.fault("server-error-applied", status=504),
        pytest.raises(CommitStateUnknownException),
    ):
        table.append(ROWS)
    assert catalog.load_table("ns.t").scan().to_arrow().num_rows == 1


@pytest.mark.spark
def test_spark_that_repeats_itself_has_a_row_too_many(
    iceberg_spark: "SparkSession", mock_catalog: MockWarehouse
) -> None:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    iceberg_spark.sql("CREATE NAMESPACE db")
    iceberg_spark.sql("CREATE TABLE db.t (id BIGINT) USING iceberg")
    with mock_catalog.mock.fault("answer-lost"), pytest.raises((Py4JError, PySparkException)):
        iceberg_spark.sql("INSERT INTO db.t VALUES (1)")
    iceberg_spark.sql("INSERT INTO db.t VALUES (1)")
    assert iceberg_spark.table("db.t").count() == 2


@pytest.mark.spark
@pytest.mark.parametrize("status", [429, 503])
def test_spark_waits_when_it_is_told_to_and_needs_no_help(
    iceberg_spark: "SparkSession", mock_catalog: MockWarehouse, status: int
) -> None:
    iceberg_spark.sql("CREATE NAMESPACE db")
    iceberg_spark.sql("CREATE TABLE db.t (id BIGINT) USING iceberg")
    throttled = mock_catalog.mock.fault("throttled", operation="updateTable", status=status)
    with throttled as rule:
        iceberg_spark.sql("INSERT INTO db.t VALUES (1)")
    assert rule.fired == 1
    assert iceberg_spark.table("db.t").count() == 1


@pytest.mark.spark
@pytest.mark.parametrize("status", [429, 503])
def test_spark_that_sends_a_commit_again_finds_its_own(
    iceberg_spark: "SparkSession", mock_catalog: MockWarehouse, status: int
) -> None:
    """Applied, and told to come back: the second commit conflicts with the first, and is it."""
    iceberg_spark.sql("CREATE NAMESPACE db")
    iceberg_spark.sql("CREATE TABLE db.t (id BIGINT) USING iceberg")
    operations = mock_catalog.mock.registries.operations
    faithful = operations["updateTable"]
    lost: list[int] = []

    def losing(context: Context, state: WarehouseState, call: Call, /) -> Outcome:
        outcome = faithful(context, state, call)
        if lost:
            return outcome
        lost.append(status)
        later = replies.error_reply(status, "SlowDown", "later", (("retry-after", "1"),))
        return msgspec.structs.replace(outcome, reply=later)

    operations["updateTable"] = losing
    try:
        iceberg_spark.sql("INSERT INTO db.t VALUES (1)")
    finally:
        operations["updateTable"] = faithful
    journal = mock_catalog.mock.journal
    statuses = [e.status for e in journal.find("updateTable", warehouse=mock_catalog.warehouse)]
    assert statuses == [status, 409]
    assert iceberg_spark.table("db.t").count() == 1
