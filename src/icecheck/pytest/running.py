"""The run of a pytest session, found where it is registered: as a plugin under a name of its own.

Loaded in every pytest run of an environment that has icecheck: what makes the run is not imported.
"""

from typing import TYPE_CHECKING

import pytest

from icecheck.pytest.check_fixtures import RUN_PLUGIN

if TYPE_CHECKING:
    from icecheck.pytest.run import CatalogRun

__all__ = ["running"]


def running(config: pytest.Config) -> "CatalogRun | None":
    """Return what runs checks and gives tests the catalog, where one was named."""
    run: CatalogRun | None = config.pluginmanager.get_plugin(RUN_PLUGIN)
    return run
