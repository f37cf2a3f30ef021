"""Tests with a catalog of their own: a new warehouse for each, also under `pytest -n 4`.

Run them: `pytest test_with_a_catalog.py`. They need `icecheck[suite]` and PyArrow.
"""

import pyarrow as pa
import pytest

SCHEMA = pa.schema([("id", pa.int64())])


@pytest.mark.parametrize("number", range(8))
def test_each_test_has_a_warehouse_of_its_own(mock_catalog, number):
    """All of them make the same names; none sees those of another."""
    catalog = mock_catalog.pyiceberg()
    assert catalog.list_namespaces() == []
    catalog.create_namespace("db")
    catalog.create_table("db.t", SCHEMA)
    assert catalog.list_tables("db") == [("db", "t")]


def test_what_a_test_does_can_be_undone(mock_catalog):
    """A checkpoint costs nothing, however much the warehouse holds."""
    catalog = mock_catalog.pyiceberg()
    catalog.create_namespace("db")
    catalog.create_table("db.t", SCHEMA)
    with mock_catalog.mock.checkpoint():
        catalog.drop_table("db.t")
        assert not catalog.table_exists("db.t")
    assert catalog.table_exists("db.t")


def test_the_journal_says_what_the_client_asked(mock_catalog):
    """What was sent, to which table, and how often."""
    catalog = mock_catalog.pyiceberg()
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", SCHEMA)
    journal, warehouse = mock_catalog.mock.journal, mock_catalog.warehouse
    table.append(pa.table({"id": pa.array([1], pa.int64())}))
    (commit,) = journal.find("updateTable", warehouse=warehouse, table="db.t")
    assert commit.status == 200
    assert '"add-snapshot"' in commit.request_body
    journal.assert_sequence(
        ["getConfig", "createNamespace", "createTable", "updateTable"],
        ignore=["reportMetrics", "loadTable"],
        warehouse=warehouse,
    )
