"""Table metadata as JSON: what each format version writes and what is read back."""

import json

import jsonschema_rs
import msgspec
import pytest
from pyiceberg.table.metadata import TableMetadataUtil

from icecheck.mock_server.metadata.encoding import (
    decode,
    encode,
    encode_with_snapshots,
    to_builtins,
)
from tests.kit.contracts import CONTRACT

ORDER = [
    "format-version", "table-uuid", "location", "last-sequence-number", "last-updated-ms",
    "last-column-id", "schema", "current-schema-id", "schemas", "partition-spec",
    "default-spec-id", "partition-specs", "last-partition-id", "default-sort-order-id",
    "sort-orders", "properties", "current-snapshot-id", "next-row-id", "encryption-keys", "refs",
    "snapshots", "statistics", "partition-statistics", "snapshot-log", "metadata-log",
]  # fmt: skip
ABSENT = {
    1: {"last-sequence-number", "next-row-id", "encryption-keys"},
    2: {"schema", "partition-spec", "next-row-id", "encryption-keys"},
    3: {"schema", "partition-spec", "encryption-keys"},
}


@pytest.mark.parametrize("version", [1, 2, 3])
def test_members_come_in_one_order_and_only_those_of_the_version(new_table, version):
    names = list(json.loads(encode(new_table(version))))
    assert names == [name for name in ORDER if name not in ABSENT[version]]


def test_version_1_repeats_its_schema_and_spec_in_their_old_places(new_table):
    spec = {"fields": [{"name": "id", "source-id": 1, "transform": "identity"}]}
    document = to_builtins(new_table(1, partition_spec=spec))
    assert document["schema"] == document["schemas"][0]
    assert document["partition-spec"] == document["partition-specs"][0]["fields"]


@pytest.mark.parametrize(("version", "written"), [(1, -1), (2, -1), (3, None)])
def test_no_current_snapshot_is_written_as_the_version_wants(new_table, version, written):
    assert to_builtins(new_table(version))["current-snapshot-id"] == written


def test_a_schema_writes_type_id_and_fields(new_table):
    schema = to_builtins(new_table())["schemas"][0]
    assert list(schema) == ["type", "schema-id", "fields"]
    assert schema["fields"][0] == {"id": 1, "name": "id", "required": True, "type": "long"}


def test_identifier_fields_and_defaults_are_written_when_there_are_any(new_table, schema_of):
    column = {
        "id": 1,
        "name": "id",
        "required": True,
        "type": "long",
        "doc": "key",
        "initial-default": 0,
        "write-default": 5,
    }
    schema = schema_of(column, **{"identifier-field-ids": [1]})
    written = to_builtins(new_table(3, schema=schema))["schemas"][0]
    assert list(written) == ["type", "schema-id", "identifier-field-ids", "fields"]
    assert written["fields"] == [column]
    assert list(written["fields"][0]) == list(column)


def test_nested_types_are_written_as_they_were_sent(new_table, schema_of):
    kind = {
        "type": "map",
        "key-id": 2,
        "key": "string",
        "value-id": 3,
        "value": {
            "type": "list",
            "element-id": 4,
            "element": {"type": "struct", "fields": []},
            "element-required": False,
        },
        "value-required": True,
    }
    schema = schema_of({"id": 1, "name": "a", "required": False, "type": kind})
    assert to_builtins(new_table(schema=schema))["schemas"][0]["fields"][0]["type"] == kind


def test_a_snapshot_is_written_in_order_and_without_members_that_nobody_knows(
    new_table, commit, snapshot
):
    sent = snapshot(7, sequence_number=1, schema_id=0, key_id="k")
    unknown = {"future": {"b": [1.0, None], "a": 2**62}, "unknown": json.loads("[" * 65 + "]" * 65)}
    table = commit(new_table(), {"action": "add-snapshot", "snapshot": {**unknown, **sent}})
    written = to_builtins(table)["snapshots"][0]
    assert written == sent
    assert list(written) == [
        "sequence-number", "snapshot-id", "timestamp-ms", "summary", "manifest-list", "schema-id",
        "key-id",
    ]  # fmt: skip
    assert decode(encode(table)) == table


def test_a_sequence_number_of_zero_is_not_written(new_table, commit, snapshot):
    sent = snapshot(7, sequence_number=0)
    table = commit(new_table(1), {"action": "add-snapshot", "snapshot": sent})
    assert "sequence-number" not in to_builtins(table)["snapshots"][0]


def test_refs_only_writes_the_snapshots_that_refs_name(table_with_history):
    everything = json.loads(encode_with_snapshots(table_with_history, refs_only=False))
    filtered = json.loads(encode_with_snapshots(table_with_history, refs_only=True))
    assert [s["snapshot-id"] for s in everything["snapshots"]] == [1, 2]
    assert [s["snapshot-id"] for s in filtered["snapshots"]] == [2]
    assert everything | {"snapshots": []} == filtered | {"snapshots": []}


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_new_table_is_read_back(new_table, version):
    table = new_table(version)
    assert decode(encode(table)) == table


@pytest.fixture(scope="module", params=[1, 2, 3])
def full_table(request, new_table, commit, add_main, set_ref, schema_of):
    """Give a table of each version that has something of everything."""
    version = request.param
    table = new_table(
        version,
        schema=schema_of(**{"identifier-field-ids": [1]}),
        partition_spec={"fields": [{"name": "d", "source-id": 3, "transform": "day"}]},
        write_order={
            "fields": [
                {
                    "source-id": 1,
                    "transform": "bucket[4]",
                    "direction": "desc",
                    "null-order": "nulls-last",
                }
            ]
        },
    )
    rows = {"first_row_id": 0, "added_rows": 3} if version == 3 else {}
    sequence = {"sequence_number": 1} if version > 1 else {}
    files = {"snapshot-id": 7, "statistics-path": "s", "file-size-in-bytes": 9}
    blob = {
        "type": "apache-datasketches-theta-v1",
        "snapshot-id": 7,
        "sequence-number": 1,
        "fields": [1],
    }
    key = {"key-id": "k", "encrypted-key-metadata": "c2VjcmV0"}
    statistics = {**files, "file-footer-size-in-bytes": 3, "blob-metadata": [blob]}
    return commit(
        table,
        *add_main(7, schema_id=0, **rows, **sequence),
        set_ref("v1", 7, type="tag", max_ref_age_ms=9),
        {"action": "set-statistics", "statistics": statistics},
        {"action": "set-partition-statistics", "partition-statistics": files},
        {"action": "add-encryption-key", "encryption-key": key},
    )


def test_a_full_table_is_read_back(full_table):
    assert decode(encode(full_table)) == full_table


def test_what_is_written_satisfies_the_contract(full_table):
    document = CONTRACT.corrected()
    schema = {"$ref": "#/components/schemas/TableMetadata", "components": document["components"]}
    assert list(jsonschema_rs.validator_for(schema).iter_errors(to_builtins(full_table))) == []


def test_pyiceberg_reads_what_is_written(full_table):
    read = TableMetadataUtil.parse_raw(encode(full_table).decode())
    assert (read.format_version, read.current_snapshot_id) == (full_table.format_version, 7)
    assert read.schema().identifier_field_ids == [1]
    assert str(read.spec().fields[0].transform) == "day"
    assert str(read.sort_order_by_id(1).fields[0].transform) == "bucket[4]"
    assert set(read.refs) == {"main", "v1"}
    assert [each.snapshot_id for each in read.statistics] == [7]


@pytest.fixture
def version_1_file(schema_of):
    return {
        "format-version": 1,
        "location": "s3://b/t/",
        "last-updated-ms": 1000,
        "last-column-id": 3,
        "schema": schema_of(),
        "partition-spec": [{"name": "d", "source-id": 3, "transform": "day"}],
    }


def test_a_version_1_file_needs_only_its_old_members(version_1_file):
    del version_1_file["schema"]["schema-id"]
    table = decode(msgspec.json.encode(version_1_file))
    assert (table.current_schema_id, table.default_spec_id, table.default_sort_order_id) == (0,) * 3
    assert table.partition_specs[0].fields[0].field_id == 1000
    assert (table.last_partition_id, table.last_sequence_number) == (1000, 0)
    assert (table.sort_orders[0].order_id, table.current_snapshot_id) == (0, None)
    assert table.location == "s3://b/t"


def test_a_version_1_file_without_a_uuid_always_gets_the_same_one(version_1_file):
    first, second = (decode(msgspec.json.encode(version_1_file)) for _ in range(2))
    assert first.table_uuid == second.table_uuid
    other = decode(msgspec.json.encode({**version_1_file, "location": "s3://b/u"}))
    assert other.table_uuid != first.table_uuid


def test_a_file_without_refs_gets_main_from_its_current_snapshot(version_1_file, snapshot):
    version_1_file |= {"snapshots": [snapshot(5)], "current-snapshot-id": 5}
    table = decode(msgspec.json.encode(version_1_file))
    assert table.refs["main"].snapshot_id == 5
    assert table.refs["main"].type == "branch"


def test_a_version_1_snapshot_may_list_its_manifests_in_place(version_1_file, snapshot):
    sent = snapshot(5, manifest_list=None, manifests=["m1", "m2"], summary=None)
    version_1_file["snapshots"] = [sent]
    table = decode(msgspec.json.encode(version_1_file))
    assert to_builtins(table)["snapshots"] == [sent]


@pytest.mark.parametrize("written", [None, -1, "absent"])
@pytest.mark.parametrize("version", [2, 3])
def test_no_current_snapshot_is_read_in_every_spelling(new_table, version, written):
    document = to_builtins(new_table(version))
    document["current-snapshot-id"] = written
    if written == "absent":
        del document["current-snapshot-id"]
    assert decode(msgspec.json.encode(document)).current_snapshot_id is None


@pytest.mark.parametrize(
    ("version", "member"),
    [
        (2, "table-uuid"),
        (2, "last-sequence-number"),
        (2, "schemas"),
        (2, "current-schema-id"),
        (2, "partition-specs"),
        (2, "default-spec-id"),
        (2, "last-partition-id"),
        (2, "sort-orders"),
        (2, "default-sort-order-id"),
        (3, "next-row-id"),
        (1, "location"),
        (1, "last-updated-ms"),
        (1, "last-column-id"),
        (1, "format-version"),
    ],
)
def test_a_file_without_a_required_member_is_refused(new_table, version, member, refused):
    document = to_builtins(new_table(version))
    del document[member]
    with refused(400, member):
        decode(msgspec.json.encode(document))


@pytest.mark.parametrize(
    "member", ["properties", "refs", "snapshots", "statistics", "metadata-log"]
)
def test_a_file_may_leave_out_what_is_empty(new_table, member):
    table = new_table(properties={"write.parquet.compression-codec": "zstd"})
    document = to_builtins(table) | {"properties": {}}
    del document[member]
    assert decode(msgspec.json.encode(document)) == msgspec.structs.replace(table, properties={})


@pytest.mark.parametrize(
    "change",
    [
        {"format-version": 4},
        {"format-version": 0},
        {"format-version": "2"},
        {"table-uuid": ""},
        {"location": ""},
        {"current-schema-id": 7},
        {"default-spec-id": 7},
        {"default-sort-order-id": 7},
        {"schemas": []},
        {"partition-specs": []},
        {"sort-orders": []},
        {"sort-orders": [{"order-id": 0, "fields": []}] * 2},
        {"current-snapshot-id": 9},
        {"refs": {"main": {"snapshot-id": 1, "type": "branch"}}},
        {"refs": {"b": {"snapshot-id": 9, "type": "branch"}}},
        {"refs": {"b": {"snapshot-id": 1, "type": "fork"}}},
        {"refs": {"b": {"snapshot-id": 1, "type": "tag", "min-snapshots-to-keep": 1}}},
        {"last-sequence-number": 1},
        {"last-sequence-number": 2**63},
        {"last-updated-ms": 1},
        {"snapshot-log": [{"snapshot-id": 1, "timestamp-ms": stamp} for stamp in (2**50, 5)]},
        {"partition-specs": [{"spec-id": 0, "fields": [
            {"name": "x", "source-id": 99, "field-id": 1000, "transform": "identity"},
        ]}]},
        {"partition-specs": [{"spec-id": 0, "fields": [
            {"name": "x", "source-id": 1, "field-id": 1000, "transform": "identity"},
            {"name": "y", "source-id": 2, "transform": "identity"},
        ]}]},
    ],
)  # fmt: skip
def test_a_file_that_contradicts_itself_is_refused(table_with_history, change, refused):
    document = to_builtins(table_with_history)
    assert decode(msgspec.json.encode(document)) == table_with_history
    with refused(400):
        decode(msgspec.json.encode(document | change))


@pytest.mark.parametrize(
    ("current", "main", "why"),
    [
        (9, None, "current snapshot does not exist: 9"),
        (-1, 1, "a branch main but no current snapshot"),
        (1, 2, "Branch main is at 2, the current snapshot is 1"),
    ],
)
def test_the_current_snapshot_and_main_are_one(table_with_history, current, main, why, refused):
    refs = {} if main is None else {"main": {"snapshot-id": main, "type": "branch"}}
    document = to_builtins(table_with_history) | {"refs": refs, "current-snapshot-id": current}
    with refused(400, why):
        decode(msgspec.json.encode(document))


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("schema", None),
        ("partition-spec", None),
        ("current-schema-id", [{"type": "struct", "schema-id": 0, "fields": []}]),
        ("schema-id", [{"type": "struct", "fields": []}]),
        ("default-spec-id", [{"spec-id": 0, "fields": []}]),
        ("default-sort-order-id", [{"order-id": 0, "fields": []}]),
    ],
)
def test_a_version_1_file_says_which_of_several_is_meant(version_1_file, member, value, refused):
    lists = {
        "current-schema-id": "schemas",
        "schema-id": "schemas",
        "default-spec-id": "partition-specs",
        "default-sort-order-id": "sort-orders",
    }
    version_1_file |= {"current-schema-id": 0} if member == "schema-id" else {}
    version_1_file[lists.get(member, member)] = value
    with refused(400, f"Cannot parse missing {member}"):
        decode(msgspec.json.encode(version_1_file))


def test_a_version_1_file_has_no_sequence_numbers(version_1_file, refused):
    with refused(400, "Version 1 has no sequence numbers"):
        decode(msgspec.json.encode(version_1_file | {"last-sequence-number": 5}))


def test_a_log_may_step_back_by_a_minute(table_with_history, refused, now_ms):
    document = to_builtins(table_with_history)
    stamps = (now_ms, now_ms - 60_000)
    log = [{"snapshot-id": 1, "timestamp-ms": stamp} for stamp in stamps]
    read = decode(msgspec.json.encode(document | {"snapshot-log": log}))
    assert tuple(entry.timestamp_ms for entry in read.snapshot_log) == stamps
    log[1]["timestamp-ms"] -= 1
    with refused(400, "snapshot log is out of order"):
        decode(msgspec.json.encode(document | {"snapshot-log": log}))


def test_a_file_with_one_snapshot_id_twice_is_refused(table_with_history, refused):
    document = to_builtins(table_with_history)
    document["snapshots"] *= 2
    with refused(400, "two snapshots have the same id"):
        decode(msgspec.json.encode(document))


def test_a_snapshot_without_manifests_is_refused(table_with_history, refused):
    document = to_builtins(table_with_history)
    del document["snapshots"][0]["manifest-list"]
    with refused(400, "neither manifest-list nor manifests"):
        decode(msgspec.json.encode(document))


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"null", b"\xff", b'{"later": "\xff"}', b"\x1f\x8b\x08", b"[" * 100_000]
)
def test_what_is_no_metadata_is_refused(data, refused):
    with refused(400, "Malformed"):
        decode(data)
