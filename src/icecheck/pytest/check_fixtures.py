"""The pytest fixtures of the checks, for the conftest of each folder of checks.

They are not in the plugin, so that only checks have them: other projects may have fixtures named
`catalog` and `spark` too, which the checks must not use either.
"""

from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from icecheck.client.catalog import Catalog
    from icecheck.spark.session import SparkWorkbench

RUN_PLUGIN = "icecheck-run"
"""The name under which a run is registered as a plugin; its ``recorder`` gives the fixtures."""


class _Recorder(Protocol):
    @property
    def catalog(self) -> "Catalog": ...

    @property
    def spark(self) -> "SparkWorkbench": ...


@pytest.fixture
def catalog(request: pytest.FixtureRequest) -> "Catalog":
    """The catalog under test; replaced by one that bears the check's id when a check runs."""
    return _recorder(request).catalog


@pytest.fixture
def spark(request: pytest.FixtureRequest) -> "SparkWorkbench":
    """A running Spark, started when the first check wants it."""
    return _recorder(request).spark


@pytest.fixture
def spark_if_installed() -> None:
    """The run's Spark, if there is one; filled in when a check runs."""


def _recorder(request: pytest.FixtureRequest) -> _Recorder:
    run = request.config.pluginmanager.get_plugin(RUN_PLUGIN)
    if run is None:
        pytest.fail("a check needs a catalog: add --catalog-url URL", pytrace=False)
    recorder: _Recorder = run.recorder
    return recorder
