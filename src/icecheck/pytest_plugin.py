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

_TEXT: dict[str, Any] = {}
_LIST: dict[str, Any] = {"action": "append"}
_FLAG: dict[str, Any] = {"action": "store_true", "default": None}

_TARGET_OPTIONS: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("url", _TEXT, "URL", "verify the Iceberg REST catalog at this URL"),
    ("warehouse", _TEXT, "NAME", "warehouse to ask /v1/config for"),
    ("prefix", _TEXT, "PREFIX", "use this prefix verbatim"),
    ("token", _TEXT, "TOKEN", "bearer token"),
    ("credential", _TEXT, "ID:SECRET", "OAuth2 client credential"),
    ("oauth2-server-uri", _TEXT, "URL", "token endpoint"),
    ("scope", _TEXT, "SCOPE", "OAuth2 scope; default: catalog"),
    ("header", _LIST, "NAME:VALUE", "extra header"),
    ("allow-host", _LIST, "HOST[:PORT]", "also go where the config leads clients"),
    ("sigv4", _TEXT, "REGION/SERVICE", "sign requests as AWS wants them"),
    ("ca-bundle", _TEXT, "FILE", "PEM file of a private authority"),
    ("client-cert", _TEXT, "FILE", "PEM file of the certificate to show"),
    ("client-key", _TEXT, "FILE", "PEM file of its key"),
    ("second-token", _TEXT, "TOKEN", "token of somebody without rights to what the run makes"),
    ("second-credential", _TEXT, "ID:SECRET", "or the credential to get one with"),
    ("timeout", {"type": float}, "SECONDS", "limit per request; default: 30"),
    ("rate-limit", {"type": float}, "N", "send at most N requests a second"),
    (
        "race-rounds",
        {"type": int},
        "N",
        "how often each race is run; default: 4, with disruptive 20",
    ),
    ("namespace", _TEXT, "A.B", "work under this namespace"),
    ("location-root", _TEXT, "URI", "place what the run creates below this URI"),
    (
        "isolation",
        {"choices": ("auto", "nested", "flat", "parent")},
        "",
        "where the run keeps its objects; default: auto",
    ),
    ("accept-residue", _FLAG, "", "verify a catalog that does not delete"),
    ("read-only", _FLAG, "", "create nothing; look at what is given"),
    ("disruptive", _FLAG, "", "also strain the catalog: long lists, long histories, many races"),
    ("given-namespace", _TEXT, "A.B", "a namespace that is there"),
    ("given-table", _TEXT, "A.B.T", "a table that is there"),
    ("given-view", _TEXT, "A.B.V", "a view that is there"),
    ("claim", _LIST, "OPERATION", "hold the catalog to an operation that it does not list"),
    ("config", _TEXT, "FILE", "read this file instead of icecheck.toml"),
)
"""Each ``--catalog-…`` option, which is also a key of the ini file: ``catalog_…``."""

_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--conformance-run-id", {"metavar": "ID", "help": "token in every name of the run"}),
    ("--conformance-seed", {"metavar": "N", "type": int, "default": 0, "help": "generated data"}),
    (
        "--conformance-expectations",
        {"metavar": "FILE", "help": "known failures; default: icecheck.toml, if it is here"},
    ),
    (
        "--conformance-spec",
        {"metavar": "RELEASE", "help": "hold to the document of an older release, such as 1.9.0"},
    ),
    (
        "--conformance-witnessed-only",
        {"action": "store_true", "help": "no failure for what no other catalog has passed yet"},
    ),
    ("--conformance-report", {"metavar": "DIR", "help": "write the compliance report there"}),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the target and of the suite."""
    group = parser.getgroup("icecheck", "Apache Iceberg REST catalog conformance")
    for name, settings, metavar, words in _TARGET_OPTIONS:
        shown = {"metavar": metavar} if metavar and settings is not _FLAG else {}
        group.addoption(f"--catalog-{name}", help=words, **shown, **settings)
        kind: Any = "linelist" if settings is _LIST else "bool" if settings is _FLAG else "string"
        parser.addini(f"catalog_{name.replace('-', '_')}", words, type=kind, default=None)
    for name, settings in _OPTIONS:
        group.addoption(name, **settings)


def given(config: pytest.Config, name: str) -> Any:
    """Return what the command line says of the target, else the ini file; None for nothing."""
    said = config.getoption(f"--catalog-{name}")
    return config.getini(f"catalog_{name.replace('-', '_')}") if said is None else said


def pytest_configure(config: pytest.Config) -> None:
    """Register what runs checks, if there is a catalog to check."""
    if given(config, "url"):
        from icecheck.plugin_run import CatalogRun

        run = CatalogRun.from_config(config)
        config.stash[_KEY] = run
        config.pluginmanager.register(run.recorder, "icecheck-recorder")
        config.pluginmanager.register(run, "icecheck-run")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse to run checks without a catalog: they would look green and mean nothing.

    With a catalog, checks that strain it are left out unless the user allows them.
    """
    if given(config, "url") or config.getoption("collectonly", default=False):
        run = config.stash.get(_KEY, None)
        if run is not None:
            run.leave_out(config, items)
        return
    if any(getattr(getattr(i, "obj", None), "__icecheck__", None) for i in items):
        raise pytest.UsageError(
            "these are checks of a catalog: add --catalog-url URL, or verify the bundled mock "
            "with `icecheck run --mock`"
        )
