"""PyIceberg writes and reads tables in the object store, with what the catalog vends."""

import pyarrow as pa
import pytest
from pyiceberg.io.pyarrow import PyArrowFileIO

from icecheck.mock_server import MockCatalog, WarehouseDeclaration

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "name": ["a", "b", "c"]})


def test_it_creates_appends_scans_and_deletes() -> None:
    with MockCatalog(warehouses=[WarehouseDeclaration("wh", location="s3://lake/wh")]) as mock:
        catalog = mock.pyiceberg("wh")
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", schema=ROWS.schema)
        table.append(ROWS)
        table.append(ROWS)
        table.delete("id = 2")
        other = catalog.create_table("db.other", schema=ROWS.schema)
        other.append(ROWS)
        loaded = catalog.load_table("db.t")
        assert isinstance(loaded.io, PyArrowFileIO)
        assert sorted(loaded.scan().to_arrow()["id"].to_pylist()) == [1, 1, 3, 3]
        # The files of one table, with the credentials of the other.
        theirs = other.scan().plan_files()[0].file.file_path
        assert loaded.io.new_input(table.scan().plan_files()[0].file.file_path).exists()
        for refused in (
            lambda: loaded.io.new_input(theirs).open().read(),
            lambda: loaded.io.new_output(theirs).create(overwrite=True).close(),
            lambda: loaded.io.delete(theirs),
        ):
            with pytest.raises((OSError, PermissionError), match=r"(?i)access.?denied|403"):
                refused()
        assert other.scan().to_arrow().num_rows == 3
        catalog.purge_table("db.t")
        assert [each[1] for each in catalog.list_tables("db")] == ["other"]
