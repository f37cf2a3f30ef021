"""Which locations are files of this machine."""

from pathlib import Path

import pytest

from icecheck.mock_server.storage.places import local_path


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("file:///a/b", "/a/b"),
        ("file:/a/b", "/a/b"),
        ("file://localhost/a/b", "/a/b"),
        ("file:///a%20b", "/a%20b"),
        ("FILE:///a/b", "/a/b"),
        ("/a/b", "/a/b"),
        ("//a/b", "/a/b"),
        ("s3://bucket/a", None),
        ("a:/b", None),
        ("relative", None),
    ],
)
def test_only_local_file_locations_are_on_disk(location: str, path: str | None) -> None:
    assert local_path(location) == (None if path is None else Path(path))


@pytest.mark.parametrize("location", ["file://host/a", "file:a", "file:", "/a\0", f"/{'a' * 4096}"])
def test_a_file_location_that_is_no_path_of_this_machine_is_an_error(location: str) -> None:
    with pytest.raises(OSError):
        local_path(location)
