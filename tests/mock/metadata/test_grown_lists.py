"""Long lists are written from what they were, and what is written is the same as ever."""

import json
from itertools import pairwise
from typing import Any

import pytest
from msgspec import structs

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Request
from icecheck.mock_server.metadata import encoding
from icecheck.mock_server.metadata.encoding import (
    Grown,
    Snapshot,
    SnapshotLogEntry,
    TableMetadata,
    encode,
    encode_grown,
)

MANY = 200
SNAPSHOTS = tuple(
    Snapshot(snapshot_id=i, timestamp_ms=i, summary={"operation": "append", "named": '"é",['})
    for i in range(MANY)
)
LOG = tuple(SnapshotLogEntry(timestamp_ms=i, snapshot_id=i) for i in range(MANY))
HISTORIES = {
    "grows": [(10, 10), (63, 63), (64, 64), (65, 65), (65, 66), (200, 200)],
    "grows apart": [(80, 10), (81, 100), (81, 101), (150, 101)],
    "shrinks": [(150, 150), (90, 150), (150, 150), (20, 20), (100, 100)],
    "stays": [(100, 100), (100, 100)],
}
"""How many snapshots and how many entries of the log there are, version by version."""


def grown(metadata: TableMetadata, content: bytes, places: dict[str, slice]) -> dict[str, Grown]:
    whole = memoryview(content)
    return {name: Grown(getattr(metadata, name), whole[at]) for name, at in places.items()}


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_what_is_written_of_a_version_does_not_depend_on_the_one_before(new_table, history):
    before: dict[str, Grown] = {}
    for snapshots, log in history:
        metadata = structs.replace(
            new_table(), snapshots=SNAPSHOTS[:snapshots], snapshot_log=LOG[:log]
        )
        content, places = encode_grown(metadata, before)
        assert content == encode(metadata)
        before = grown(metadata, content, places)
        for name, each in before.items():
            assert json.loads(bytes(each.json)) == json.loads(content)[name.replace("_", "-")]


def test_a_list_with_another_beginning_is_written_anew(new_table):
    first = structs.replace(new_table(), snapshots=SNAPSHOTS[:100])
    before = grown(first, *encode_grown(first, {}))
    other = structs.replace(first, snapshots=(SNAPSHOTS[150], *SNAPSHOTS[1:120]))
    assert encode_grown(other, before)[0] == encode(other)


def test_an_append_does_not_encode_what_was_there(new_table, monkeypatch):
    first = structs.replace(new_table(), snapshots=SNAPSHOTS[:150], snapshot_log=LOG[:150])
    before = grown(first, *encode_grown(first, {}))
    sizes: list[int] = []

    class Counting:
        def encode(self, value: Any) -> bytes:
            sizes.append(len(value) if isinstance(value, tuple) else 0)
            return encoder.encode(value)

    encoder = encoding._ENCODER
    monkeypatch.setattr(encoding, "_ENCODER", Counting())
    encode_grown(structs.replace(first, snapshots=SNAPSHOTS[:151], snapshot_log=LOG[:151]), before)
    assert sizes == [1, 1, 0]


def test_a_table_that_grows_and_shrinks_is_answered_and_written_as_it_is() -> None:
    def append(number: int) -> list[dict[str, Any]]:
        snapshot = {"snapshot-id": number, "sequence-number": number, "timestamp-ms": 10**13}
        snapshot |= {
            "manifest-list": f"file:///m/{number}.avro",
            "summary": {"operation": "append"},
        }
        ref = {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch"}
        added = {"action": "add-snapshot", "snapshot": snapshot}
        return [added, {**ref, "snapshot-id": number}]

    with MockCatalog(warehouses=["wh"], prefix=False, root="memory://root") as mock:

        def ask(method: str, path: str, body: Any = None) -> Any:
            sent = b"" if body is None else json.dumps(body).encode()
            headers = {"content-type": "application/json"}
            answer = mock.app.handle(Request(method, f"/v1/namespaces{path}", "", headers, sent))
            assert answer.reply.status == 200, answer.reply.body
            return json.loads(answer.reply.body)

        ask("POST", "", {"namespace": ["a"]})
        told = [ask("POST", "/a/tables", {"name": "t", "schema": {"type": "struct", "fields": []}})]
        for number in range(1, 141):
            updates = append(number)
            if number == 100:
                updates.append({"action": "remove-snapshots", "snapshot-ids": [*range(1, 31)]})
            body = {"requirements": [], "updates": updates}
            told.append(ask("POST", "/a/tables/t", body))
            assert ask("GET", "/a/tables/t")["metadata"] == told[-1]["metadata"]
    shown = [[s["snapshot-id"] for s in each["metadata"]["snapshots"]] for each in told]
    for number, (before, after) in enumerate(pairwise(shown), 1):
        kept = before[30:] if number == 100 else before
        assert after == [*kept, number]
