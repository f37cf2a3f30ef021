"""A file is read whole, or it is said that there is none: never waited for, never in part."""

import os
from pathlib import Path

import pytest

from icecheck.mock_server.storage import files as storage
from icecheck.mock_server.storage.files import Files
from icecheck.mock_server.storage.places import NOWHERE


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
