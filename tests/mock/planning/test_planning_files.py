"""Delete files, manifests of three versions, and files that are damaged."""

import random
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.mock.planning.handmade import (
    EQUALITY_DELETES,
    POSITION_DELETES,
    File,
    Handmade,
    Manifest,
    encoded,
    make_table,
)
from tests.mock.planning.serving import all_tasks, checked, paths, plan
from tests.mock.planning.wide_table import BY_NAME

SCHEMA = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "id", "required": False, "type": "long"},
        {"id": 2, "name": "word", "required": False, "type": "string"},
        {"id": 3, "name": "day", "required": False, "type": "date"},
    ],
}
BY_ID = [{"name": "id", "transform": "identity", "source-id": 1, "field-id": 1000}]


@pytest.fixture
def table(http: httpx.Client, tmp_path: Path) -> Handmade:
    return make_table(http, tmp_path, "t", SCHEMA)


@pytest.fixture
def newest(http: httpx.Client, tmp_path: Path) -> Handmade:
    return make_table(http, tmp_path, "t", SCHEMA, version=3)


def deletes(http: httpx.Client, **request: Any) -> dict[str, list[str]]:
    return {
        Path(task["data-file"]["file-path"]).stem: [
            Path(each["file-path"]).name for each in task["deletes"]
        ]
        for task in all_tasks(http, "t", request)
    }


def position(name: str, **others: Any) -> File:
    return File(name, content=POSITION_DELETES, **others)


def equality(name: str, **others: Any) -> File:
    return File(name, content=EQUALITY_DELETES, equality_ids=[1], **others)


def test_deletes_reach_older_files_and_positions_those_of_the_same_commit(
    http: httpx.Client, table: Handmade
) -> None:
    table.commit(Manifest([File("old.parquet")]))
    both = Manifest([equality("e.del"), position("p.del")], deletes=True)
    table.commit(Manifest([File("same.parquet")]), both, operation="overwrite")
    table.commit(Manifest([File("new.parquet")]))
    assert deletes(http) == {"old": ["e.del", "p.del"], "same": ["p.del"], "new": []}


def test_a_moved_entry_keeps_its_own_sequence_number(http: httpx.Client, table: Handmade) -> None:
    first = table.commit(Manifest([File("a.parquet")]))
    table.commit(Manifest([equality("e.del")], deletes=True), operation="delete")
    moved = File("a.parquet", status=0, sequence_number=1, snapshot_id=first)
    rewritten = File("b.parquet", sequence_number=2)
    table.commit(Manifest([moved, rewritten]), Manifest([], deletes=True), operation="replace")
    table.manifests = [each for each in table.manifests if "1001" not in each["manifest_path"]]
    table.commit(operation="replace")
    assert deletes(http) == {"a": ["e.del"], "b": []}


def test_a_moved_entry_without_a_sequence_number_makes_the_plan_fail(
    http: httpx.Client, table: Handmade
) -> None:
    table.commit(Manifest([File("a.parquet", status=0, snapshot_id=1)]))
    answer = plan(http, "t")
    assert answer["status"] == "failed"
    assert "no sequence number" in answer["error"]["message"]


def test_a_deletion_vector_stands_for_all_position_deletes_of_its_file(
    http: httpx.Client, newest: Handmade
) -> None:
    newest.commit(Manifest([File("a.parquet"), File("b.parquet")]))
    newest.commit(Manifest([position("p.del"), equality("e.del")], deletes=True))
    vectors = [
        position("v.puffin", format="PUFFIN", referenced=f"{name}.parquet", offset=at, size=9)
        for at, name in ((4, "a"), (13, "gone"))
    ]
    newest.commit(Manifest(vectors, deletes=True), operation="delete")
    assert deletes(http) == {"a": ["e.del", "v.puffin"], "b": ["e.del", "p.del"]}
    answer = plan(http, "t")
    vector = next(each for each in answer["delete-files"] if each["file-format"] == "puffin")
    assert vector == {
        "content": "position-deletes",
        "file-path": "v.puffin",
        "file-format": "puffin",
        "spec-id": 0,
        "partition": [],
        "file-size-in-bytes": 1000,
        "record-count": 10,
        "referenced-data-file": "a.parquet",
        "content-offset": 4,
        "content-size-in-bytes": 9,
    }


def test_two_vectors_for_one_file_make_the_plan_fail(http: httpx.Client, newest: Handmade) -> None:
    newest.commit(Manifest([File("a.parquet")]))
    vectors = [
        position("v.puffin", format="PUFFIN", referenced="a.parquet", offset=at, size=9)
        for at in (4, 13)
    ]
    newest.commit(Manifest(vectors, deletes=True), operation="delete")
    answer = plan(http, "t")
    assert answer["status"] == "failed"
    assert "more than one deletion vector for a.parquet" in answer["error"]["message"]


def long(value: int) -> bytes:
    return encoded(BY_NAME["id"].iceberg_type, value)


@pytest.mark.parametrize(
    ("of_file", "of_delete", "applies"),
    [
        ({}, {}, True),
        ({"lower": {1: long(1)}, "upper": {1: long(5)}}, {}, True),
        (
            {"lower": {1: long(1)}, "upper": {1: long(5)}, "nulls": {1: 0}},
            {"lower": {1: long(6)}, "upper": {1: long(9)}},
            False,
        ),
        (
            {"lower": {1: long(1)}, "upper": {1: long(6)}, "nulls": {1: 0}},
            {"lower": {1: long(6)}, "upper": {1: long(9)}},
            True,
        ),
        (
            {"lower": {1: long(1)}, "upper": {1: long(5)}, "nulls": {1: 2}},
            {"lower": {1: long(6)}, "upper": {1: long(9)}, "nulls": {1: 1}},
            True,
        ),
        ({"values": {1: 10}, "nulls": {1: 10}}, {"nulls": {1: 0}}, False),
        ({"values": {1: 10}, "nulls": {1: 10}}, {"nulls": {1: 1}}, True),
        ({"nulls": {1: 0}}, {"values": {1: 10}, "nulls": {1: 10}}, False),
        ({"nulls": {1: 3}}, {"values": {1: 10}, "nulls": {1: 10}}, True),
    ],
)
def test_equality_deletes_that_cannot_meet_a_row_are_left_out(
    http: httpx.Client, table: Handmade, of_file: Any, of_delete: Any, applies: bool
) -> None:
    table.commit(Manifest([File("a.parquet", **of_file)]))
    table.commit(Manifest([equality("e.del", **of_delete)], deletes=True), operation="delete")
    assert deletes(http) == {"a": ["e.del"] if applies else []}


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz"])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_manifests_of_every_version_and_codec_are_read(
    http: httpx.Client, tmp_path: Path, version: int, codec: str
) -> None:
    table = make_table(http, tmp_path, "t", SCHEMA, BY_ID, version)
    files = [File("a.parquet", (1,), first_row_id=None), File("b.parquet", (2,))]
    table.commit(Manifest(files, codec=codec))
    tasks = all_tasks(http, "t", {"filter": {"type": "eq", "term": "id", "value": 2}})
    assert paths(tasks) == ["b.parquet"]
    assert tasks[0]["data-file"].get("first-row-id") == (10 if version == 3 else None)


def test_a_location_out_of_reach_makes_the_plan_fail(http: httpx.Client, table: Handmade) -> None:
    snapshot = {
        "snapshot-id": 5,
        "sequence-number": 1,
        "timestamp-ms": 1_700_000_000_001,
        "manifest-list": "s3://bucket/list.avro",
        "summary": {"operation": "append"},
        "schema-id": 0,
    }
    table.update({"action": "add-snapshot", "snapshot": snapshot})
    answer = plan(http, "t", {"snapshot-id": 5})
    assert answer["status"] == "failed"
    assert "s3://bucket/list.avro" in answer["error"]["message"]


def damaged(content: bytes, lot: random.Random) -> bytes:
    changed = bytearray(content)
    match lot.randrange(3):
        case 0:
            del changed[lot.randrange(len(changed)) :]
        case 1:
            for _ in range(lot.randint(1, 8)):
                changed[lot.randrange(len(changed))] = lot.randrange(256)
        case _:
            at = lot.randrange(len(changed))
            changed[at:at] = bytes(lot.randrange(256) for _ in range(lot.randint(1, 20)))
    return bytes(changed)


@pytest.mark.parametrize("name", ["snap-1001.avro", "manifest-1001-0.avro"])
@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_damaged_files_make_a_plan_fail_and_never_the_server(
    http: httpx.Client, tmp_path: Path, name: str, codec: str
) -> None:
    table = make_table(http, tmp_path, "t", SCHEMA, BY_ID)
    metrics: dict[str, Any] = {"values": {1: 10}, "lower": {1: long(1)}, "upper": {1: long(2)}}
    files = [File(f"{at}.parquet", (at,), split_offsets=[4], **metrics) for at in range(3)]
    table.commit(Manifest(files, codec=codec))
    file = tmp_path / "t" / name
    intact = file.read_bytes()
    lot = random.Random(name + codec)  # noqa: S311
    failed = 0
    for _ in range(150):
        file.write_bytes(damaged(intact, lot))
        answer = http.post(f"{table.path}/plan", json={"stats-fields": ["id"]})
        assert answer.status_code == 200, answer.text
        failed += checked("planTableScan", answer)["status"] == "failed"
    assert failed > 50
    file.write_bytes(b"")
    emptied = plan(http, "t")
    assert (emptied["status"], emptied["error"]["type"]) == ("failed", "RuntimeIOException")
