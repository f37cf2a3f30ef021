"""pytest fixtures: one server per session, one fresh warehouse per test; its journal on failure.

This module is loaded in every pytest run of an environment that has icecheck, so it imports the
server only when a fixture is used.
"""

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog

    from icecheck.mock_server.journal import Journal
    from icecheck.mock_server.mock import MockCatalog, MockWarehouse

SPARK_CATALOG_NAME = "mock"
"""What Spark calls the test's catalog; it is the default one, so names need not begin with it."""

REQUESTS_SHOWN_MAX = 100

_JOURNAL: pytest.StashKey["tuple[Journal, int]"] = pytest.StashKey()
"""The server's journal, and the sequence number of the last entry before the test."""


@pytest.fixture(scope="session")
def mock_catalog_server(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[MockCatalog]":
    """A running MockCatalog for the whole session; override it to configure it.

    Tables may also lie below the session's temporary directory (`tmp_path`). Under pytest-xdist
    each worker is a session, with a server of its own.
    """
    from icecheck.mock_server.mock import MockCatalog

    with MockCatalog(allow_locations=[tmp_path_factory.getbasetemp()]) as mock:
        yield mock


@pytest.fixture
def mock_catalog(
    mock_catalog_server: "MockCatalog", request: pytest.FixtureRequest
) -> "Iterator[MockWarehouse]":
    """A fresh warehouse, gone after the test, on the session's mock catalog.

    Faults that the test adds are gone with it. If it fails, its report has a section
    "iceberg requests".
    """
    journal = mock_catalog_server.journal
    request.node.stash[_JOURNAL] = (journal, journal.last_sequence)
    faults = mock_catalog_server.faults
    before = faults.rules
    fresh = mock_catalog_server.fresh_warehouse()
    yield fresh
    for rule in faults.rules:
        if not any(rule is kept for kept in before):
            faults.remove(rule)
    mock_catalog_server.remove(fresh.warehouse)


@pytest.fixture
def iceberg_catalog(mock_catalog: "MockWarehouse") -> "RestCatalog":
    """A pyiceberg catalog on the test's own warehouse."""
    return mock_catalog.pyiceberg()


@pytest.fixture
def iceberg_spark_conf(mock_catalog: "MockWarehouse") -> dict[str, str]:
    """Settings for `SparkSession.builder.config(map=…)`: the test's own warehouse as `mock`.

    The Iceberg runtime has to be on the session's class path; `iceberg_spark` sees to that too.
    """
    conf = mock_catalog.spark_conf(SPARK_CATALOG_NAME)
    return {**conf, "spark.sql.defaultCatalog": SPARK_CATALOG_NAME}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Tell in the report of a failed test what it asked of the mock catalog."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    journal, last = item.stash.get(_JOURNAL, (None, 0))
    if report.failed and journal is not None:
        report.sections.append(("iceberg requests", _requests_since(journal, last)))


def _requests_since(journal: "Journal", last: int) -> str:
    """One line per request after entry number `last`; only the end of a long list."""
    entries = [entry for entry in journal.entries() if entry.sequence > last]
    lines = [
        f"{entry.status} {entry.method} {entry.path}  {entry.operation or 'no operation'}"
        f"  {entry.duration_us / 1000:.1f} ms"
        for entry in entries[-REQUESTS_SHOWN_MAX:]
    ]
    if len(entries) > len(lines):
        lines.insert(0, f"({len(entries) - len(lines)} earlier requests are not shown)")
    return "\n".join(lines) or "(none)"
