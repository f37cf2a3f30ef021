"""PyIceberg's tables against the mock: made, found, moved, registered, dropped; rows in and out."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import (
    NoSuchNamespaceError,
    TableAlreadyExistsError,
)
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.transforms import BucketTransform, IdentityTransform
from pyiceberg.types import LongType, NestedField

from icecheck.mock_server import MockCatalog

ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "word": ["one", "two"]})


def words(table: Table) -> list[str]:
    return sorted(row["word"] for row in table.scan().to_arrow().to_pylist())


# Made and found


def test_a_table_is_created_as_asked(catalog: RestCatalog, tmp_path: Path) -> None:
    fields = NestedField(7, "id", LongType(), required=True), NestedField(9, "day", LongType())
    spec = PartitionSpec(PartitionField(9, 1000, BucketTransform(4), "bucket"))
    order = SortOrder(SortField(7, IdentityTransform()))
    made = catalog.create_table(
        "ns.t", Schema(*fields), f"file://{tmp_path}/elsewhere/", spec, order,
        {"format-version": "1", "color": "red", "size": 5},
    )  # fmt: skip
    found = catalog.load_table("ns.t")
    assert found.metadata == made.metadata
    assert found.metadata_location == made.metadata_location
    assert found.name() == ("ns", "t")
    assert [field.field_id for field in found.schema().fields] == [1, 2]
    assert found.spec().fields[0].source_id == 2
    assert found.sort_order().fields[0].source_id == 1
    assert found.location() == f"file://{tmp_path}/elsewhere"
    assert found.format_version == 1
    assert (found.properties["color"], found.properties["size"]) == ("red", "5")


def test_a_table_is_created_once(catalog: RestCatalog, table: Table, schema: Schema) -> None:
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table("ns.t", schema)
    found = catalog.create_table_if_not_exists("ns.t", schema, properties={"color": "blue"})
    assert found.metadata == table.metadata
    assert catalog.create_table_if_not_exists("ns.new", schema).name() == ("ns", "new")


@pytest.mark.parametrize("mode", ["all", "refs"])
def test_snapshots_are_loaded_all_or_those_with_references(
    mock: MockCatalog, catalog: RestCatalog, table: Table, mode: str
) -> None:
    for _ in range(3):
        table.append(ROWS)
    catalog = mock.pyiceberg("wh", in_process=True, **{"snapshot-loading-mode": mode})
    assert len(catalog.load_table("ns.t").snapshots()) == (3 if mode == "all" else 1)


# Moved, registered, dropped


def test_a_table_is_renamed_also_into_another_namespace(
    catalog: RestCatalog, table: Table, schema: Schema
) -> None:
    catalog.create_namespace("other")
    moved = catalog.rename_table("ns.t", "other.u")
    assert moved.metadata.table_uuid == table.metadata.table_uuid
    assert catalog.list_tables("ns") == []
    catalog.create_table("ns.t", schema)
    with pytest.raises(TableAlreadyExistsError):
        catalog.rename_table("ns.t", "other.u")
    with pytest.raises(NoSuchNamespaceError):
        catalog.rename_table("ns.t", "no.t")


def test_a_table_is_registered_from_its_metadata(catalog: RestCatalog, table: Table) -> None:
    table.append(ROWS)
    catalog.drop_table("ns.t")
    found = catalog.register_table("ns.again", table.metadata_location)
    assert found.metadata.table_uuid == table.metadata.table_uuid
    assert words(found) == ["one", "two"]
    with pytest.raises(TableAlreadyExistsError):
        catalog.register_table("ns.again", table.metadata_location)


def test_a_registration_can_overwrite(catalog: RestCatalog, table: Table) -> None:
    empty = table.metadata_location
    table.append(ROWS)
    found = catalog.register_table("ns.t", empty, overwrite=True)
    assert found.snapshots() == []
    assert catalog.load_table("ns.t").metadata_location == empty


# Staged


def test_a_staged_table_exists_when_it_is_committed(catalog: RestCatalog, schema: Schema) -> None:
    with catalog.create_table_transaction("ns.t", schema, properties={"a": "1"}) as transaction:
        assert not catalog.table_exists("ns.t")
        transaction.set_properties(b="2")
        transaction.append(ROWS)
    table = catalog.load_table("ns.t")
    assert {"a": "1", "b": "2"}.items() <= table.properties.items()
    assert words(table) == ["one", "two"]
    assert [entry.snapshot_id for entry in table.history()] == [table.snapshots()[0].snapshot_id]


def test_a_closed_catalog_can_be_used_again(catalog: RestCatalog) -> None:
    catalog.close()
    assert catalog.namespace_exists("ns")
