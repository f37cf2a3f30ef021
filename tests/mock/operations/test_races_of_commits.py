"""Many threads commit to few tables: each success takes effect once, readers see whole versions."""

import contextlib
import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.clients.in_process import exchange
from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.state import WarehouseState
from tests.mock.operations.together import together

NOW_MS = 1_700_000_000_000
THREADS = 16
TABLES = ("t0", "t1", "t2", "t3")
KEPT = 8
"""How many snapshots a table keeps, so that 4 000 commits cost what 8 do."""
THIN = {
    "write.metadata.previous-versions-max": "1",
    "write.metadata.delete-after-commit.enabled": "true",
}
NAMESPACE = "/v1/namespaces/ns"

Json = dict[str, Any]
Send = Callable[..., tuple[int, bytes]]
"""Sends (method, path, body or None) and gives status and body of the answer."""


class Head(NamedTuple):
    """What a writer read: the branch's head (None: empty), its turn, and all snapshots."""

    snapshot_id: int | None
    turn: int
    kept: tuple[int, ...]


class Success(NamedTuple):
    """A commit that was answered with success: on which head, and what it made of it."""

    table: str
    parent: int | None
    snapshot_id: int


@pytest.fixture(autouse=True)
def eager_switching() -> Iterator[None]:
    """Let threads interrupt each other nearly everywhere; commits meet far more often then."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def mock() -> MockCatalog:
    return MockCatalog(clock=NOW_MS, root="memory://root", journal_entries_max=1)


@pytest.fixture
def send(mock: MockCatalog) -> Send:
    return in_process(mock)


def in_process(mock: MockCatalog) -> Send:
    def send(method: str, path: str, body: object = None) -> tuple[int, bytes]:
        content = b"" if body is None else msgspec.json.encode(body)
        reply = exchange(mock.app, method, path, (("content-type", "application/json"),), content)
        return reply.status, reply.body

    return send


def create_tables(send: Send, names: Sequence[str] = TABLES) -> None:
    assert send("POST", "/v1/namespaces", {"namespace": ["ns"]})[0] == 200
    for name in names:
        schema = {"type": "struct", "fields": []}
        body = {"name": name, "schema": schema, "properties": THIN}
        assert send("POST", f"{NAMESPACE}/tables", body)[0] == 200


def load(send: Send, table: str) -> Head:
    status, body = send("GET", f"{NAMESPACE}/tables/{table}")
    assert status == 200
    metadata = msgspec.json.decode(body)["metadata"]
    snapshots = metadata.get("snapshots", [])
    current = metadata.get("current-snapshot-id", -1)
    return Head(
        None if current == -1 else current,
        int(snapshots[-1]["summary"]["turn"]) if snapshots else 0,
        tuple(snapshot["snapshot-id"] for snapshot in snapshots),
    )


def append(head: Head, snapshot_id: int) -> Json:
    """A commit that puts a snapshot on this head and on no other, and drops the oldest."""
    turn = head.turn + 1
    snapshot = {
        "snapshot-id": snapshot_id,
        "sequence-number": turn,
        "timestamp-ms": NOW_MS,
        "manifest-list": "memory://root/m.avro",
        "summary": {"operation": "append", "turn": str(turn)},
    }
    if head.snapshot_id is not None:
        snapshot["parent-snapshot-id"] = head.snapshot_id
    updates: list[Json] = [
        {"action": "add-snapshot", "snapshot": snapshot},
        {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch",
         "snapshot-id": snapshot_id},
    ]  # fmt: skip
    if len(head.kept) >= KEPT:
        updates.append({"action": "remove-snapshots", "snapshot-ids": [head.kept[0]]})
    expected = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": head.snapshot_id}
    return {"requirements": [expected], "updates": updates}


def commit(send: Send, tables: Sequence[str], snapshot_id: int) -> tuple[int, list[Success]]:
    """Load the tables and append to all of them; several are one transaction."""
    heads = [load(send, table) for table in tables]
    changes = [append(head, snapshot_id) for head in heads]
    if len(tables) == 1:
        status, _ = send("POST", f"{NAMESPACE}/tables/{tables[0]}", changes[0])
    else:
        for table, change in zip(tables, changes, strict=True):
            change["identifier"] = {"namespace": ["ns"], "name": table}
        status, _ = send("POST", "/v1/transactions/commit", {"table-changes": changes})
    found = zip(tables, heads, strict=True)
    return status, [Success(table, head.snapshot_id, snapshot_id) for table, head in found]


def anomalies(successes: Sequence[Success], heads: dict[str, Head]) -> list[str]:
    """What contradicts that the successes took effect one after another, each exactly once."""
    found: list[str] = []
    for table, head in heads.items():
        own = [success for success in successes if success.table == table]
        next_of: dict[int | None, int] = {}
        for _, parent, snapshot_id in own:
            if parent in next_of:
                found.append(f"{table}: {next_of[parent]} and {snapshot_id} won on {parent}")
            next_of[parent] = snapshot_id
        path: list[int | None] = [None]
        while path[-1] in next_of and len(path) <= len(own):
            path.append(next_of[path[-1]])
        if len(path) - 1 != len(own):
            found.append(f"{table}: {len(own)} successes, {len(path) - 1} in a row")
        if path[-1] != head.snapshot_id:
            found.append(f"{table}: the last success is {path[-1]}, the head {head.snapshot_id}")
        if head.turn != len(own):
            found.append(f"{table}: {len(own)} successes, the table counts {head.turn}")
        if head.kept and list(head.kept) != path[-len(head.kept) :]:
            found.append(f"{table}: the log is not the end of the row of successes")
    return found


def race(new_sender: Callable[[], Send], commits: int) -> None:
    """Every thread sends so many commits, to tables in turn, each tenth to two tables at once."""
    create_tables(new_sender())
    successes: list[Success] = []
    statuses: list[int] = []

    def write(number: int) -> None:
        send = new_sender()
        for turn in range(commits):
            tables = [TABLES[(number + turn) % 4]]
            if turn % 10 == 9:
                tables.append(TABLES[(number + turn + 1) % 4])
            status, made = commit(send, tables, 1 + number * commits + turn)
            statuses.append(status)
            if status != 409:
                successes.extend(made)

    together(*(partial(write, number) for number in range(THREADS)))
    heads = {table: load(new_sender(), table) for table in TABLES}
    assert anomalies(successes, heads) == []
    assert len(statuses) == THREADS * commits
    assert set(statuses) == {200, 204, 409}, "nobody raced, or something else happened"
    assert min(head.turn for head in heads.values()) > commits / 10


def test_16_threads_with_250_commits_each_lose_no_update(mock: MockCatalog, send: Send) -> None:
    race(lambda: send, commits=250)


def test_many_connections_lose_no_update() -> None:
    with MockCatalog(clock=NOW_MS, root="memory://root") as mock, contextlib.ExitStack() as closing:

        def new_sender() -> Send:
            limits = httpx.Limits(max_keepalive_connections=1)
            client = httpx.Client(base_url=mock.uri, timeout=60, trust_env=False, limits=limits)
            closing.enter_context(client)

            def send(method: str, path: str, body: object = None) -> tuple[int, bytes]:
                answer = client.request(method, path, json=body)
                return answer.status_code, answer.content

            return send

        race(new_sender, commits=40)


# Readers


def until(watched: threading.Event, rounds: int, limit: int = 5_000) -> Iterator[int]:
    """Turns for a writer: at least `rounds`, and on until readers have watched enough of them.

    How often a reader comes to its turn is the machine's business; that it does must not be.
    The limit only ends a test whose readers are stuck.
    """
    turn = 0
    while turn < rounds or (not watched.is_set() and turn < limit):
        yield turn
        turn += 1


def look(send: Send) -> str | None:
    """What a reader of two tables that only change together can see wrong, or None.

    One request shows one table, so the first is loaded before and after the second: whoever sees
    a version of one must find the other at least as far, and never further than the first is now.
    """
    before, other, after = load(send, "t0").turn, load(send, "t1").turn, load(send, "t0").turn
    return None if before <= other <= after else f"t0 {before}, then t1 {other}, then t0 {after}"


def test_readers_never_see_half_a_transaction(mock: MockCatalog, send: Send) -> None:
    create_tables(send, ("t0", "t1"))
    rounds, writers, done, watched = 150, 4, threading.Event(), threading.Event()
    running, snapshot_ids = itertools.count(1), itertools.count(1)
    seen: list[str] = []
    written: list[int] = []

    def write() -> None:
        try:
            for _ in until(watched, rounds):
                snapshot_id = next(snapshot_ids)
                while commit(send, ("t0", "t1"), snapshot_id)[0] != 204:
                    pass
                written.append(snapshot_id)
        finally:
            if next(running) == writers:
                done.set()

    def read() -> None:
        turns: set[int] = set()
        while not done.is_set():
            seen.extend(filter(None, (look(send),)))
            state = mock.state()
            pair = [state.table(("ns",), table) for table in ("t0", "t1")]
            kept = [tuple(s.snapshot_id for s in t.metadata.snapshots) for t in pair if t]
            if kept[0] != kept[1]:
                seen.append(f"one state holds {kept[0]} and {kept[1]}")
            turns.add(load(send, "t0").turn)
            if len(turns) > 10:
                watched.set()

    together(*([write] * writers), *([read] * 4))
    assert seen == []
    assert load(send, "t0").turn == load(send, "t1").turn == len(written)
    assert watched.is_set(), "no reader saw more than ten turns"


def test_a_listing_shows_all_tables_of_a_transaction_or_none(send: Send) -> None:
    assert send("POST", "/v1/namespaces", {"namespace": ["ns"]})[0] == 200
    done, watched = threading.Event(), threading.Event()
    lengths: list[int] = []
    written: list[int] = []

    def write() -> None:
        try:
            for turn in until(watched, rounds=60):
                body = {"table-changes": [creation(f"{side}{turn}") for side in "abc"]}
                assert send("POST", "/v1/transactions/commit", body)[0] == 204
                written.append(turn)
        finally:
            done.set()

    def read() -> None:
        while not done.is_set():
            lengths.append(len(listed(send)))
            if len(set(lengths)) > 5:
                watched.set()

    together(write, read, read, read)
    assert len(listed(send)) == 3 * len(written)
    assert {length % 3 for length in lengths} == {0}
    assert watched.is_set(), "no reader saw more than five lengths"


def creation(name: str) -> Json:
    schema = {"type": "struct", "schema-id": 0, "fields": []}
    return {
        "identifier": {"namespace": ["ns"], "name": name},
        "requirements": [{"type": "assert-create"}],
        "updates": [
            {"action": "upgrade-format-version", "format-version": 2},
            {"action": "add-schema", "schema": schema},
            {"action": "set-current-schema", "schema-id": -1},
            {"action": "add-spec", "spec": {"spec-id": 0, "fields": []}},
            {"action": "set-default-spec", "spec-id": -1},
            {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
            {"action": "set-default-sort-order", "sort-order-id": -1},
            {"action": "set-location", "location": f"memory://root/{name}"},
        ],
    }


def listed(send: Send) -> list[Json]:
    status, body = send("GET", f"{NAMESPACE}/tables")
    assert status == 200
    found: list[Json] = msgspec.json.decode(body)["identifiers"]
    return found


# These tests can fail


def test_without_the_lock_an_update_is_lost_and_found_out(mock: MockCatalog, send: Send) -> None:
    create_tables(send, ("t0",))
    warehouse = mock.warehouses.open(None)
    assert warehouse is not None
    warehouse.lock = contextlib.nullcontext()  # type: ignore[assignment]
    both_decided = threading.Barrier(2, timeout=60)
    faithful = mock.registries.operations["updateTable"]

    def decided(context: Context, state: WarehouseState, call: Call, /) -> Outcome:
        outcome = faithful(context, state, call)
        both_decided.wait()
        return outcome

    mock.registries.operations["updateTable"] = decided
    successes: list[Success] = []

    def write(snapshot_id: int) -> None:
        status, made = commit(send, ("t0",), snapshot_id)
        assert status == 200
        successes.extend(made)

    together(lambda: write(1), lambda: write(2))
    found = anomalies(successes, {"t0": load(send, "t0")})
    assert any("won on None" in anomaly for anomaly in found)
    assert any("the table counts 1" in anomaly for anomaly in found)


def test_a_transaction_published_in_two_steps_is_found_out(mock: MockCatalog, send: Send) -> None:
    create_tables(send, ("t0", "t1"))
    warehouse = mock.warehouses.open(None)
    assert warehouse is not None
    faithful = mock.registries.operations["commitTransaction"]
    seen: list[str | None] = []

    def torn(context: Context, state: WarehouseState, call: Call, /) -> Outcome:
        outcome = faithful(context, state, call)
        first = outcome.state.table(("ns",), "t0")
        assert first is not None
        warehouse.state = state.with_table(("ns",), "t0", first)
        seen.append(look(send))
        return outcome

    mock.registries.operations["commitTransaction"] = torn
    assert commit(send, ("t0", "t1"), 1)[0] == 204
    assert seen == ["t0 1, then t1 0, then t0 1"]
    assert look(send) is None


@pytest.mark.parametrize(
    ("successes", "head", "found"),
    [
        ([(None, 1), (1, 2)], Head(2, 2, (1, 2)), ""),
        ([(None, 1), (1, 2), (1, 3)], Head(3, 2, (1, 3)), "2 and 3 won on 1"),
        ([(None, 1), (1, 2)], Head(1, 1, (1,)), "the last success is 2, the head 1"),
        ([(None, 1)], Head(9, 2, (1, 9)), "the last success is 1, the head 9"),
        ([(None, 1), (7, 8)], Head(1, 1, (1,)), "2 successes, 1 in a row"),
        ([(None, 1), (1, 2)], Head(2, 2, (2, 1)), "the log is not the end"),
    ],
)
def test_the_judge_of_races_knows_every_anomaly(
    successes: list[tuple[int | None, int]], head: Head, found: str
) -> None:
    told = anomalies([Success("t", *each) for each in successes], {"t": head})
    assert any(found in anomaly for anomaly in told) if found else told == []
