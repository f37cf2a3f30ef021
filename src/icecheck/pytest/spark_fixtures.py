"""The pytest fixture `iceberg_spark`: Spark on a test's own warehouse of the mock catalog.

This module is loaded in every pytest run of an environment that has icecheck, so it imports Spark
where it is used. It is not with the mock's other fixtures, because the mock does not depend on
Spark.
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
        # A skip would hide that Spark is missing in a build that should have it.
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
    # Requested here, not as an argument: without settings no JVM is started.
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
