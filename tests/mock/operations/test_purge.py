"""dropTable with purge: a table's files go down to its data, and nobody else's do."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table import Table

from icecheck.mock_server import MockCatalog

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64())})


@pytest.fixture
def mock(tmp_path: Path) -> Iterator[MockCatalog]:
    catalog = MockCatalog(root=tmp_path / "warehouse")
    yield catalog
    catalog.stop()


@pytest.fixture
def catalog(mock: MockCatalog) -> RestCatalog:
    client = mock.pyiceberg(in_process=True)
    client.create_namespace("db")
    return client


def filled(catalog: RestCatalog, name: str = "db.t", **properties: str) -> Table:
    table = catalog.create_table(name, ROWS.schema, properties=properties)
    table.append(ROWS)
    table.append(ROWS)
    table.delete("id = 2")
    return table


def files_below(table: Table) -> list[str]:
    folder = Path(table.location().removeprefix("file://"))
    return sorted(path.suffix for path in folder.rglob("*") if path.is_file())


def test_a_purged_table_leaves_no_file(catalog: RestCatalog) -> None:
    table = filled(catalog)
    assert {".parquet", ".avro", ".json"} == set(files_below(table))
    catalog.purge_table("db.t")
    assert files_below(table) == []


def test_a_table_dropped_without_purge_keeps_every_file(catalog: RestCatalog) -> None:
    table = filled(catalog)
    before = files_below(table)
    catalog.drop_table("db.t")
    assert files_below(table) == before


def test_a_table_that_shares_its_data_keeps_it(catalog: RestCatalog) -> None:
    table = filled(catalog, **{"gc.enabled": "false"})
    catalog.purge_table("db.t")
    assert set(files_below(table)) == {".parquet"}


def test_data_that_was_lent_to_a_table_is_not_removed(catalog: RestCatalog, tmp_path: Path) -> None:
    lender = filled(catalog, "db.lender")
    lent = tmp_path / "lent.parquet"
    [source, *_] = [task.file.file_path for task in lender.scan().plan_files()]
    lent.write_bytes(Path(source.removeprefix("file://")).read_bytes())
    borrower = catalog.create_table("db.borrower", ROWS.schema)
    borrower.add_files([f"file://{lent}"])
    catalog.purge_table("db.borrower")
    assert lent.exists()
    assert files_below(borrower) == []


def test_a_manifest_that_is_gone_does_not_keep_the_purge_from_the_rest(
    catalog: RestCatalog,
) -> None:
    table = filled(catalog)
    snapshot = table.current_snapshot()
    assert snapshot is not None
    Path(snapshot.manifest_list.removeprefix("file://")).unlink()
    catalog.purge_table("db.t")
    assert ".json" not in files_below(table)
    assert not catalog.table_exists("db.t")
