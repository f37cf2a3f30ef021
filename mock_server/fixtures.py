"""pytest fixtures: one server per session, one fresh warehouse per test; its journal on failure.

This module is loaded in every pytest run of an environment that has icecheck, so it imports the
server only when a fixture is used.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from icecheck.mock_server.core.journal import Journal
    from icecheck.mock_server.mock import MockCatalog
    from icecheck.mock_server.mock_warehouse import MockWarehouse
    from icecheck.mock_server.serving.fault_rules import FaultRule

SPARK_CATALOG_NAME = "mock"
"""The name of the test's catalog in Spark; as the default one, it may be left out of names."""

REQUESTS_SHOWN_MAX = 100

REQUESTS: pytest.StashKey[Callable[[], str]] = pytest.StashKey()
"""For a test with a catalog: returns its requests so far, one line for each."""

FAILED: pytest.StashKey[bool] = pytest.StashKey()
"""Whether a test has failed so far."""

REDIRECTED_TO: pytest.StashKey[str] = pytest.StashKey()
"""The URL of the catalog that tests are redirected to; the mock is then not available."""


@pytest.fixture(scope="session")
def mock_catalog_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> "Iterator[MockCatalog]":
    """Return a running MockCatalog for the whole session; override it to configure it.

    Tables may also lie below the session's temporary directory (`tmp_path`). Under pytest-xdist
    each worker is a session with its own server.
    """
    _refuse_if_redirected(request.config)
    from icecheck.mock_server.mock import MockCatalog

    with MockCatalog(allow_locations=[tmp_path_factory.getbasetemp()]) as mock:
        yield mock


@pytest.fixture
def mock_catalog(
    mock_catalog_server: "MockCatalog", request: pytest.FixtureRequest
) -> "Iterator[MockWarehouse]":
    """Yield a fresh warehouse on the session's mock catalog; it is removed after the test.

    Faults and gates that the test adds are removed with it, and so are defects; a strict
    fault that never happened is an error. If the test fails, its report has a section "iceberg
    requests".
    """
    _refuse_if_redirected(request.config)
    journal = mock_catalog_server.journal
    last = journal.last_sequence
    request.node.stash[REQUESTS] = lambda: _requests_since(journal, last)
    faults = mock_catalog_server.faults
    before = faults.rules
    gates, defects = mock_catalog_server.gates.all(), mock_catalog_server.defects.active
    from icecheck.mock_server.mock_warehouse import fresh_warehouse

    fresh = fresh_warehouse(mock_catalog_server)
    yield fresh
    added = [rule for rule in faults.rules if not any(rule is kept for kept in before)]
    for rule in added:
        faults.remove(rule)
    for gate in mock_catalog_server.gates.all():
        if gate not in gates:
            mock_catalog_server.gates.remove(gate)
    for name in mock_catalog_server.defects.active:
        if name not in defects:
            mock_catalog_server.defects.switch_off(name)
    mock_catalog_server.remove(fresh.warehouse)
    _expect_fired(request, added)


@pytest.fixture
def iceberg_spark_conf(mock_catalog: "MockWarehouse") -> dict[str, str]:
    """Return settings for `SparkSession.builder.config(map=…)`: the test's own warehouse as `mock`.

    They include the Iceberg runtime where it is installed (`MockCatalog.spark_conf`).
    """
    conf = mock_catalog.spark_conf(SPARK_CATALOG_NAME)
    return {**conf, "spark.sql.defaultCatalog": SPARK_CATALOG_NAME}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Add the test's requests to the report of a failed test."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    requests = item.stash.get(REQUESTS, None)
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    if report.failed and requests is not None:
        report.sections.append(("iceberg requests", requests()))


def requests_shown(lines: Sequence[str]) -> str:
    """Join lines for a report; of a long list only the end is shown, and the rest is counted."""
    shown = list(lines[-REQUESTS_SHOWN_MAX:])
    if len(lines) > len(shown):
        shown.insert(0, f"({len(lines) - len(shown)} earlier requests are not shown)")
    return "\n".join(shown) or "(none)"


def _requests_since(journal: "Journal", last: int) -> str:
    """Return one line per request after entry number `last`."""
    return requests_shown(
        [
            f"{entry.status} {entry.method} {entry.path}  {entry.operation or 'no operation'}"
            f"  {entry.duration_us / 1000:.1f} ms"
            for entry in journal.find()
            if entry.sequence > last
        ]
    )


def _expect_fired(request: pytest.FixtureRequest, added: "Sequence[FaultRule]") -> None:
    """Fail a test whose strict faults never happened, unless it has failed by itself."""
    from icecheck.mock_server.serving.faults import UnfiredFault, expect_fired

    if request.node.stash.get(FAILED, False):
        return
    try:
        expect_fired(added)
    except UnfiredFault as error:
        pytest.fail(str(error), pytrace=False)


def _refuse_if_redirected(config: pytest.Config) -> None:
    """Fail a test that asks for the mock although tests are redirected to a real catalog."""
    url = config.stash.get(REDIRECTED_TO, None)
    if url is not None:
        pytest.fail(
            f"this test uses the bundled mock (mock_catalog, iceberg_spark), and --catalog-url "
            f"names {url}: let it use iceberg_catalog, or run it without --catalog-url",
            pytrace=False,
        )
