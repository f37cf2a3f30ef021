"""The pytest fixture `iceberg_spark`: Spark on a test's own warehouse of the mock catalog.

Loaded in every pytest run of an environment that has icecheck: Spark is imported when it is used.
It stands here and not with the mock's other fixtures, because the mock knows nothing of Spark.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from icecheck.spark import SparkWorkbench


@pytest.fixture(scope="session")
def iceberg_spark_workbench() -> "Iterator[SparkWorkbench]":
    """One JVM with Spark and Iceberg for the session; override it to configure it.

    A test fails, in one line that says what to install, where there can be none.
    """
    from icecheck.spark import SparkUnavailable, SparkWorkbench

    try:
        started = SparkWorkbench.start()
    except SparkUnavailable as unavailable:
        # Skipping would look green in a build where Spark was to be had.
        pytest.fail(str(unavailable), pytrace=False)
    with started:
        yield started


@pytest.fixture
def iceberg_spark(
    request: pytest.FixtureRequest, iceberg_spark_conf: Mapping[str, str]
) -> "SparkSession":
    """A Spark session whose default catalog, `mock`, is the test's own fresh warehouse.

    The JVM is shared; settings, temporary views and catalogs are the test's own.
    """
    # Only now, and not as an argument: where there are no settings no JVM is started.
    workbench: SparkWorkbench = request.getfixturevalue("iceberg_spark_workbench")
    name = iceberg_spark_conf["spark.sql.defaultCatalog"]
    prefix = f"spark.sql.catalog.{name}."
    session = workbench.catalog_session(
        name,
        {
            key.removeprefix(prefix): value
            for key, value in iceberg_spark_conf.items()
            if key.startswith(prefix)
        },
    )
    session.conf.set("spark.sql.defaultCatalog", name)
    return session
