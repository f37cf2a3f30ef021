"""A catalog on an in-process mock whose operations and updates can be replaced."""

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.mock_server import MockCatalog
from icecheck.targets.target import Target


@pytest.fixture
def mock():
    return MockCatalog(seed=1, clock=1_700_000_000_000, root="s3://icecheck-tests")


@pytest.fixture
def open_catalog(mock):
    """Open a session on the mock and return a catalog for one check; nothing may be left over."""
    opened = []

    def open_one(check_id="scenario.namespaces-and-tables", *, seed=0, **target):
        session = open_session(
            Target("http://catalog.invalid", warehouse="wh", **target),
            run_id="t1",
            seed=seed,
            transport=mock.httpx_transport(),
        )
        catalog = Catalog(session, check_id)
        opened.append(catalog)
        return catalog

    yield open_one
    for catalog in opened:
        catalog.undo()
        catalog.session.close()
        assert catalog.session.residue == []


@pytest.fixture
def catalog(open_catalog):
    return open_catalog()


def after(operation, change):
    """Wrap an operation of the mock: ``change(outcome, state, call)`` has the last word."""

    def changed(context, state, call):
        return change(operation(context, state, call), state, call)

    return changed


@pytest.fixture
def misbehave(mock):
    def plant(operation_id, change):
        operations = mock.registries.operations
        operations[operation_id] = after(operations[operation_id], change)

    return plant
