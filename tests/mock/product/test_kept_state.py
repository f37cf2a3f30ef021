"""A root whose tables are kept: the next server there has what was acknowledged, and no more."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from icecheck.mock_server import MockCatalog, WarehouseDeclaration
from icecheck.mock_server.commits.publication import load_reply
from icecheck.mock_server.storage.state_file import DIRECTORY, StateFile

SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "x", "required": False, "type": "int"}]}
STATE = Path(DIRECTORY, "state.jsonl")


def view_body(name: str) -> dict[str, Any]:
    version = {
        "version-id": 1,
        "timestamp-ms": 1,
        "schema-id": 0,
        "summary": {},
        "default-namespace": ["a"],
        "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
    }
    return {"name": name, "schema": SCHEMA, "view-version": version, "properties": {}}


def client(mock: MockCatalog, warehouse: str = "wh") -> httpx.Client:
    http = httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1")
    http.get("/config", params={"warehouse": warehouse}).raise_for_status()
    http.base_url = httpx.URL(f"http://mock/v1/{warehouse}/")
    return http


def done(answer: httpx.Response) -> httpx.Response:
    assert answer.is_success, answer.text
    return answer


def fill(http: httpx.Client) -> None:
    """Make namespaces, tables and views; change, rename and drop some of them."""
    for namespace in (["a"], ["a", "b c"], ["gone"]):
        done(http.post("namespaces", json={"namespace": namespace, "properties": {"p": "1"}}))
    done(http.post("namespaces/a/properties", json={"updates": {"p": "2"}, "removals": []}))
    for name in ("t", "dropped", "old"):
        done(http.post("namespaces/a/tables", json={"name": name, "schema": SCHEMA}))
        done(http.post("namespaces/a/views", json=view_body(f"view-{name}")))
    update = {"action": "set-properties", "updates": {"changed": "yes"}}
    done(http.post("namespaces/a/tables/t", json={"requirements": [], "updates": [update]}))
    done(http.post("namespaces/a/views/view-t", json={"requirements": [], "updates": [update]}))
    deep = {"namespace": ["a", "b c"], "name": "new"}
    for kind, name in (("tables", "old"), ("views", "view-old")):
        source = {"namespace": ["a"], "name": name}
        target = deep | {"name": f"new-{kind}"}
        done(http.post(f"{kind}/rename", json={"source": source, "destination": target}))
    done(http.delete("namespaces/a/tables/dropped"))
    done(http.delete("namespaces/a/views/view-dropped"))
    done(http.delete("namespaces/gone"))


def content(mock: MockCatalog, warehouse: str = "wh") -> dict[str, Any]:
    """Return all that a warehouse shows."""
    shown: dict[str, Any] = {}
    for namespace, entry in mock.state(warehouse).namespaces.after():
        shown[".".join(namespace)] = entry.properties
        for name, table in entry.tables.after():
            shown[f"{namespace} table {name}"] = (
                table.metadata_location,
                load_reply(table).body,
            )
        for name, view in entry.views.after():
            shown[f"{namespace} view {name}"] = (view.metadata_location, view.reply.body)
    return shown


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[MockCatalog]:
    mock = MockCatalog(root=tmp_path, keep=True, seed=3)
    fill(client(mock))
    yield mock
    mock.stop()


def test_the_next_server_has_the_same_content(kept: MockCatalog, tmp_path: Path) -> None:
    before = content(kept)
    assert len(before) == 2 + 2 * 2
    for _ in range(3):
        kept.stop()
        kept = MockCatalog(root=tmp_path, keep=True, seed=3)
        assert content(kept) == before
    http = client(kept)
    done(http.post("namespaces/a/tables", json={"name": "old", "schema": SCHEMA}))
    kept.stop()


def test_a_later_server_gives_no_id_again(tmp_path: Path) -> None:
    given = []
    for _ in range(3):
        mock = MockCatalog(root=tmp_path, keep=True, seed=3)
        http = client(mock)
        http.post("namespaces", json={"namespace": ["a"]})
        made = done(http.post("namespaces/a/tables", json={"name": "t", "schema": SCHEMA})).json()
        given.append(made["metadata"]["table-uuid"])
        done(http.delete("namespaces/a/tables/t"))
        mock.stop()
    assert len(set(given)) == 3


def test_what_is_undone_in_python_is_kept_too(kept: MockCatalog, tmp_path: Path) -> None:
    before = content(kept)
    with kept.checkpoint():
        done(client(kept).delete("namespaces/a/tables/t"))
    client(kept, "other").post("namespaces", json={"namespace": ["x"]})
    kept.reset("other")
    kept.stop()
    again = MockCatalog(root=tmp_path, keep=True)
    assert content(again) == before
    assert content(again, "other") == {}
    again.stop()


@pytest.mark.parametrize("how", ["over HTTP", "in Python", "and restored"])
def test_a_removed_warehouse_comes_back_empty_and_is_kept_so(
    kept: MockCatalog, tmp_path: Path, how: str
) -> None:
    kept.stop()
    kept = MockCatalog(root=tmp_path, keep=True)
    before, snapshot = content(kept), kept.snapshot()
    if how == "over HTTP":
        with kept:
            done(httpx.delete(f"{kept.uri}/_mock/v1/warehouses/wh"))
            assert done(client(kept).get("namespaces")).json()["namespaces"] == []
            done(client(kept).post("namespaces", json={"namespace": ["a"]}))
            made = {"name": "new", "schema": SCHEMA}
            done(client(kept).post("namespaces/a/tables", json=made))
            after = content(kept)
    else:
        kept.remove("wh")
        if how == "and restored":
            kept.restore(snapshot)
        after = content(kept)
        assert after == (before if how == "and restored" else {})
        kept.stop()
    again = MockCatalog(root=tmp_path, keep=True)
    assert content(again) == after
    again.stop()


def test_warehouses_that_are_not_declared_this_time_stay(kept: MockCatalog, tmp_path: Path) -> None:
    before = content(kept)
    kept.stop()
    MockCatalog(root=tmp_path, keep=True, warehouses=["another"]).stop()
    again = MockCatalog(root=tmp_path, keep=True, warehouses=["wh"])
    assert content(again) == before
    again.stop()


def test_metadata_in_memory_is_kept_in_the_file(tmp_path: Path) -> None:
    declared = [WarehouseDeclaration("wh", location="gs://bucket/wh")]
    mock = MockCatalog(root=tmp_path, keep=True, warehouses=declared)
    fill(client(mock))
    before = content(mock)
    mock.stop()
    again = MockCatalog(root=tmp_path, keep=True, warehouses=declared)
    assert content(again) == before
    location = next(each[0] for each in before.values() if isinstance(each, tuple))
    http = client(again)
    body = {"name": "registered", "metadata-location": location}
    done(http.post("namespaces/a/register", json=body))
    again.stop()


def test_one_server_at_a_time_has_a_root(kept: MockCatalog, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"another catalog has the root .* {os.getpid()}"):
        MockCatalog(root=tmp_path, keep=True)
    kept.stop()
    with pytest.raises(RuntimeError, match="make another"):
        kept.start()
    assert client(kept).delete("namespaces/a/tables/t").status_code == 400
    with MockCatalog(root=tmp_path, keep=True) as again:
        assert done(client(again).get("namespaces/a/tables/t"))


def test_no_client_reaches_the_file(kept: MockCatalog, tmp_path: Path) -> None:
    before = (tmp_path / STATE).read_bytes()
    for warehouse in ("wh", ".icecheck", "..", "."):
        http = httpx.Client(transport=kept.httpx_transport(), base_url="http://mock/v1")
        config = http.get("/config", params={"warehouse": warehouse}).json()
        prefix = config["overrides"]["prefix"]
        http.post(f"/{prefix}/namespaces", json={"namespace": ["n"]})
        for location in (f"{tmp_path}/{DIRECTORY}", f"{tmp_path}/{DIRECTORY}/state.jsonl"):
            body = {"name": "t", "schema": SCHEMA, "location": f"file://{location}"}
            assert http.post(f"/{prefix}/namespaces/n/tables", json=body).status_code == 400
    assert (tmp_path / STATE).read_bytes().startswith(before)
    assert {each.name for each in (tmp_path / DIRECTORY).iterdir()} == {"state.jsonl", "lock"}


@pytest.mark.parametrize("root", [None, "memory://root", "s3://bucket"])
def test_only_a_directory_can_keep_tables(root: str | None) -> None:
    with pytest.raises(ValueError, match="in a directory only"):
        MockCatalog(root=root, keep=True)


def test_a_full_disk_refuses_a_commit_and_changes_nothing(
    kept: MockCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, files = content(kept), sorted(tmp_path.rglob("*.metadata.json"))
    size = (tmp_path / STATE).stat().st_size
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda handle, data: write(handle, data[: len(data) // 2]))
        body = {"name": "more", "schema": SCHEMA}
        refused = client(kept).post("namespaces/a/tables", json=body)
    assert refused.status_code == 400
    assert content(kept) == before
    assert sorted(tmp_path.rglob("*.metadata.json")) == files
    assert (tmp_path / STATE).stat().st_size == size
    done(client(kept).post("namespaces/a/tables", json=body))
    after = content(kept)
    kept.stop()
    again = MockCatalog(root=tmp_path, keep=True)
    assert content(again) == after
    again.stop()


@pytest.mark.parametrize("what", ["missing", "damaged"])
def test_a_lost_metadata_file_is_named_and_nothing_is_forgotten(
    kept: MockCatalog, tmp_path: Path, what: str
) -> None:
    before = content(kept)
    kept.stop()
    (file,) = tmp_path.glob("wh/a/t-*/metadata/00001-*")
    text = file.read_text()
    file.unlink()
    if what == "damaged":
        file.write_text("{")
    with pytest.raises(ValueError, match=r"table a\.t .* cannot be served"):
        MockCatalog(root=tmp_path, keep=True)
    file.write_text(text)
    again = MockCatalog(root=tmp_path, keep=True)
    assert content(again) == before
    again.stop()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"icecheck-catalog":2}\n', "not of this release"),
        (b"no json\n", "not of this release"),
        (b'{"icecheck-catalog":1}\n{"warehouse":"wh"}\n', "line 2 of .* damaged"),
        (
            b'{"icecheck-catalog":1}\n{"warehouse":"w","changes":[%b]}\n'
            % b'{"is":"no-namespace","namespace":["a"]}',
            "line 2 of .* damaged",
        ),
    ],
)
def test_a_file_that_is_not_understood_stays_as_it_is(
    tmp_path: Path, line: bytes, said: str
) -> None:
    (tmp_path / DIRECTORY).mkdir()
    (tmp_path / STATE).write_bytes(line)
    for _ in range(2):
        with pytest.raises(ValueError, match=said):
            MockCatalog(root=tmp_path, keep=True)
    assert (tmp_path / STATE).read_bytes() == line


def test_a_line_that_was_not_written_to_its_end_is_left_out(tmp_path: Path) -> None:
    file = StateFile(tmp_path)
    file.rewrite([b"1"])
    file.append(b"2")
    file.close()
    with (tmp_path / STATE).open("ab") as opened:
        opened.write(b'{"half')
    again = StateFile(tmp_path)
    assert again.read() == [b"1", b"2"]
    again.close()


def test_the_file_is_short_after_each_start(kept: MockCatalog, tmp_path: Path) -> None:
    http = client(kept)
    for number in range(50):
        body = {"updates": {"p": str(number)}, "removals": []}
        done(http.post("namespaces/a/properties", json=body))
    kept.stop()
    assert len((tmp_path / STATE).read_bytes().splitlines()) > 50
    MockCatalog(root=tmp_path, keep=True).stop()
    lines = (tmp_path / STATE).read_bytes().splitlines()
    assert len(lines) == 2
    assert msgspec.json.decode(lines[0]) == {"icecheck-catalog": 1, "starts": 2}
