"""What changes several warehouses changes all of them or none, also where the disk is full."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.serving.seeding import SeedUnusable
from icecheck.mock_server.serving.state_documents import StateUnreadable
from icecheck.mock_server.storage import state_file

LONG = {"name": "long", "properties": {"p": "y" * 9000}}
NAMES = ("a", "b")


def namespaces(mock: MockCatalog) -> dict[str, list[str]]:
    return {
        each.name: [levels[0] for levels, _ in each.state.namespaces.after()]
        for each in mock.warehouses.all()
    }


def filled(root: Path) -> MockCatalog:
    mock = MockCatalog(root=root, keep=True)
    mock.states.seed({"warehouses": {name: [{"name": "old"}, LONG] for name in NAMES}})
    return mock


def full_after(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Let the disk be full once the file has this size: what is longer is written in part."""
    write = os.write

    def limited(handle: int, content: bytes) -> int:
        room = size - os.fstat(handle).st_size
        if room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, content[:room])

    monkeypatch.setattr(state_file.os, "write", limited)


def state_file_of(root: Path) -> Path:
    return root / state_file.DIRECTORY / "state.jsonl"


def seed(mock: MockCatalog) -> None:
    more = [{"name": "new", "properties": {"p": "y" * 900}}]
    mock.states.seed({"warehouses": dict.fromkeys(NAMES, more)})


def load(mock: MockCatalog) -> None:
    spaces = [{"namespace": ["new"], "properties": {"p": "y" * 900}}]
    warehouses = {name: {"location": "file:///x", "namespaces": spaces} for name in NAMES}
    mock.states.load({"icecheck-state": 1, "warehouses": warehouses})


CHANGES: dict[str, Callable[[MockCatalog], object]] = {
    "seed": seed,
    "load": load,
    "restore": lambda mock: mock.restore(mock.states.saved["s-1"]),
    "empty": lambda mock: mock.reset(),
    "remove": lambda mock: mock.remove("a"),
}


@pytest.mark.parametrize(
    ("change", "room"),
    [("seed", 1200), ("load", 1200), ("restore", 100), ("empty", 150), ("remove", 10)],
)
def test_what_cannot_be_kept_changes_no_warehouse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, room: int
) -> None:
    """There is room for the change of one warehouse, and not for that of both."""
    mock = filled(tmp_path)
    mock.states.save()
    for name in NAMES:
        mock.states.seed({"warehouses": {name: [{"name": "later"}]}})
    before = namespaces(mock)
    with monkeypatch.context() as patch:
        full_after(patch, state_file_of(tmp_path).stat().st_size + room)
        with pytest.raises((OSError, Problem, StateUnreadable)):
            CHANGES[change](mock)
    assert namespaces(mock) == before
    mock.stop()
    again = MockCatalog(root=tmp_path, keep=True)
    assert namespaces(again) == before
    again.stop()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/reset", {}),
        ("POST", "/warehouses/a/reset", {}),
        ("DELETE", "/warehouses/a", None),
        ("POST", "/snapshots/s-1/restore", {}),
        ("POST", "/seed", {"warehouses": {"a": [{"name": "new"}], "b": [{"name": "new"}]}}),
        (
            "PUT", "/state",
            {"icecheck-state": 1, "warehouses": {"a": {"location": "file:///x", "namespaces": []}}},
        ),
    ],
)  # fmt: skip
def test_a_full_disk_is_the_answer_of_each_route_that_changes_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: Any
) -> None:
    with filled(tmp_path) as mock:
        mock.states.save()
        mock.states.seed({"warehouses": {name: [{"name": "later"}] for name in NAMES}})
        before = namespaces(mock)
        with monkeypatch.context() as patch:
            full_after(patch, state_file_of(tmp_path).stat().st_size + 5)
            answer = httpx.request(method, f"{mock.uri}/_mock/v1{path}", json=body, trust_env=False)
        assert answer.status_code == 400
        assert "space" in answer.text or "room" in answer.text
        assert namespaces(mock) == before


def test_two_warehouses_that_change_together_are_one_line(tmp_path: Path) -> None:
    mock = filled(tmp_path)
    kept = state_file_of(tmp_path)
    lines = len(kept.read_bytes().splitlines())
    seed(mock)
    assert len(kept.read_bytes().splitlines()) == lines + 1
    expected = namespaces(mock)
    mock.stop()
    # A process that ends while it writes leaves a part of a line, which is then left out whole.
    whole = kept.read_bytes()
    again = MockCatalog(root=tmp_path, keep=True)
    assert namespaces(again) == expected
    again.stop()
    kept.write_bytes(whole[:-200])
    partly = MockCatalog(root=tmp_path, keep=True)
    assert namespaces(partly) == {name: ["long", "old"] for name in NAMES}
    partly.stop()


@pytest.mark.parametrize("why", ["seed", "document"])
def test_what_is_refused_has_opened_no_warehouse(why: str) -> None:
    with MockCatalog(root="memory://root") as mock:
        shown = f"{mock.uri}/_mock/v1/warehouses"
        if why == "seed":
            bad = [{"name": "x", "tables": [{"name": "t", "columns": {"id": "lnog"}}]}]
            with pytest.raises(SeedUnusable):
                mock.states.seed({"warehouses": {"one": [{"name": "x"}], "two": bad}})
        else:
            empty = {"location": "file:///x", "namespaces": []}
            wrong = {"location": "file:///x", "namespaces": [{"namespace": []}]}
            warehouses = {"one": empty, "two": wrong}
            with pytest.raises(StateUnreadable):
                mock.states.load({"icecheck-state": 1, "warehouses": warehouses})
        assert httpx.get(shown, trust_env=False).json() == {"warehouses": []}


def test_a_document_cannot_fill_one_warehouse_twice() -> None:
    mock = MockCatalog(prefix=False, root="memory://root")
    empty = {"location": "file:///x", "namespaces": []}
    with pytest.raises(StateUnreadable, match="of another name"):
        mock.states.load({"icecheck-state": 1, "warehouses": {"a": empty, "b": empty}})


@pytest.mark.parametrize("how", ["restore", "POST"])
def test_a_declared_warehouse_that_was_removed_can_be_had_again(how: str) -> None:
    with MockCatalog(warehouses=["wh", "other"], root="memory://root") as mock:
        admin = httpx.Client(base_url=f"{mock.uri}/_mock/v1", trust_env=False)
        config = f"{mock.uri}/v1/config?warehouse=wh"
        mock.states.seed({"warehouses": {"wh": [{"name": "db"}]}})
        saved = admin.post("/snapshots").json()["id"]
        assert admin.delete("/warehouses/wh").status_code == 204
        assert admin.get(config).status_code == 404
        if how == "restore":
            assert admin.post(f"/snapshots/{saved}/restore").status_code == 204
        else:
            assert admin.post("/warehouses", json={"name": "wh"}).status_code == 200
        assert admin.get(config).status_code == 200
        assert namespaces(mock)["wh"] == (["db"] if how == "restore" else [])
        admin.close()


def test_a_request_that_meets_the_removal_of_its_warehouse_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mock = filled(tmp_path)
    found = mock.warehouses.named("a")
    mock.remove("a")
    with monkeypatch.context() as patch:  # as if the request had been routed before that
        patch.setattr(mock.warehouses, "under", lambda _prefix: found)
        with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as http:
            answer = http.post("/v1/a/namespaces", json={"namespace": ["late"]})
    assert answer.status_code == 404
    mock.stop()
    again = MockCatalog(root=tmp_path, keep=True)
    assert "a" not in namespaces(again)
    again.stop()
