"""A table with a column of every type, rows drawn by lot, and files that describe them truly.

Partition values and encoded bounds come from pyiceberg; rows are kept, so that a test can tell
which files hold a row that matches a filter.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from hypothesis import strategies as st
from pyiceberg.transforms import parse_transform
from pyiceberg.types import NestedField, PrimitiveType

from tests.mock.planning.handmade import File, encoded

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400_000_000

Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    id: int
    name: str
    type: str
    values: tuple[Any, ...]
    required: bool = False

    @property
    def iceberg_type(self) -> PrimitiveType:
        field = NestedField(self.id, self.name, self.type, required=False)
        assert isinstance(field.field_type, PrimitiveType)
        return field.field_type


COLUMNS = (
    Column(1, "id", "long", (*range(-3, 12), 2**40), required=True),
    Column(2, "number", "int", (-7, 0, 1, 2, 3, 9, 10, 11, 2**31 - 1)),
    Column(
        3, "word", "string", ("", "a", "ab", "abc", "abcd", "b", "ba", "z\u00e9ro", "\U0001f9ca")
    ),
    Column(4, "day", "date", (0, 1, 30, 31, 365, 18262, 18263, 18293)),
    Column(5, "at", "timestamp", (0, 1, DAY - 1, DAY, 18262 * DAY, 18262 * DAY + 3_600_000_000)),
    Column(6, "at_zone", "timestamptz", (5, DAY, 18262 * DAY + 1, 18263 * DAY)),
    Column(7, "price", "decimal(9, 2)", tuple(map(Decimal, ("-1.50", "0.00", "0.10", "99.99")))),
    Column(8, "weight", "double", (-2.5, -0.0, 0.0, 1.0, 1e300)),
    Column(9, "share", "float", (-0.5, 0.25, 1.0)),
    Column(10, "flag", "boolean", (False, True)),
    Column(11, "key", "uuid", (UUID(int=1), UUID(int=2**64), UUID(int=2**100))),
    Column(12, "blob", "binary", (b"", b"\x00", b"\x01\xff", b"\xff")),
    Column(13, "code", "fixed[2]", (b"\x00\x00", b"ab", b"\xff\xff")),
    Column(14, "clock", "time", (0, 1, DAY - 1)),
)
BY_NAME = {column.name: column for column in COLUMNS}
SCHEMA = {
    "type": "struct",
    "fields": [
        {"id": each.id, "name": each.name, "required": each.required, "type": each.type}
        for each in COLUMNS
    ],
}
SPECS: dict[str, tuple[tuple[str, str], ...]] = {
    "none": (),
    "identities": (("number", "identity"), ("flag", "identity")),
    "buckets": (("id", "bucket[4]"), ("word", "bucket[3]")),
    "more_buckets": (("price", "bucket[5]"), ("day", "bucket[2]"), ("key", "bucket[2]")),
    "truncated": (("number", "truncate[5]"), ("word", "truncate[2]")),
    "more_truncated": (("price", "truncate[50]"), ("blob", "truncate[1]"), ("id", "truncate[4]")),
    "calendar": (("at", "day"), ("day", "month")),
    "more_calendar": (("at_zone", "hour"), ("day", "year"), ("at", "month")),
    "twice": (("at", "year"), ("at", "day"), ("at", "hour")),
    "days": (("day", "day"), ("word", "identity")),
    "identities_2": (("price", "identity"), ("day", "identity"), ("code", "identity")),
}


def spec_fields(spec: str) -> list[dict[str, Any]]:
    return [
        {
            "field-id": 1000 + at,
            "source-id": BY_NAME[name].id,
            "transform": transform,
            "name": f"{name}_{transform.partition('[')[0]}",
        }
        for at, (name, transform) in enumerate(SPECS[spec])
    ]


def rows(seed: int, count: int) -> Iterator[Row]:
    lot = random.Random(seed)  # noqa: S311 - not for secrets
    for _ in range(count):
        yield {
            each.name: None
            if not each.required and lot.random() < 0.15
            else lot.choice(each.values)
            for each in COLUMNS
        }


def partition_of(row: Row, spec: str) -> tuple[Any, ...]:
    return tuple(
        parse_transform(transform).transform(BY_NAME[name].iceberg_type)(row[name])
        for name, transform in SPECS[spec]
    )


def files_of(
    spec: str, seed: int, count: int = 60, *, with_all_metrics: bool = False
) -> dict[str, tuple[File, list[Row]]]:
    """Files by path, each with the rows it is said to have: one per partition and part of rows."""
    lot = random.Random(seed)  # noqa: S311
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows(seed, count):
        part = lot.randrange(3) if SPECS[spec] else lot.randrange(20)
        groups.setdefault((partition_of(row, spec), part), []).append(row)
    found = {}
    for number, ((partition, _), members) in enumerate(groups.items()):
        path = f"file:///wide/{spec}/{number:03}.parquet"
        file = File(path, partition, records=len(members))
        if with_all_metrics or lot.random() < 0.9:  # some writers keep no metrics
            describe(file, members, lot, with_all_metrics)
        found[path] = (file, members)
    return found


def describe(file: File, members: list[Row], lot: random.Random, with_all: bool) -> None:
    file.values, file.nulls, file.lower, file.upper = {}, {}, {}, {}
    file.nans = {8: 0, 9: 0}
    for column in COLUMNS:
        values = [row[column.name] for row in members]
        known = [value for value in values if value is not None]
        file.values[column.id] = len(values)
        file.nulls[column.id] = len(values) - len(known)
        if known and (with_all or lot.random() < 0.9):
            file.lower[column.id] = encoded(column.iceberg_type, _lower(column, min(known), lot))
            upper = max(known)
            if column.type == "string" and len(upper) > 1 and lot.random() < 0.5:
                upper = upper[0] + chr(ord(upper[1]) + 1)  # truncated, and counted up
            file.upper[column.id] = encoded(column.iceberg_type, upper)


def _lower(column: Column, value: Any, lot: random.Random) -> Any:
    return value[:1] if column.type == "string" and lot.random() < 0.5 else value


# Filters

ORDERED = ("lt", "lt-eq", "gt", "gt-eq")


def literal_json(column: Column, value: Any) -> Any:
    match column.type:
        case "date":
            return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
        case "timestamp":
            return (EPOCH + timedelta(microseconds=value)).replace(tzinfo=None).isoformat()
        case "timestamptz":
            return (EPOCH + timedelta(microseconds=value)).isoformat()
        case "time":
            return (EPOCH + timedelta(microseconds=value)).time().isoformat()
        case _:
            match value:
                case Decimal() | UUID():
                    return str(value)
                case bytes():
                    return value.hex().upper()
                case _:
                    return value


def other_values(column: Column) -> st.SearchStrategy[Any]:
    """Values that need not be in any row."""
    match column.type:
        case "long":
            return st.integers(-20, 20)
        case "int":
            return st.integers(-20, 30)
        case "string":
            return st.text("ab\u00e9z", max_size=5)
        case "date":
            return st.integers(0, 20_000)
        case "timestamp" | "timestamptz":
            return st.integers(0, 20_000 * DAY)
        case "decimal(9, 2)":
            return st.integers(-10_000, 20_000).map(lambda cents: Decimal(cents).scaleb(-2))
        case "double":
            return st.floats(-10, 10, allow_nan=False)
        case _:
            return st.sampled_from(column.values)


@st.composite
def predicates(
    draw: st.DrawFn, columns: tuple[str, ...] = tuple(BY_NAME), sets: bool = True
) -> Any:
    column = BY_NAME[draw(st.sampled_from(columns))]
    value = st.sampled_from(column.values) | other_values(column)
    operations = ["is-null", "not-null", "eq", "not-eq"]
    if column.type != "uuid":
        operations += ORDERED
    if column.type in {"double", "float"}:
        operations += ["is-nan", "not-nan"]
    if column.type == "string":
        operations += ["starts-with", "not-starts-with"]
    if sets:
        operations += ["in", "not-in"]
    operation = draw(st.sampled_from(operations))
    written = {"type": operation, "term": column.name}
    if operation in {"in", "not-in"}:
        values = draw(st.lists(value, min_size=1, max_size=5))
        return {**written, "values": [literal_json(column, each) for each in values]}
    if operation.endswith(("null", "nan")):
        return written
    return {**written, "value": literal_json(column, draw(value))}


def open_to_all(predicate: Any) -> bool:
    """Whether the schema leaves the answer open; libraries differ in when they say it."""
    return not (BY_NAME[predicate["term"]].required and predicate["type"].endswith("null"))


def filters(
    leaves: st.SearchStrategy[Any] | None = None, max_leaves: int = 6
) -> st.SearchStrategy[Any]:
    def extended(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        connected = st.builds(
            lambda kind, left, right: {"type": kind, "left": left, "right": right},
            st.sampled_from(["and", "or"]),
            inner,
            inner,
        )
        return connected | inner.map(lambda child: {"type": "not", "child": child})

    return st.recursive(predicates() if leaves is None else leaves, extended, max_leaves=max_leaves)


def value_of_json(column: Column, json: Any) -> Any:
    """The value behind a literal, by looking for the one that is written so."""
    match column.type:
        case "date":
            return (date.fromisoformat(json) - date(1970, 1, 1)).days
        case "timestamp" | "timestamptz":
            moment = datetime.fromisoformat(json)
            return (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
        case "time":
            moment = datetime.fromisoformat(f"1970-01-01T{json}").replace(tzinfo=UTC)
            return (moment - EPOCH) // timedelta(microseconds=1)
        case "decimal(9, 2)":
            return Decimal(json)
        case "uuid":
            return UUID(json)
        case "binary" | "fixed[2]":
            return bytes.fromhex(json)
        case _:
            return json


def matches(filter_: Any, row: Row, negated: bool = False) -> bool:
    """Whether a row satisfies a filter, as Iceberg means it: a negation turns the tests around.

    So a null is neither `lt` nor `not lt` some value, but `not eq` to all.
    """
    match filter_:
        case bool():
            return filter_ != negated
        case {"type": "and" | "or"}:
            children = (matches(filter_[side], row, negated) for side in ("left", "right"))
            return all(children) if (filter_["type"] == "and") != negated else any(children)
        case {"type": "not"}:
            return matches(filter_["child"], row, not negated)
    column = BY_NAME[filter_["term"]]
    raw = filter_.get("values", [filter_["value"]] if "value" in filter_ else [])
    literals = [value_of_json(column, each) for each in raw]
    operation, value = filter_["type"], row[column.name]
    if value is None and operation in ORDERED:
        return False
    return compares(operation, value, literals) != negated


NEGATIONS = {
    "not-null": "is-null", "not-nan": "is-nan", "not-eq": "eq", "not-in": "in",
    "not-starts-with": "starts-with",
}  # fmt: skip


def compares(operation: str, value: Any, literals: list[Any]) -> bool:
    if operation in NEGATIONS:
        return not compares(NEGATIONS[operation], value, literals)
    if operation == "is-null":
        return value is None
    if value is None or operation == "is-nan":
        return False
    if operation == "starts-with":
        return bool(value.startswith(literals[0]))
    results = {
        "lt": value < literals[0], "lt-eq": value <= literals[0], "gt": value > literals[0],
        "gt-eq": value >= literals[0],
    } if not isinstance(value, UUID) else {}  # fmt: skip
    return bool(results.get(operation, value in literals))
