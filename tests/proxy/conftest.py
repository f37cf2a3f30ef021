"""A catalog for the tests of the proxy."""

from collections.abc import Iterator

import pytest

from tests.proxy.told_catalog import ToldCatalog, told_catalog


@pytest.fixture
def catalog() -> Iterator[ToldCatalog]:
    """Return a catalog that answers as it is told."""
    with told_catalog() as told:
        yield told
