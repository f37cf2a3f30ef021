"""The pytest fixtures that the checks request."""

from icecheck.pytest.check_fixtures import catalog, spark, spark_if_installed

__all__ = ["catalog", "spark", "spark_if_installed"]
