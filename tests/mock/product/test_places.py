"""Which locations are files of this machine."""

from pathlib import Path

import pytest

from icecheck.mock_server.storage.places import (
    NOWHERE,
    LocationRefused,
    local_path,
    one_spelling,
)


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


@pytest.mark.parametrize("spelling", ["d/f", "d/./f", "d//f", "d/f/", "d/f/.", "./d/f", "d/../d/f"])
def test_every_spelling_of_a_file_is_one_path(tmp_path: Path, spelling: str) -> None:
    places = NOWHERE.with_location(f"file://{tmp_path}")
    assert places.path_of(f"file://{tmp_path}/{spelling}") == f"{tmp_path.resolve()}/d/f"


@pytest.mark.parametrize(
    "spelling", ["link", "link/", "link/.", "./link", "link/below", "d/..", ".."]
)
def test_what_leads_out_of_a_place_is_refused_in_every_spelling(
    tmp_path: Path, spelling: str
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path)
    (inside / "d").symlink_to(tmp_path)
    places = NOWHERE.with_location(f"file://{inside}")
    with pytest.raises(LocationRefused):
        places.path_of(f"file://{inside}/{spelling}")


@pytest.mark.parametrize(
    ("location", "spelling"),
    [
        ("file:///a/b", "file:///a/b"),
        ("/a//b/./", "file:///a/b"),
        ("FILE:/a/c/../b", "file:///a/b"),
        ("file:///", "file://"),
        ("S3A://Bucket/a/", "s3://Bucket/a"),
        ("s3n://bucket", "s3://bucket"),
        ("s3://bucket/../a/./b//c", "s3://bucket/a/b/c"),
        ("hdfs:///a/", "hdfs:///a"),
        ("memory:/a/.b/..c/d.", "memory:/a/.b/..c/d."),
        ("file://host/a/", "file://host/a/"),
        ("relative/", "relative/"),
    ],
)
def test_each_place_has_one_spelling_to_compare(location: str, spelling: str) -> None:
    assert one_spelling(location) == spelling
