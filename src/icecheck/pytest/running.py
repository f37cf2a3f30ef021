"""Finds the run of a pytest session: it is registered as a plugin under its own name.

This module is loaded in every pytest run of an environment that has icecheck, so it does not import
the run.
"""

from typing import TYPE_CHECKING

import pytest

from icecheck.pytest.check_fixtures import RUN_PLUGIN

if TYPE_CHECKING:
    from icecheck.pytest.run import CatalogRun


def running(config: pytest.Config) -> "CatalogRun | None":
    """Return the run that judges checks and gives tests the catalog; None without a catalog."""
    run: CatalogRun | None = config.pluginmanager.get_plugin(RUN_PLUGIN)
    return run
