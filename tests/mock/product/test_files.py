"""Files are read whole and never waited for, and directories are made for those that come."""

import os
from pathlib import Path

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.storage import files as storage
from icecheck.mock_server.storage.files import Files
from icecheck.mock_server.storage.places import NOWHERE, LocationRefused
from tests.mock.product.test_kept_state import SCHEMA, client, done


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(NOWHERE.with_location(f"file://{tmp_path}"))


def test_a_file_is_read_whole_whatever_its_size(files: Files, tmp_path: Path) -> None:
    for size in (0, 1, 4096, 3_000_001):
        (tmp_path / "f").write_bytes(os.urandom(size))
        assert files.read(f"file://{tmp_path}/f") == (tmp_path / "f").read_bytes()


def test_a_file_whose_size_is_not_known_beforehand_is_read_whole() -> None:
    place = "/proc/self/status"
    found = Files(NOWHERE.with_location("file:///proc")).read(f"file://{place}")
    assert found.startswith(b"Name:")
    assert b"voluntary_ctxt_switches" in found


def test_what_is_no_file_is_not_waited_for(files: Files, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    for name in ("pipe", "directory", "missing", "pipe/below"):
        with pytest.raises(FileNotFoundError, match="no such file"):
            files.read(f"file://{tmp_path}/{name}")


def test_a_file_that_is_too_large_is_refused(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "FILE_BYTES_MAX", 10)
    (tmp_path / "f").write_bytes(b"1234567890")
    assert len(files.read(f"file://{tmp_path}/f")) == 10
    (tmp_path / "f").write_bytes(b"12345678901")
    with pytest.raises(OSError, match="larger than 10 bytes"):
        files.read(f"file://{tmp_path}/f")


def test_a_directory_is_made_with_those_in_it_and_files_in_it_are_written(
    files: Files, tmp_path: Path
) -> None:
    table = f"file://{tmp_path}/new/t"
    assert files.make_directory(table, ["data", "metadata"]) is None  # its parent is new too
    made = files.make_directory(f"{table}2", ["data", "metadata"])
    assert made is not None
    for name in ("t", "t2"):
        assert sorted(each.name for each in (tmp_path / "new" / name).iterdir()) == [
            "data", "metadata"
        ]  # fmt: skip
    for place in ("metadata/a", "b", "more/c"):
        files.write(f"{table}2/{place}", b"content", made)
        assert (tmp_path / "new/t2" / place).read_bytes() == b"content"
    assert files.make_directory(f"{table}2", ["data", "other"]) is None
    assert (tmp_path / "new/t2/other").is_dir()


def test_a_directory_that_was_made_lets_no_file_out_of_the_places(
    files: Files, tmp_path: Path
) -> None:
    allowed = tmp_path / "allowed"
    files = Files(NOWHERE.with_location(f"file://{allowed}"))
    made = files.make_directory(f"file://{allowed}", ["t"])
    assert made is not None
    for place in ("../foreign", "t/../../foreign", "t/%2e%2e/%2e%2e/foreign", ".."):
        with pytest.raises(LocationRefused):
            files.write(f"file://{allowed}/{place}", b"content", made)
    with pytest.raises(LocationRefused):
        files.write(f"file://{tmp_path}/foreign", b"content", made)
    with pytest.raises(LocationRefused):
        files.write(f"file://{allowed}2/foreign", b"content", made)
    assert [each.name for each in tmp_path.iterdir()] == ["allowed"]


def test_a_directory_that_somebody_else_makes_at_the_same_time_is_there(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faithful = os.mkdir

    def second(path: str, *others: int) -> None:
        if str(path).endswith("/metadata"):
            faithful(path)  # as another process does
        faithful(path, *others)

    monkeypatch.setattr(storage.os, "mkdir", second)
    assert files.make_directory(f"file://{tmp_path}/t", ["data", "metadata"]) is None
    assert sorted(each.name for each in (tmp_path / "t").iterdir()) == ["data", "metadata"]


def test_a_directory_is_made_where_a_link_within_the_places_leads(
    files: Files, tmp_path: Path
) -> None:
    (tmp_path / "t").symlink_to(tmp_path / "there")
    assert files.make_directory(f"file://{tmp_path}/t", ["data", "metadata"]) is None
    assert sorted(each.name for each in (tmp_path / "there").iterdir()) == ["data", "metadata"]


def test_links_in_a_directory_that_was_there_are_not_followed_out_of_the_places(
    tmp_path: Path,
) -> None:
    (tmp_path / "foreign").mkdir()
    (tmp_path / "allowed/t").mkdir(parents=True)
    (tmp_path / "allowed/t/metadata").symlink_to(tmp_path / "foreign")
    (tmp_path / "allowed/u").symlink_to(tmp_path / "foreign")
    files = Files(NOWHERE.with_location(f"file://{tmp_path}/allowed"))
    for name in ("t", "u"):
        with pytest.raises(LocationRefused):
            files.make_directory(f"file://{tmp_path}/allowed/{name}", ["data", "metadata"])
    assert not any((tmp_path / "foreign").iterdir())


def test_a_new_table_has_the_directories_for_the_files_that_come(tmp_path: Path) -> None:
    http = client(MockCatalog(root=tmp_path, table_locations="by-name"))
    done(http.post("namespaces", json={"namespace": ["a"]}))
    elsewhere = {"write.metadata.path": f"file://{tmp_path}/wh/other"}
    for name, more in (
        ("t", {}),
        ("staged", {"stage-create": True}),
        ("u", {"properties": elsewhere}),
    ):
        made = done(http.post("namespaces/a/tables", json={"name": name, "schema": SCHEMA, **more}))
        place = Path(made.json()["metadata"]["location"].removeprefix("file://"))
        found = {each.name for each in place.iterdir()}
        assert found == ({"data", "metadata"} if name == "t" else {"data"})
    assert len(list((tmp_path / "wh/other").iterdir())) == 1
