"""A mock catalog whose files are on disk, and PyIceberg on it without a socket."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField, StringType

from icecheck.mock_server import MockCatalog


@pytest.fixture
def mock(tmp_path: Path) -> MockCatalog:
    return MockCatalog(
        root=tmp_path / "warehouses", warehouses=["wh"], allow_locations=[tmp_path / "elsewhere"]
    )


@pytest.fixture
def catalog(mock: MockCatalog) -> Iterator[RestCatalog]:
    catalog = mock.pyiceberg("wh", in_process=True)
    catalog.create_namespace("ns")
    yield catalog
    catalog.close()


@pytest.fixture(scope="session")
def schema() -> Schema:
    return Schema(
        NestedField(1, "id", LongType(), required=False),
        NestedField(2, "word", StringType(), required=False, doc="what it says"),
    )


@pytest.fixture
def table(catalog: RestCatalog, schema: Schema) -> Table:
    return catalog.create_table("ns.t", schema, properties={"color": "red"})
