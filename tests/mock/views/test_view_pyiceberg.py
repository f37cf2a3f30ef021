"""PyIceberg's whole view client against the mock, without a socket."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import (
    NamespaceNotEmptyError,
)
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField
from pyiceberg.view.metadata import SQLViewRepresentation, ViewVersion

from icecheck.mock_server import MockCatalog

SCHEMA = Schema(NestedField(1, "id", LongType(), required=False))


@pytest.fixture
def catalog(mock: MockCatalog) -> RestCatalog:
    catalog = mock.pyiceberg("wh", in_process=True)
    catalog.create_namespace("ns")
    return catalog


@pytest.fixture
def create(catalog: RestCatalog) -> Callable[..., Any]:
    def create(name: str = "v", namespace: str = "ns", **members: Any) -> Any:
        query = SQLViewRepresentation(type="sql", sql="SELECT 1", dialect="spark")
        version = ViewVersion(
            schema_id=0, representations=[query], default_namespace=(namespace,), timestamp_ms=5
        )
        return catalog.create_view((namespace, name), SCHEMA, version, **members)

    return create


def test_a_view_is_created_and_loaded(catalog: RestCatalog, create: Callable[..., Any]) -> None:
    made = create(properties={"k": "v"}, location="s3://b/v/")
    found = catalog.load_view(("ns", "v"))
    assert found.metadata == made.metadata
    assert found.metadata.location == "s3://b/v"
    assert found.metadata.properties == {"k": "v"}
    assert found.current_version().representations[0].root.sql == "SELECT 1"
    assert found.schema().fields == SCHEMA.fields


def test_views_are_listed_found_and_dropped(
    catalog: RestCatalog, create: Callable[..., Any], tmp_path: Path
) -> None:
    create("a"), create("b")
    catalog.create_table(("ns", "t"), SCHEMA, location=f"file://{tmp_path}/t")
    assert catalog.list_views("ns") == [("ns", "a"), ("ns", "b")]
    assert catalog.list_tables("ns") == [("ns", "t")]
    assert catalog.view_exists(("ns", "a"))
    assert not catalog.view_exists(("ns", "t"))
    with pytest.raises(NamespaceNotEmptyError):
        catalog.drop_namespace("ns")
    catalog.drop_view(("ns", "a"))
    assert not catalog.view_exists(("ns", "a"))
    assert catalog.list_views("ns") == [("ns", "b")]
