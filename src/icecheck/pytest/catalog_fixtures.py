"""The pytest fixtures `iceberg_catalog` and `iceberg_namespace`: on the mock, or on a real catalog.

With `--catalog-url` they use that catalog, else a fresh warehouse of the bundled mock. This module
is loaded in every pytest run of an environment that has icecheck, so it imports everything else
where it is used.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from icecheck.mock_server.fixtures import REQUESTS, requests_shown
from icecheck.pytest.running import running

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog

    from icecheck.client.session import Session
    from icecheck.pytest.own_namespace import OwnNamespace
    from icecheck.pytest.run import CatalogRun

MOCK_NAMESPACE = "icecheck_mock"
"""The namespace of a test on the mock; its warehouse has no other."""


@dataclass(frozen=True, slots=True)
class _OwnCatalog:
    """The catalog and the namespace of a test on a real catalog."""

    catalog: "RestCatalog"
    namespace: "OwnNamespace"


@pytest.fixture(scope="session")
def _iceberg_session(request: pytest.FixtureRequest) -> "Iterator[Callable[[], OwnNamespace]]":
    """A session with the catalog of `--catalog-url`; yields a maker of test namespaces."""
    from icecheck.pytest.own_namespace import OwnNamespace
    from icecheck.replies.expect import Blocked, NotOffered
    from icecheck.targets.target import UsageError
    from icecheck.wire.connection import TargetUnusable
    from icecheck.wire.unreachable import Unreachable

    try:
        session = _opened(request.config)
    except (TargetUnusable, UsageError) as unusable:
        pytest.fail(str(unusable), pytrace=False)
    count = itertools.count(1)

    def make() -> OwnNamespace:
        own = OwnNamespace(session, f"tests{session.worker}.{next(count)}")
        try:
            own.make()
        except (Blocked, NotOffered, Unreachable) as refused:
            pytest.fail(f"no namespace could be made for this test: {refused}", pytrace=False)
        return own

    yield make
    session.close()


def _opened(config: pytest.Config) -> "Session":
    """Open a session whose ledger is on disk; raises as `open_session` and `require_deletion`."""
    from dataclasses import replace

    from icecheck.client.deletion_probe import require_deletion
    from icecheck.client.opening import open_session

    run = _run(config)
    target = run.options.target
    if target.isolation == "auto":
        # Unless the user named a parent namespace, the namespaces of tests are at the top level.
        target = replace(target, isolation="flat")
    session = open_session(
        target,
        run_id=run.options.run_id,
        worker=run.recorder.worker,
        ledger=None if target.read_only else run.tests_ledger,
        redactor=run.options.redactor,
    )
    with contextlib.ExitStack() as undo:
        undo.callback(session.close)
        require_deletion(session)
        undo.pop_all()
    return session


def _run(config: pytest.Config) -> "CatalogRun":
    run = running(config)
    if run is None:
        pytest.fail("this fixture needs a catalog: add --catalog-url URL", pytrace=False)
    return run


@pytest.fixture
def _iceberg_own(
    request: pytest.FixtureRequest, _iceberg_session: "Callable[[], OwnNamespace]"
) -> Iterator[_OwnCatalog]:
    """The test's own namespace on the catalog of `--catalog-url`, removed with its content."""
    from icecheck.installing import install_command
    from icecheck.ownership.ledger_file import clean_command
    from icecheck.pytest.own_catalog import own_catalog

    run = _run(request.config)
    target = run.options.target
    said: list[str] = []
    request.node.stash[REQUESTS] = lambda: requests_shown(said)
    own = _iceberg_session()
    try:
        try:
            catalog = own_catalog(target, own, said)
        except ModuleNotFoundError as error:
            pytest.fail(f"{error}: run {install_command('suite')}", pytrace=False)
        yield _OwnCatalog(catalog, own)
    finally:
        own.remove()
    if own.left:
        names = ", ".join(map(str, own.left))
        pytest.fail(
            f"left behind on the catalog: {names}; {clean_command(target.url, run.tests_ledger)}",
            pytrace=False,
        )


@pytest.fixture
def iceberg_catalog(request: pytest.FixtureRequest) -> "RestCatalog":
    """A pyiceberg catalog: on the test's own warehouse of the mock, or with `--catalog-url` there.

    On a real catalog the test may read everything and change what is in `iceberg_namespace`, which
    is removed at its end; any other change is refused before it is sent (ForeignObject).
    """
    if running(request.config) is not None:
        own: _OwnCatalog = request.getfixturevalue("_iceberg_own")
        return own.catalog
    catalog: RestCatalog = request.getfixturevalue("mock_catalog").pyiceberg()
    return catalog


@pytest.fixture
def iceberg_namespace(request: pytest.FixtureRequest) -> str:
    """The name of an empty namespace of the test's own, on the mock and on a real catalog alike.

    Levels are joined by dots: `f"{iceberg_namespace}.orders"` names a table in it.
    """
    if running(request.config) is None:
        request.getfixturevalue("mock_catalog").pyiceberg().create_namespace(MOCK_NAMESPACE)
        return MOCK_NAMESPACE
    own: _OwnCatalog = request.getfixturevalue("_iceberg_own")
    if not own.namespace.path:
        pytest.fail("with --catalog-read-only no namespace is made for a test", pytrace=False)
    return ".".join(own.namespace.path)
