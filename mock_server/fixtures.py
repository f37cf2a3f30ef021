"""pytest fixtures: one server per session, one fresh warehouse per test.

This module is loaded in every pytest run of an environment that has icecheck, so it imports the
server only when a fixture is used.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog

    from icecheck.mock_server.mock import MockCatalog, MockWarehouse


@pytest.fixture(scope="session")
def mock_catalog_server() -> "Iterator[MockCatalog]":
    """A running MockCatalog for the whole session; override it to configure it."""
    from icecheck.mock_server.mock import MockCatalog

    with MockCatalog() as mock:
        yield mock


@pytest.fixture
def mock_catalog(mock_catalog_server: "MockCatalog") -> "Iterator[MockWarehouse]":
    """A fresh warehouse, gone after the test, on the session's mock catalog."""
    fresh = mock_catalog_server.fresh_warehouse()
    yield fresh
    mock_catalog_server.remove(fresh.warehouse)


@pytest.fixture
def iceberg_catalog(mock_catalog: "MockWarehouse") -> "RestCatalog":
    """A pyiceberg catalog on the test's own warehouse."""
    return mock_catalog.pyiceberg()
