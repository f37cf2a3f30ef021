"""The pytest fixtures of the checks, for the conftest of each folder of checks.

They stand there, and not in the plugin, so that only checks have them: `catalog` and `spark` are
names that other projects use too, whose fixtures the checks must not meet either.
"""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from icecheck.client import Catalog
    from icecheck.recording import Recorder

__all__ = ["RUN_PLUGIN", "catalog", "spark"]

RUN_PLUGIN = "icecheck-run"
"""The name under which a run, which has a Recorder, is registered as a plugin."""


@pytest.fixture
def catalog(request: pytest.FixtureRequest) -> "Catalog":
    """The catalog under test; replaced by one that bears the check's id when a check runs."""
    from icecheck.client import Catalog

    return Catalog(_recorder(request).session, "fixture")


@pytest.fixture
def spark(request: pytest.FixtureRequest) -> Any:
    """A running Spark, started when the first check wants it."""
    return _recorder(request).bench


def _recorder(request: pytest.FixtureRequest) -> "Recorder":
    run = request.config.pluginmanager.get_plugin(RUN_PLUGIN)
    if run is None:
        pytest.fail("a check needs a catalog: add --catalog-url URL", pytrace=False)
    recorder: Recorder = run.recorder
    return recorder
