"""What PyIceberg's table verbs commit, with real files; scripted requests are the suite's."""

from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
)
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.statistics import StatisticsFile
from pyiceberg.table.update import SetPropertiesUpdate
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DoubleType, LongType

from icecheck.mock_server import MockCatalog

ARROW = pa.schema([pa.field("id", pa.int64()), pa.field("word", pa.string())])


def rows(*ids: int, word: str = "w") -> pa.Table:
    return pa.Table.from_pylist([{"id": each, "word": word} for each in ids], ARROW)


def ids(table: Table, **scan: Any) -> list[int]:
    return sorted(row["id"] for row in table.scan(**scan).to_arrow().to_pylist())


# Verbs


def test_rows_are_appended_and_deleted(table: Table) -> None:
    table.append(rows(1, 2))
    table.append(rows(3))
    table.delete("id = 2")
    assert ids(table) == [1, 3]
    assert [snapshot.summary.operation for snapshot in table.snapshots() if snapshot.summary] == [
        Operation.APPEND, Operation.APPEND, Operation.OVERWRITE,
    ]  # fmt: skip


def test_the_schema_evolves(table: Table, catalog: RestCatalog) -> None:
    table.append(rows(1))
    with table.update_schema() as schema:
        schema.add_column("price", DoubleType(), doc="in euros")
        schema.rename_column("word", "text")
        schema.move_first("price")
    with table.update_schema() as schema:
        schema.delete_column("price")
        schema.union_by_name(pa.schema([pa.field("more", pa.string())]))
    found = catalog.load_table("ns.t")
    assert found.schema().column_names == ["id", "text", "more"]
    assert len(found.schemas()) == 3
    assert found.scan().to_arrow().to_pylist() == [{"id": 1, "text": "w", "more": None}]


def test_partitions_and_order_evolve(table: Table, catalog: RestCatalog) -> None:
    with table.update_spec() as spec:
        spec.add_field("id", IdentityTransform(), "by_id")
    with table.update_spec() as spec:
        spec.rename_field("by_id", "number")
        spec.add_identity("word")
    with table.update_spec() as spec:
        spec.remove_field("word")
    with table.update_sort_order() as order:
        order.asc("id", IdentityTransform())
    table.append(rows(1, 2, 3))
    found = catalog.load_table("ns.t")
    assert [field.name for field in found.spec().fields] == ["number"]
    assert found.sort_order().fields[0].source_id == 1
    assert ids(found, row_filter="id = 2") == [2]


def test_properties_change(table: Table, catalog: RestCatalog) -> None:
    with table.transaction() as transaction:
        transaction.set_properties(size="5")
        transaction.remove_properties("color")
    catalog.commit_table(table, (), (SetPropertiesUpdate(updates={"turn": "1"}),))
    found = catalog.load_table("ns.t").properties
    assert (found.get("size"), found.get("turn"), found.get("color")) == ("5", "1", None)


def test_a_table_is_upgraded(catalog: RestCatalog, schema: Schema) -> None:
    table = catalog.create_table("ns.t", schema, properties={"format-version": "1"})
    table.append(rows(1))
    with table.transaction() as transaction:
        transaction.upgrade_table_version(2)
    table.append(rows(2))
    assert (table.format_version, ids(table)) == (2, [1, 2])


def test_a_transaction_is_one_commit(mock: MockCatalog, table: Table) -> None:
    mock.journal.clear()
    with table.transaction() as transaction:
        transaction.append(rows(1))
        transaction.append(rows(2))
        transaction.set_properties(turns="2")
    assert mock.journal.count("updateTable") == 1
    assert (ids(table), len(table.snapshots())) == ([1, 2], 2)


def test_branches_and_tags_are_made_and_removed(table: Table, catalog: RestCatalog) -> None:
    table.append(rows(1))
    first = table.current_snapshot()
    assert first is not None
    table.manage_snapshots().create_tag(first.snapshot_id, "release", 60_000).create_branch(
        first.snapshot_id, "draft", 60_000, 60_000, 2
    ).commit()
    table.append(rows(2), branch="draft")
    table.append(rows(3))
    found = catalog.load_table("ns.t")
    assert set(found.refs()) == {"main", "release", "draft"}
    assert found.scan().use_ref("draft").to_arrow()["id"].to_pylist() == [2, 1]
    assert ids(found, snapshot_id=first.snapshot_id) == [1]
    table.manage_snapshots().remove_tag("release").remove_branch("draft").commit()
    assert set(catalog.load_table("ns.t").refs()) == {"main"}


def test_snapshots_expire(table: Table, catalog: RestCatalog) -> None:
    for number in range(3):
        table.append(rows(number))
    first = table.snapshots()[0].snapshot_id
    table.maintenance.expire_snapshots().by_id(first).commit()
    found = catalog.load_table("ns.t")
    assert [s.snapshot_id for s in found.snapshots()] == [
        entry.snapshot_id for entry in found.history()
    ]
    assert len(found.snapshots()) == 2


def a_statistics_file(snapshot_id: int) -> StatisticsFile:
    return StatisticsFile.model_validate(
        {
            "snapshot-id": snapshot_id,
            "statistics-path": "file:///nowhere/stats.puffin",
            "file-size-in-bytes": 10,
            "file-footer-size-in-bytes": 5,
            "blob-metadata": [],
        }
    )


def test_statistics_are_set_and_removed(table: Table, catalog: RestCatalog) -> None:
    table.append(rows(1))
    snapshot = table.snapshots()[0].snapshot_id
    with table.update_statistics() as statistics:
        statistics.set_statistics(a_statistics_file(snapshot))
    assert catalog.load_table("ns.t").metadata.statistics == [a_statistics_file(snapshot)]
    with table.update_statistics() as statistics:
        statistics.remove_statistics(snapshot)
    assert catalog.load_table("ns.t").metadata.statistics == []


# Conflicts


def test_of_two_writers_the_second_is_told_of_the_conflict(
    table: Table, catalog: RestCatalog
) -> None:
    other = catalog.load_table("ns.t")
    with table.update_schema() as schema:
        schema.add_column("a", LongType())
    with pytest.raises(CommitFailedException), other.update_schema() as schema:
        schema.add_column("b", LongType())
    assert catalog.load_table("ns.t").schema().column_names == ["id", "word", "a"]
