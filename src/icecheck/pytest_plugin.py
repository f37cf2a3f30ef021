"""The pytest plugin: options, fixtures of the mock, and checks when ``--catalog-url`` is given.

It sits in every environment that has icecheck installed, so it imports nothing heavy and does
nothing unless it is asked to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from icecheck.plugin_run import CatalogRun

pytest_plugins = ("icecheck.mock_server.fixtures", "icecheck.spark_fixtures")

_KEY: pytest.StashKey[CatalogRun] = pytest.StashKey()

_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--catalog-url", {"metavar": "URL", "help": "verify the Iceberg REST catalog at this URL"}),
    ("--catalog-warehouse", {"metavar": "NAME", "help": "warehouse to ask /v1/config for"}),
    ("--catalog-prefix", {"metavar": "PREFIX", "help": "use this prefix verbatim"}),
    ("--catalog-token", {"metavar": "TOKEN", "help": "bearer token"}),
    ("--catalog-credential", {"metavar": "ID:SECRET", "help": "OAuth2 client credential"}),
    ("--catalog-oauth2-server-uri", {"metavar": "URL", "help": "token endpoint"}),
    ("--catalog-scope", {"metavar": "SCOPE", "default": "catalog", "help": "OAuth2 scope"}),
    (
        "--catalog-header",
        {"metavar": "NAME:VALUE", "action": "append", "default": [], "help": "extra header"},
    ),
    ("--catalog-ca-bundle", {"metavar": "FILE", "help": "PEM file of a private authority"}),
    (
        "--catalog-timeout",
        {"metavar": "SECONDS", "type": float, "default": 30.0, "help": "limit per request"},
    ),
    ("--catalog-namespace", {"metavar": "A.B", "help": "work under this namespace"}),
    (
        "--catalog-isolation",
        {
            "choices": ("auto", "nested", "flat", "parent"),
            "default": "auto",
            "help": "where the run keeps its objects",
        },
    ),
    (
        "--catalog-accept-residue",
        {"action": "store_true", "help": "verify a catalog that does not delete"},
    ),
    ("--conformance-run-id", {"metavar": "ID", "help": "token in every name of the run"}),
    ("--conformance-seed", {"metavar": "N", "type": int, "default": 0, "help": "generated data"}),
    (
        "--conformance-expectations",
        {"metavar": "FILE", "help": "known failures; default: icecheck.toml, if it is here"},
    ),
    ("--conformance-report", {"metavar": "DIR", "help": "write the compliance report there"}),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the target and of the suite."""
    group = parser.getgroup("icecheck", "Apache Iceberg REST catalog conformance")
    for name, settings in _OPTIONS:
        group.addoption(name, **settings)


def pytest_configure(config: pytest.Config) -> None:
    """Register what runs checks, if there is a catalog to check."""
    if config.getoption("--catalog-url"):
        from icecheck.plugin_run import CatalogRun

        run = CatalogRun.from_config(config)
        config.stash[_KEY] = run
        config.pluginmanager.register(run.recorder, "icecheck-recorder")
        config.pluginmanager.register(run, "icecheck-run")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse to run checks without a catalog: they would look green and mean nothing."""
    if config.getoption("--catalog-url") or config.getoption("collectonly", default=False):
        return
    if any(getattr(getattr(i, "obj", None), "__icecheck__", None) for i in items):
        raise pytest.UsageError(
            "these are checks of a catalog: add --catalog-url URL, or verify the bundled mock "
            "with `icecheck run --mock`"
        )
