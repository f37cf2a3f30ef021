"""What somebody meets who starts the mock for the first time, not having read everything."""

import re
import sys
from pathlib import Path

import pytest

from icecheck.installing import install_command
from icecheck.mock_server import MockCatalog, WarehouseDeclaration


@pytest.mark.parametrize(
    ("written", "location"),
    [
        ("/a/b/", "file:///a/b"),
        ("/a/../b", "file:///b"),
        ("file:/a/b", "file:/a/b"),
        ("file:///a/b//", "file:///a/b"),
        ("s3://bucket/a/", "s3://bucket/a"),
        ("here", f"file://{Path.cwd()}/here"),
        ("~/there", f"file://{Path.home()}/there"),
    ],
)
def test_a_root_and_a_warehouse_may_be_written_as_a_path(written: str, location: str) -> None:
    declared = MockCatalog(warehouses=[WarehouseDeclaration("w", location=written)])
    below_root = MockCatalog(root=written, warehouses=["w"])
    for mock, expected in ((declared, location), (below_root, f"{location}/w")):
        warehouse = mock.warehouses.open("w")
        assert warehouse is not None
        assert warehouse.context.location == expected


@pytest.mark.parametrize("below", ["file", "file/deeper"])
def test_a_place_that_takes_no_tables_is_refused_at_the_start(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("in the way")
    place = tmp_path / below
    for mock in (
        MockCatalog(root=place),
        MockCatalog(warehouses=[WarehouseDeclaration("w", location=str(place))]),
    ):
        with pytest.raises(ValueError, match=f"{tmp_path}/file is no directory"):
            mock.start()
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_warehouse_has_a_name() -> None:
    with pytest.raises(ValueError, match="needs a name"):
        MockCatalog(warehouses=[""])


def test_without_pyiceberg_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyiceberg.catalog.rest", None)
    with pytest.raises(ModuleNotFoundError, match=re.escape(install_command("suite"))):
        MockCatalog(root="memory://root").pyiceberg(in_process=True)
