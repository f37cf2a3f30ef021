"""The fixtures that checks ask for, for them alone."""

from icecheck.pytest.check_fixtures import catalog, spark

__all__ = ["catalog", "spark"]
