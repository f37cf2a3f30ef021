"""The pytest fixtures that the checks request."""

from icecheck.pytest.check_fixtures import catalog, spark

__all__ = ["catalog", "spark"]
