"""A commit in the core: five updates on a small table, and one on a table of 10 000 snapshots.

A bare loop of a thousand additions, timed before each round of commits, shows how fast the machine
is at the moment: compare ratios to it, not microseconds.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.metadata.encoding import encode
from icecheck.mock_server.protocol.wire import Request

ROUNDS = 15
COMMITS = 200
SNAPSHOTS = 10_000
ADDITIONS = 1000
LOOPS = 20
PATH = "/v1/wh/namespaces/db/tables/t"
SCHEMA = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "id", "type": "long", "required": True},
        {"id": 2, "name": "data", "type": "string", "required": False},
    ],
}


def post(mock: MockCatalog, path: str, body: object) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    reply = mock.app.handle(Request("POST", path, "", headers, content)).reply
    assert reply.status == 200, reply.body


def mock_with_a_table(root: str) -> MockCatalog:
    mock = MockCatalog(root=root, warehouses=["wh"])
    mock.state("wh")  # opens the warehouse
    post(mock, "/v1/wh/namespaces", {"namespace": ["db"]})
    post(mock, "/v1/wh/namespaces/db/tables", {"name": "t", "schema": SCHEMA})
    return mock


def append(number: int, *, replacing: bool) -> dict[str, object]:
    """Return the commit of a writer: a snapshot, the branch, one property set and one removed."""
    snapshot_id = 10_000_000 + number
    snapshot = {
        "snapshot-id": snapshot_id,
        "sequence-number": number + 1,
        "timestamp-ms": int(time.time() * 1000) + number,
        "summary": {"operation": "append", "added-data-files": "1", "added-records": "10"},
        "manifest-list": f"memory://wh/db/t/metadata/snap-{snapshot_id}.avro",
        "schema-id": 0,
    }
    main = {"ref-name": "main", "type": "branch", "snapshot-id": snapshot_id}
    updates: list[dict[str, object]] = [
        {"action": "add-snapshot", "snapshot": snapshot},
        {"action": "set-snapshot-ref", **main},
        {"action": "set-properties", "updates": {"written-by": f"writer {number}"}},
        {"action": "remove-properties", "removals": ["not-there"]},
    ]
    if replacing:
        removed = [snapshot_id - 1] if number else []
        updates.append({"action": "remove-snapshots", "snapshot-ids": removed})
    return {"requirements": [{"type": "assert-default-spec-id", "default-spec-id": 0}]} | {
        "updates": updates
    }


def microseconds(work: Callable[[], None]) -> float:
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1e6


def bare_loops() -> None:
    for _ in range(LOOPS):
        total = 0
        for number in range(ADDITIONS):
            total += number


def small_commits(root: str) -> tuple[float, float, float]:
    """Return the medians of microseconds per commit, of those per bare loop, and of the ratio.

    A commit has five updates. The table keeps one snapshot, and a full log of metadata files after
    the first hundred.
    """
    mock = mock_with_a_table(root)
    rounds, loops = [], []
    for round_ in range(ROUNDS):
        first = round_ * COMMITS
        bodies = [
            json.dumps(append(n, replacing=True)).encode() for n in range(first, first + COMMITS)
        ]
        loops.append(microseconds(bare_loops) / LOOPS)
        spent = microseconds(lambda all_=bodies: [post(mock, PATH, body) for body in all_] and None)
        rounds.append(spent / COMMITS)
    mock.stop()
    ratios = [spent / loop for spent, loop in zip(rounds, loops, strict=True)]
    return statistics.median(rounds), statistics.median(loops), statistics.median(ratios)


def large_commits() -> tuple[float, float]:
    """Return milliseconds of a commit on a table of many snapshots and of encoding its metadata."""
    mock = mock_with_a_table("memory://benchmark")
    for first in range(0, SNAPSHOTS, 500):
        updates = [
            append(number, replacing=False)["updates"][0]  # type: ignore[index]
            for number in range(first, first + 500)
        ]
        post(mock, PATH, {"requirements": [], "updates": updates})
    commits, encodings = [], []
    for number in range(ROUNDS):
        body = json.dumps(append(SNAPSHOTS + number, replacing=False)).encode()
        commits.append(microseconds(lambda body=body: post(mock, PATH, body)))
        entry = mock.state("wh").table(("db",), "t")
        assert entry is not None
        metadata = entry.metadata
        encodings.append(microseconds(lambda m=metadata: encode(m) and None))
    mock.stop()
    return statistics.median(commits) / 1000, statistics.median(encodings) / 1000


def main() -> None:
    in_memory, loop, ratio = small_commits("memory://benchmark")
    with tempfile.TemporaryDirectory() as folder:
        on_disk, _, ratio_on_disk = small_commits(folder)
    print(f"commit of five updates on a small table: {in_memory:.0f} µs in the core")
    print(f"  {ratio:.2f} times a bare loop of {ADDITIONS} additions, which took {loop:.0f} µs")
    print(f"  with its metadata file on disk: {on_disk:.0f} µs, {ratio_on_disk:.2f} loops")
    commit, encoding = large_commits()
    print(f"commit on a table of {SNAPSHOTS} snapshots: {commit:.1f} ms")
    print(f"  encoding its metadata: {encoding:.1f} ms, ratio {commit / encoding:.2f}")


if __name__ == "__main__":
    main()
