"""The pytest plugin: options, fixtures of a catalog, and checks when ``--catalog-url`` is given.

It is loaded in every environment that has icecheck installed, so it imports nothing heavy and does
nothing unless it is asked to.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from icecheck.pytest.check_fixtures import RUN_PLUGIN
from icecheck.pytest.options import add_options, given
from icecheck.pytest.running import running
from icecheck.run.extras import SUITE, how_to_install

pytest_plugins = (
    "icecheck.mock_server.fixtures",
    "icecheck.pytest.catalog_fixtures",
    "icecheck.pytest.spark_fixtures",
)

_SUITE = ("conformance", "scenarios", "spark_tests")


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options of the target and of the suite."""
    add_options(parser, pluginmanager)


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin that runs checks, if a catalog was named."""
    url = given(config, "url")
    if url:
        from icecheck.mock_server.fixtures import REDIRECTED_TO
        from icecheck.pytest.run import CatalogRun

        run = CatalogRun.from_config(config)
        config.stash[REDIRECTED_TO] = url
        config.pluginmanager.register(run, RUN_PLUGIN)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Refuse to collect checks without the libraries that they import.

    Otherwise each file would be reported with a traceback.
    """
    if not any(_names_the_suite(argument) for argument in session.config.args):
        return
    if lacking := how_to_install(SUITE, "suite"):
        raise pytest.UsageError(lacking)


def _names_the_suite(argument: str) -> bool:
    """Return whether a positional argument is a module, a file or a directory of the suite."""
    place = argument.partition("::")[0]
    package, _, module = place.partition(".")
    if package == "icecheck" and (not module or module.split(".")[0] in _SUITE):
        return True
    here = Path(__file__).resolve().parents[1]
    folders = {(here / folder).resolve() for folder in _SUITE}
    try:
        path = Path(place).resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    return not folders.isdisjoint((path, *path.parents))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse to run checks without a catalog: they would pass without judging anything.

    With a catalog, checks that strain it are left out unless the user allows them.
    """
    if given(config, "url") or config.getoption("collectonly", default=False):
        run = running(config)
        if run is not None:
            run.leave_out(config, items)
        return
    if any(_is_check(item) for item in items):
        raise pytest.UsageError(
            "these are checks of a catalog: add --catalog-url URL, or verify the bundled mock "
            "with `icecheck run --mock`"
        )


def _is_check(item: pytest.Item) -> bool:
    """Return whether an item is a check; items of other projects may have any attribute."""
    if not isinstance(item, pytest.Function):
        return False
    mark = getattr(item.obj, "__icecheck__", None)
    return type(mark).__module__ == "icecheck.judging.check"
