"""A root whose tables are kept has the metadata file of each of them, whatever is undone."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import msgspec
import pytest

from icecheck.mock_server import MockCatalog
from tests.mock.product.test_kept_state import client, content, done, fill


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[MockCatalog]:
    mock = MockCatalog(root=tmp_path, keep=True, seed=3)
    fill(client(mock))
    yield mock
    mock.stop()


def drop_and_purge(http: httpx.Client, _mock: MockCatalog) -> None:
    done(http.delete("namespaces/a/tables/t", params={"purgeRequested": "true"}))


def commit_and_delete_earlier_files(http: httpx.Client, _mock: MockCatalog) -> None:
    settings = {
        "write.metadata.delete-after-commit.enabled": "true",
        "write.metadata.previous-versions-max": "1",
        "write.metadata.compression-codec": "gzip",
    }
    for number in range(3):
        update = {"action": "set-properties", "updates": settings | {"k": str(number)}}
        done(http.post("namespaces/a/tables/t", json={"requirements": [], "updates": [update]}))


def damage_and_change(http: httpx.Client, mock: MockCatalog) -> None:
    table = mock.state("wh").table(("a",), "t")
    assert table is not None
    Path(table.metadata_location.removeprefix("file://")).write_text("{")
    commit_and_delete_earlier_files(http, mock)


@pytest.mark.parametrize(
    "undone", [drop_and_purge, commit_and_delete_earlier_files, damage_and_change]
)
def test_what_is_gone_back_to_has_its_metadata_files_again(
    kept: MockCatalog, tmp_path: Path, undone: Callable[[httpx.Client, MockCatalog], None]
) -> None:
    before = content(kept)
    table = kept.state("wh").table(("a",), "t")
    assert table is not None
    file = Path(table.metadata_location.removeprefix("file://"))
    written = file.read_bytes()
    with kept.checkpoint():
        undone(client(kept), kept)
        assert not file.exists() or file.read_bytes() != written
    assert file.read_bytes() == written
    kept.stop()
    again = MockCatalog(root=tmp_path, keep=True)
    assert content(again) == before
    again.stop()


def test_going_back_writes_no_file_that_is_there(kept: MockCatalog, tmp_path: Path) -> None:
    foreign = next(tmp_path.glob("wh/a/t-*/metadata/00001-*"))
    foreign.write_text(msgspec.json.format(foreign.read_text(), indent=4))
    table = kept.state("wh").table(("a",), "t")
    assert table is not None
    body = {"name": "registered", "metadata-location": table.metadata_location}
    done(client(kept).post("namespaces/a/register", json=body))
    files = {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*.metadata.json")}
    with kept.checkpoint():
        done(client(kept).delete("namespaces/a/tables/registered"))
        done(client(kept).delete("namespaces/a/tables/t"))
        done(client(kept).delete("namespaces/a/views/view-t"))
    assert {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*.metadata.json")} == files


@pytest.mark.parametrize("spelling", ["as it is", "with more slashes"])
def test_a_file_that_two_names_stand_for_goes_with_the_last_one(
    kept: MockCatalog, tmp_path: Path, spelling: str
) -> None:
    http = client(kept)
    table = kept.state("wh").table(("a",), "t")
    assert table is not None
    location = table.metadata_location
    if spelling != "as it is":
        location = location.replace("/metadata/", "//metadata/")
    body = {"name": "registered", "metadata-location": location}
    done(http.post("namespaces/a/register", json=body))
    drop_and_purge(http, kept)
    kept.stop()
    again = MockCatalog(root=tmp_path, keep=True)
    done(client(again).get("namespaces/a/tables/registered"))
    purge = {"purgeRequested": "true"}
    done(client(again).delete("namespaces/a/tables/registered", params=purge))
    assert not Path(table.metadata_location.removeprefix("file://")).exists()
    again.stop()


def test_a_state_put_in_place_leaves_the_earlier_one_as_it_was(
    kept: MockCatalog, tmp_path: Path
) -> None:
    before, snapshot = content(kept), kept.snapshot()
    document = msgspec.json.decode(kept.states.export())
    for space in document["warehouses"]["wh"]["namespaces"]:
        for each in (*space["tables"], *space["views"]):
            each["metadata"].setdefault("properties", {})["k"] = "put in place"
    kept.states.load(document)
    put = content(kept)
    assert all(put[at] != old for at, old in before.items() if isinstance(old, tuple))
    kept.stop()
    again = MockCatalog(root=tmp_path, keep=True)
    assert content(again) == put
    again.restore(snapshot)
    again.stop()
    last = MockCatalog(root=tmp_path, keep=True)
    assert content(last) == before
    last.stop()


def test_a_full_disk_refuses_a_way_back_and_changes_nothing(
    kept: MockCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kept:
        admin = f"{kept.uri}/_mock/v1"
        saved = done(httpx.post(f"{admin}/snapshots")).json()["id"]
        drop_and_purge(client(kept), kept)
        now = content(kept)

        def full(*_: object) -> None:
            raise OSError("no space left")

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", full)
            refused = httpx.post(f"{admin}/snapshots/{saved}/restore")
        assert refused.status_code == 400
        assert "no space left" in refused.text
        assert content(kept) == now
        done(httpx.post(f"{admin}/snapshots/{saved}/restore"))
        done(client(kept).get("namespaces/a/tables/t"))
