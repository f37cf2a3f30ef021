"""Checks of scans of a table whose columns are renamed, added and dropped.

Two columns exchange names: a planner that looks up a name in the wrong schema finds another column,
and by its bounds excludes files that have matching rows.
"""

import struct
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.planned_scan import Planned, planned
from icecheck.conformance.kit.expressions import joined
from icecheck.conformance.kit.manifest_files import (
    SPEC,
    Layout,
    ManifestFiles,
    PlannedFile,
    given_files,
)
from icecheck.conformance.scans.planned_files import (
    HISTORY,
    IN_A,
    PLANNED_FILE,
    V2,
    expect_among,
    expect_planned,
)
from icecheck.judging.check import generated_check
from icecheck.objects.evolving import schema_addition
from icecheck.objects.reading import not_applicable
from icecheck.replies.expect import Blocked, Violation, equal
from icecheck.replies.matching import show

FIELD = bodies.struct_field

Json = Any
Schema = dict[str, Json]


def _long(number: int) -> bytes:
    return number.to_bytes(8, "little", signed=True)


def _double(number: float) -> bytes:
    return struct.pack("<d", number)


# ---- names of several schemas


def _struct(*fields: Json) -> Json:
    return {"type": "struct", "fields": [*fields]}


# Parents before their children, as createTable numbers columns.
SCHEMA = bodies.schema(
    FIELD(1, "id", "long", required=True),
    FIELD(2, "category", "string"),
    FIELD(3, "low", "long"),
    FIELD(4, "high", "long"),
    FIELD(5, "fleeting", "string"),
    FIELD(6, "place", _struct(FIELD(7, "lat", "double"), FIELD(8, "lon", "double"))),
)
COLUMNS = Layout(SCHEMA, SPEC, ("string",))
# The bounds by column id, in every file with the column, whatever its name is.
BOUNDS: dict[int, tuple[bytes, bytes]] = {
    3: (_long(0), _long(9)),
    4: (_long(100), _long(109)),
    5: (b"j", b"m"),
    7: (_double(0.0), _double(9.0)),
    8: (_double(100.0), _double(109.0)),
    9: (b"s", b"v"),
}
_WITHIN: dict[int, Json] = {3: 5, 4: 105, 5: "k", 7: 5.5, 8: 105.5}
_OPERATIONS = {"fleeting": "starts-with"}


def _renamed(schema: Schema, names: Mapping[int, str]) -> Schema:
    """Return a schema with these names for columns of these ids, also inside structs."""

    def field(each: Json) -> Json:
        type_ = each["type"]
        if isinstance(type_, dict) and "fields" in type_:
            type_ = {**type_, "fields": [field(inner) for inner in type_["fields"]]}
        return {**each, "name": names.get(each["id"], each["name"]), "type": type_}

    return {**schema, "fields": [field(each) for each in schema["fields"]]}


def _without(schema: Schema, column_id: int) -> Schema:
    return {**schema, "fields": [f for f in schema["fields"] if f["id"] != column_id]}


def _with(schema: Schema, added: Json) -> Schema:
    return {**schema, "fields": [*schema["fields"], added]}


_EXCHANGED = _renamed(SCHEMA, {3: "high", 4: "low", 7: "lon", 8: "lat"})
_SECOND = _with(_without(_EXCHANGED, 5), FIELD(9, "fleeting", "string"))
_THIRD = _renamed(_SECOND, {3: "low", 4: "lowest", 7: "lat", 8: "high"})
SCHEMAS: tuple[tuple[str, Schema], ...] = (
    ("as it was made", SCHEMA),
    ("once names changed places, and one was taken by a new column", _SECOND),
    ("once names changed again", _THIRD),
)


def _ids_by_name(fields: list[Json], prefix: str = "") -> dict[str, int]:
    found: dict[str, int] = {}
    for each in fields:
        name = f"{prefix}{each['name']}"
        if isinstance(each["type"], dict):
            found |= _ids_by_name(each["type"]["fields"], f"{name}.")
        else:
            found[name] = each["id"]
    return found


@dataclass(frozen=True, slots=True)
class _Asked:
    """A scan of a snapshot, the column ids by name in its schema, and why that schema applies."""

    members: Mapping[str, Json]
    ids: Mapping[str, int]
    files: tuple[str, ...]
    why: str


def _walk(files: ManifestFiles) -> Iterator[_Asked]:
    """Change the table's schema and add a file, in turn; yield the scans after each change."""
    written: list[tuple[int, Schema, tuple[str, ...], str]] = []
    names: tuple[str, ...] = ()
    for number, (when, schema) in enumerate(SCHEMAS):
        if number:
            added = schema_addition(files.table.metadata, {**schema, "schema-id": number})
            files.commit(added, {"action": "set-current-schema", "schema-id": -1})
            yield from _questions(written, schema, f"table {when}")  # both schemas of each file
        names = (*names, f"{number}.parquet")
        columns = {*_ids_by_name(schema["fields"]).values()}
        bounds = {at: pair for at, pair in BOUNDS.items() if at in columns}
        snapshot_id = files.append(PlannedFile(names[-1], partition=IN_A, bounds=bounds))
        written.append((snapshot_id, schema, names, when))
        own = [*_questions(written, schema, f"table {when} with a file of its own")]
        yield from (own[2 * at + (at + number) // 2 % 2] for at in range(len(written)))


def _questions(
    written: list[tuple[int, Schema, tuple[str, ...], str]], current: Schema, now: str
) -> Iterator[_Asked]:
    for number, (snapshot_id, schema, names, then) in enumerate(written):
        # What false says is said by leaving it out too.
        now_too: dict[str, bool] = {"use_snapshot_schema": False} if number % 2 else {}
        for flags in ({"use_snapshot_schema": True}, now_too):
            old = flags.get("use_snapshot_schema", False)
            ids = _ids_by_name((schema if old else current)["fields"])
            why = f"{now}, scan of it {then}, use-snapshot-schema {show(old)}"
            yield _Asked({"snapshot_id": snapshot_id, **flags}, ids, names, why)


def _expect_found(files: ManifestFiles, catalog: Catalog, asked: _Asked, **members: Json) -> None:
    found = planned(catalog, files.table, **asked.members, **members)
    expect_planned(files, found, asked.files, asked.why)


@generated_check("planTableScan.names-of-each-schema", needs=HISTORY)
def test_names_of_each_schema(catalog: Catalog) -> None:
    """A scan resolves names in its own schema, also where another schema reuses them."""
    with given_files(catalog, layout=COLUMNS) as files:
        for asked in _walk(files):
            known = [name for name, at in asked.ids.items() if at in _WITHIN]
            # Only the first file has the former column of the name "fleeting".
            terms = [
                {
                    "type": _OPERATIONS.get(name, "eq"),
                    "term": name,
                    "value": _WITHIN[asked.ids[name]],
                }
                for name in known
            ]
            try:
                _expect_found(
                    files, catalog, asked, filter=joined("and", terms), select=[*asked.ids]
                )
            except Violation:
                for term in terms:  # one of them is taken for another column's
                    _expect_found(files, catalog, asked, filter=term, select=[*asked.ids])
                raise


@generated_check("planTableScan.stats-of-each-schema", needs=HISTORY)
def test_statistics_of_each_schema(catalog: Catalog) -> None:
    """Statistics are of the columns that stats-fields names in the schema of the scan."""
    with given_files(catalog, layout=COLUMNS) as files:
        for turn, asked in enumerate(_walk(files)):
            # A name in another schema is not among the names that are asked for with it.
            names = (["low", "place.lat"], ["high"])[(turn + len(asked.files)) % 2]
            known = [name for name in names if name in asked.ids]
            another = next(each for each in asked.ids if each not in names)
            members = {"select": [another]} if turn // 2 % 2 else {}
            if not known:
                continue
            wanted: dict[str, Json] = {**asked.members, **members, "stats_fields": known}
            found = planned(catalog, files.table, **wanted)
            for name in known:
                detail = f"{asked.why}, of {name}, with {show(members)}"
                _expect_bounds(found, asked.ids[name], detail)


def _expect_bounds(found: Planned, field_id: int, detail: str) -> None:
    """Judge that each planned file has a lower bound of a column."""
    for task in found.tasks:
        keys = (task["data-file"].get("lower-bounds") or {}).get("keys") or []
        equal(field_id in keys, True, symptom=PLANNED_FILE.of("lower-bounds"), detail=detail)


# ---- names that differ in case only

_TWINS = Layout(
    bodies.schema(
        FIELD(1, "id", "long", required=True),
        FIELD(2, "category", "string"),
        FIELD(3, "ID", "long"),
    ),
    SPEC,
    ("string",),
)


@generated_check("planTableScan.names-in-two-cases", proves="planTableScan.filter", needs=V2)
def test_columns_that_differ_in_case(catalog: Catalog) -> None:
    """A filter applies to the column that it names, also where another differs only in case."""
    with ExitStack() as stack:
        try:
            files = stack.enter_context(given_files(catalog, layout=_TWINS))
        except Blocked as refused:
            why = "the catalog makes no table with columns that differ in case only"
            raise not_applicable(why) from refused
        bounds = {1: (_long(0), _long(9)), 3: (_long(100), _long(109))}
        files.append(PlannedFile("a.parquet", partition=IN_A, bounds=bounds))
        for name, value in (("id", 5), ("ID", 105)):
            filter_ = {"type": "eq", "term": name, "value": value}
            for members in ({}, {"case_sensitive": True, "select": [name]}):
                found = planned(catalog, files.table, filter=filter_, **members)
                expect_among(files, found, ["a.parquet"], f"asked for {name} = {value}")
