"""Every member of the metadata in the document is kept by the mock, and compared by the checks."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import NODEFAULT, Struct, structs

from icecheck.client.catalog import Catalog
from icecheck.conformance.round_trips.test_roundtrip_updates import given_rich_table
from icecheck.contract.document import resolve
from icecheck.mock_server.metadata import model
from icecheck.mock_server.metadata import view_metadata as views
from icecheck.mock_server.metadata.column_types import StructField
from icecheck.mock_server.metadata.encoding import decode, to_builtins
from icecheck.objects.metadata_view import NOT_COMPARED, settled
from icecheck.objects.views import settled_view
from tests.kill.killing import mock_session
from tests.kit.contracts import NEWEST

Json = Mapping[str, Any]

HERE = "tests/laws/test_metadata_members.py"
ROOM = "mock_server/metadata"
VIEWS = f"{ROOM}/view_metadata.py"
COLUMN = {"id": 1, "name": "id", "type": "long", "required": False}
FIELD = {"name": "id_part", "transform": "identity", "source-id": 1, "field-id": 1000}
SORTED_BY = {
    "transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first",
}  # fmt: skip
SCHEMA = {"type": "struct", "schema-id": 3, "fields": [COLUMN]}
SNAPSHOT: Json = {
    "sequence-number": 1, "snapshot-id": 5, "timestamp-ms": 10, "schema-id": 3,
    "summary": {"operation": "append"}, "manifest-list": "s3://bucket/table/list.avro",
    "first-row-id": 0, "added-rows": 1,
}  # fmt: skip
STATISTICS: Json = {
    "snapshot-id": 5, "statistics-path": "s3://bucket/table/stats.puffin",
    "file-size-in-bytes": 4, "file-footer-size-in-bytes": 2,
    "blob-metadata": [
        {"type": "sketch", "snapshot-id": 5, "sequence-number": 1, "fields": [1]},
    ],
}  # fmt: skip
TABLE: Json = {
    "format-version": 3,
    "table-uuid": "3f1d5f3e-6f3c-4b6e-9c53-0c0f6a3c0f01",
    "location": "s3://bucket/table",
    "last-updated-ms": 20,
    "next-row-id": 1,
    "properties": {"key": "value"},
    "schemas": [SCHEMA],
    "current-schema-id": 3,
    "last-column-id": 1,
    "partition-specs": [{"spec-id": 4, "fields": [FIELD]}],
    "default-spec-id": 4,
    "last-partition-id": 1000,
    "sort-orders": [{"order-id": 6, "fields": [SORTED_BY]}],
    "default-sort-order-id": 6,
    "encryption-keys": [{"key-id": "k", "encrypted-key-metadata": "a2V5"}],
    "snapshots": [SNAPSHOT],
    "refs": {"main": {"snapshot-id": 5, "type": "branch"}},
    "current-snapshot-id": 5,
    "last-sequence-number": 1,
    "snapshot-log": [{"timestamp-ms": 10, "snapshot-id": 5}],
    "metadata-log": [{"timestamp-ms": 5, "metadata-file": "s3://bucket/table/0.json"}],
    "statistics": [STATISTICS],
    "partition-statistics": [
        {"snapshot-id": 5, "statistics-path": "s3://bucket/p", "file-size-in-bytes": 4},
    ],
}  # fmt: skip
"""Metadata of a table in which every member has a value, none that is meant by its absence."""
VIEW: Json = {
    "view-uuid": "3f1d5f3e-6f3c-4b6e-9c53-0c0f6a3c0f02",
    "format-version": 1,
    "location": "s3://bucket/view",
    "properties": {"key": "value"},
    "schemas": [SCHEMA],
    "current-version-id": 2,
    "versions": [],
    "version-log": [{"timestamp-ms": 10, "version-id": 2}],
}
OF_ITS_KIND = {"string": "made up", "integer": 7, "number": 7.5, "boolean": True}
"""A value for a member of one value that TABLE and VIEW do not have yet."""
PARTS: Mapping[str, type[Struct]] = {
    "Schema": model.Schema,
    "StructField": StructField,
    "PartitionSpec": model.PartitionSpec,
    "PartitionField": model.PartitionField,
    "SortOrder": model.SortOrder,
    "SortField": model.SortField,
    "Snapshot": model.Snapshot,
    "SnapshotReference": model.SnapshotRef,
    "StatisticsFile": model.StatisticsFile,
    "BlobMetadata": model.BlobMetadata,
    "PartitionStatisticsFile": model.PartitionStatisticsFile,
    "EncryptedKey": model.EncryptedKey,
    "ViewVersion": views.ViewVersion,
    "ViewHistoryEntry": views.ViewHistoryEntry,
    "SQLViewRepresentation": views.SQLViewRepresentation,
}
"""Schema of a part of metadata -> what the mock keeps of it."""
COLUMN_TYPES = frozenset({"StructType", "ListType", "MapType"})
"""The types of columns, which `mock_server/metadata/column_types.py` reads with code of its own."""


def lacking(tables: Json, of_views: Json) -> list[str]:
    """Return one line for each part that one of these members of the metadata lacks."""
    return [*_of_tables(tables), *_of_views(of_views)]


def _of_tables(members: Json) -> Iterator[str]:
    sample = {**_sampled(members), **TABLE}
    read = decode(json.dumps(sample).encode())
    for member in members:
        told, field = f"TableMetadata.{member}", member.replace("-", "_")
        if member not in sample:
            yield f"{told}: no value in TABLE of {HERE}"
            continue
        known = {each.name: each for each in structs.fields(type(read))}
        if field not in known:
            yield f"{told}: no member of TableMetadata in {ROOM}/model.py"
            yield f"{told}: not read by _MetadataInFile and read_metadata of {ROOM}/reading.py"
            yield f"{told}: not written by _Document and _document of {ROOM}/encoding.py"
        else:
            kept = read
            if getattr(read, field) == _default(known[field]):
                yield f"{told}: not read by _MetadataInFile and read_metadata of {ROOM}/reading.py"
                kept = structs.replace(read, **{field: sample[member]})
            if to_builtins(kept).get(member) != sample[member]:
                yield f"{told}: not written by _Document and _document of {ROOM}/encoding.py"
        if member not in {*settled(sample), *NOT_COMPARED}:
            yield f"{told}: {_compare('settled in src/icecheck/objects/metadata_view.py')}"


def _default(field: structs.FieldInfo) -> Any:
    if field.default is not NODEFAULT:
        return field.default
    return NODEFAULT if field.default_factory is NODEFAULT else field.default_factory()


def _of_views(members: Json) -> Iterator[str]:
    sample = {**_sampled(members), **VIEW}
    known = {each.encode_name for each in structs.fields(views.ViewMetadata)}
    for member in members:
        if member not in sample:
            yield f"ViewMetadata.{member}: no value in VIEW of {HERE}"
            continue
        if member not in known:
            yield f"ViewMetadata.{member}: no member of ViewMetadata in {VIEWS}"
        if member not in {*settled_view(sample), *NOT_COMPARED}:
            where = "settled_view in src/icecheck/objects/views.py"
            yield f"ViewMetadata.{member}: {_compare(where)}"


def _compare(where: str) -> str:
    return (
        f"not compared by {where}, and no reason in NOT_COMPARED of "
        "src/icecheck/objects/metadata_view.py"
    )


def _sampled(members: Json) -> dict[str, Any]:
    """Return a value for each of these members that holds a single one."""
    found = {name: resolve(NEWEST.raw, each).get("type") for name, each in members.items()}
    return {name: OF_ITS_KIND[type_] for name, type_ in found.items() if type_ in OF_ITS_KIND}


def members_of(schema: str) -> dict[str, Any]:
    """Return the members of a schema of the document, with those of what it extends."""
    declared = NEWEST.raw["components"]["schemas"][schema]
    found: dict[str, Any] = {}
    for each in (declared, *declared.get("allOf", ())):
        found |= resolve(NEWEST.raw, each).get("properties", {})
    return found


def test_every_member_of_metadata_is_kept_and_compared() -> None:
    told = lacking(members_of("TableMetadata"), members_of("ViewMetadata"))
    assert not told, "\n".join(told)


def test_every_member_of_a_part_of_metadata_is_kept() -> None:
    told = [
        f"{schema}.{member}: no member of {struct.__name__} in {struct.__module__}"
        for schema, struct in PARTS.items()
        for member in members_of(schema)
        if member not in {each.encode_name for each in structs.fields(struct)}
        and member != struct.__struct_config__.tag_field
    ]
    assert not told, "\n".join(told)


def parts_of(*schemas: str) -> set[str]:
    """Return the schemas with members that these refer to, and those that they refer to."""
    found: set[str] = set()
    waiting: list[Any] = [NEWEST.raw["components"]["schemas"][name] for name in schemas]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += each
        elif isinstance(each, dict):
            waiting += each.values()
            name = str(each.get("$ref", "")).rpartition("/")[2]
            if name and name not in found:
                found.add(name)
                waiting.append(NEWEST.raw["components"]["schemas"][name])
    return {name for name in found if members_of(name)}


def test_every_part_of_metadata_is_one_that_the_mock_keeps() -> None:
    missing = parts_of("TableMetadata", "ViewMetadata") - PARTS.keys() - COLUMN_TYPES
    assert not missing, f"{', '.join(sorted(missing))}: no entry in PARTS of {HERE}"


def test_the_table_of_round_trips_has_something_in_every_list_and_object() -> None:
    """What it lacks, no round trip of another update would miss."""
    with mock_session(spec=NEWEST.version) as (_, session):
        metadata = given_rich_table(Catalog(session, "rich"), 3).metadata
    holding = [
        name
        for name, member in members_of("TableMetadata").items()
        if resolve(NEWEST.raw, member).get("type") in {"array", "object"}
    ]
    empty = [name for name in holding if not metadata.get(name)]
    where = "given_rich_table of conformance/round_trips/test_roundtrip_updates.py"
    assert not empty, f"{', '.join(empty)}: nothing of it in {where}"


def test_a_new_member_is_told_everything_it_lacks_at_once() -> None:
    new = {"made-up-word": {"type": "string"}, "made-up-list": {"type": "array"}}
    told = "\n".join(lacking(new, new))
    for place in ("model.py", "reading.py", "encoding.py", "metadata_view.py", "view_metadata.py"):
        assert place in told
    assert told.count(".made-up-list: no value in") == 2


def test_what_is_not_compared_is_a_member_of_metadata() -> None:
    assert {*NOT_COMPARED} <= {*members_of("TableMetadata"), *members_of("ViewMetadata")}
