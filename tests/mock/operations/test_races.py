"""Threads at once: commits are decided one after another, readers see whole versions."""

from collections.abc import Callable
from functools import partial

import httpx

from icecheck.mock_server import MockCatalog
from tests.mock.operations.together import together

SCHEMA = {"type": "struct", "fields": []}
THREADS = 8
ROUNDS = 25


def at_once(work: Callable[[int], object]) -> None:
    """Run `work(number)` in all threads, starting together."""
    together(*(partial(work, number) for number in range(THREADS)))


def snapshot_commit(uuid: str, parent: int | None, snapshot_id: int) -> dict[str, object]:
    ref = {"ref": "main", "snapshot-id": parent, "type": "assert-ref-snapshot-id"}
    snapshot = {
        "snapshot-id": snapshot_id,
        "sequence-number": snapshot_id,
        "timestamp-ms": 1_700_000_000_000,
        "manifest-list": "memory://root/m.avro",
        "summary": {"operation": "append"},
    }
    if parent is not None:
        snapshot["parent-snapshot-id"] = parent
    update = {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch"}
    return {
        "requirements": [{"type": "assert-table-uuid", "uuid": uuid}, ref],
        "updates": [
            {"action": "add-snapshot", "snapshot": snapshot},
            {**update, "snapshot-id": snapshot_id},
        ],
    }


def race(mock: MockCatalog, new_client: Callable[[], httpx.Client]) -> None:
    """Every thread appends `ROUNDS` snapshots, each on top of the one it last saw."""
    path = "/v1/namespaces/a/tables/t"
    with new_client() as http:
        http.post("/v1/namespaces", json={"namespace": ["a"]})
        created = http.post("/v1/namespaces/a/tables", json={"name": "t", "schema": SCHEMA})
        uuid = created.json()["metadata"]["table-uuid"]
    won: list[int] = []

    def append(_number: int) -> None:
        with new_client() as http:
            done = 0
            while done < ROUNDS:
                current = http.get(path).json()["metadata"]["current-snapshot-id"]
                parent = None if current == -1 else current
                commit = snapshot_commit(uuid, parent, (parent or 0) + 1)
                response = http.post(path, json=commit)
                assert response.status_code in {200, 409}
                if response.status_code == 200:
                    won.append((parent or 0) + 1)
                    done += 1

    at_once(append)
    expected = list(range(1, THREADS * ROUNDS + 1))
    assert sorted(won) == expected, "two commits won on the same base, or one was lost"
    entry = mock.state().table(("a",), "t")
    assert entry is not None
    assert [snapshot.snapshot_id for snapshot in entry.metadata.snapshots] == expected
    assert f"/{len(expected):05d}-" in entry.metadata_location


def test_racing_commits_in_process_lose_no_update() -> None:
    mock = MockCatalog(clock=1_700_000_000_000, root="memory://root")

    def new_client() -> httpx.Client:
        return httpx.Client(transport=mock.httpx_transport(), base_url="http://mock")

    race(mock, new_client)


def test_racing_commits_over_sockets_lose_no_update() -> None:
    with MockCatalog(clock=1_700_000_000_000, root="memory://root") as mock:
        race(mock, lambda: httpx.Client(base_url=mock.uri, timeout=60))


def test_a_name_is_created_once_however_many_try() -> None:
    mock = MockCatalog(root="memory://root")
    statuses: list[int] = []

    def create(_number: int) -> None:
        with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as http:
            for number in range(ROUNDS):
                body = {"namespace": [f"n{number}"]}
                statuses.append(http.post("/v1/namespaces", json=body).status_code)

    at_once(create)
    assert statuses.count(200) == ROUNDS
    assert statuses.count(409) == ROUNDS * (THREADS - 1)


def test_a_warehouse_is_opened_once_however_many_ask() -> None:
    mock = MockCatalog(root="memory://root")
    found: list[object] = []
    at_once(lambda _number: found.append(mock.warehouses.open("new")))
    assert len(found) == THREADS
    assert len({id(warehouse) for warehouse in found}) == 1
