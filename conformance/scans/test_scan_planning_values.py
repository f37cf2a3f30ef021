"""Checks of scans of files with and without column statistics: nulls, NaN, bounds and sizes.

Many filters are sent for one table, plain, negated and joined with another. A plan may leave
out members of a file; a member that it has must have the value in the manifest, column by column.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.planned_scan import planned
from icecheck.conformance.kit.expressions import joined
from icecheck.conformance.kit.manifest_files import (
    EQUALITY_DELETES,
    POSITION_DELETES,
    SPEC,
    Layout,
    ManifestFiles,
    PlannedFile,
    given_files,
)
from icecheck.conformance.scans.planned_files import (
    IN_A,
    PLANNED_FILE,
    PLANNED_FILES,
    RESIDUAL_FORGETS_THE_FILTER,
    V2,
    expect_planned,
    lost,
    passes,
)
from icecheck.findings.symptoms import OTHER_ROWS, Severity, declare
from icecheck.judging.check import generated_check
from icecheck.replies.expect import Violation, equal
from icecheck.replies.matching import show

_RESIDUAL_FORGETS_ROWS = declare(
    "residual-forgets-rows",
    "Sends a residual filter that excludes rows which may match",
    Severity.FALSE_OR_LOST,
    OTHER_ROWS,
)

FIELD = bodies.struct_field

Json = Any


def _double(number: float) -> bytes:
    return struct.pack("<d", number)


# ---- filters on columns with nulls and NaN


NOTES = Layout(
    bodies.schema(
        FIELD(1, "id", "long", required=True),
        FIELD(2, "category", "string"),
        FIELD(3, "note", "string"),
        FIELD(4, "score", "double"),
        FIELD(5, "place", {"type": "struct", "fields": [FIELD(6, "spot", "string")]}),
    ),
    SPEC,
    ("string",),
)
_NOTE, _SCORE, _SPOT = 3, 4, 6
_ROWS = 10


def _map(values: Mapping[int, Json]) -> list[Json]:
    return [{"key": at, "value": value} for at, value in values.items()]


def _noted(name: str, nulls: int, nans: int, bounds: Mapping[int, tuple[bytes, bytes]]) -> Json:
    """Return a file with this many nulls in its texts and NaN in its numbers, and with bounds."""
    columns = (_NOTE, _SCORE, _SPOT)
    facts = {
        "value_counts": _map(dict.fromkeys(columns, _ROWS)),
        "null_value_counts": _map({_NOTE: nulls, _SPOT: nulls, _SCORE: 0}),
        "nan_value_counts": _map({_SCORE: nans}),
        "lower_bounds": _map({at: pair[0] for at, pair in bounds.items()}),
        "upper_bounds": _map({at: pair[1] for at, pair in bounds.items()}),
    }
    return PlannedFile(f"{name}.parquet", partition=IN_A, facts=facts)


_TEXTS = {_NOTE: (b"ba", b"da"), _SPOT: (b"ba", b"da")}
_NUMBERS = {_SCORE: (_double(1.0), _double(5.0))}
FILES = (
    _noted("empty", _ROWS, _ROWS, {}),
    _noted("some", 3, 2, {**_TEXTS, **_NUMBERS}),
    _noted("full", 0, 0, {**_TEXTS, **_NUMBERS}),
    PlannedFile("unknown.parquet", partition=IN_A),
)
_EMPTY, _SOME, _FULL, _UNKNOWN = (file.name.removesuffix(".parquet") for file in FILES)
_WITH_NULL = frozenset({_EMPTY, _SOME, _UNKNOWN})
_WITH_VALUE = frozenset({_SOME, _FULL, _UNKNOWN})
Due = tuple[Json, frozenset[str]]
Pair = tuple[Due, Due]
Tests = Sequence[tuple[Json, ...]]


def _term(operation: str, column: str, *values: Json) -> Json:
    if operation in {"in", "not-in"}:
        return {"type": operation, "term": column, "values": [*values]}
    return {"type": operation, "term": column, **({"value": values[0]} if values else {})}


def _pairs(column: str, due: frozenset[str], tests: Tests) -> list[Pair]:
    """Return pairs of a predicate and its negation that the same files may match.

    ``tests`` are (operation, negated operation, values ...). Rows with null or NaN match neither of
    the two.
    """
    return [
        ((_term(one, column, *values), due), (_term(contrary, column, *values), due))
        for one, contrary, *values in tests
    ]


_TEXT_TESTS: Tests = (
    ("eq", "not-eq", "ca"),
    ("eq", "not-eq", "ba"),
    ("in", "not-in", "a", "da"),
    ("lt", "gt-eq", "bb"),
    ("lt-eq", "gt", "ba"),
    ("gt", "lt-eq", "cz"),
    ("gt-eq", "lt", "da"),
    ("starts-with", "not-starts-with", "b"),
    ("starts-with", "not-starts-with", "da"),
)
_NUMBER_TESTS: Tests = (
    ("eq", "not-eq", 1.0),
    ("eq", "not-eq", 5.0),
    ("lt", "gt-eq", 1.5),
    ("lt-eq", "gt", 1.0),
    ("gt", "lt-eq", 4.5),
    ("gt-eq", "lt", 5.0),
    ("not-in", "in", 0.0, 5.0),
)
_COLUMNS = {"note": _TEXT_TESTS, "place.spot": _TEXT_TESTS, "score": _NUMBER_TESTS}
# Values of rows, each column's in turn; every test is passed by one of them.
_VALUES: tuple[tuple[Json, ...], ...] = (
    ("ca", "ba", 1.0),
    ("ba", "da", 5.0),
    ("da", "ca", 1.0),
)


def _of_texts(column: str) -> list[Pair]:
    """Return the predicates on a text column with the files that may match, and their negations."""
    nulls = ((_term("is-null", column), _WITH_NULL), (_term("not-null", column), _WITH_VALUE))
    return [nulls, *_pairs(column, _WITH_VALUE, _TEXT_TESTS)]


def _of_numbers(column: str) -> list[Pair]:
    """Return the same for a column of numbers, some of which are NaN."""
    nans = ((_term("is-nan", column), _WITH_NULL), (_term("not-nan", column), _WITH_VALUE))
    return [nans, *_pairs(column, _WITH_VALUE, _NUMBER_TESTS)]


def _not(term: Json) -> Json:
    return {"type": "not", "child": term}


def _rows() -> Iterator[tuple[list[Json], frozenset[str]]]:
    """Yield what is true of a row without values, and of rows with each of the values.

    These are the predicates that the row passes, and the negations of those that it does not.
    """
    kinds = {column: "nan" if column == "score" else "null" for column in _COLUMNS}
    there = [_term(f"not-{kind}", column) for column, kind in kinds.items()]
    absent = [_term(f"is-{kind}", column) for column, kind in kinds.items()]
    yield [*absent, *map(_not, there)], _WITH_NULL
    for row in _VALUES:
        terms = [*there, *map(_not, absent)]
        for (column, tests), value in zip(_COLUMNS.items(), row, strict=True):
            for one, contrary, *others in tests:
                for operation in (one, contrary):
                    term = _term(operation, column, *others)
                    terms.append(term if passes(value, operation, *others) else _not(term))
        yield terms, _WITH_VALUE


def _of_two(
    notes: list[Pair], scores: list[Pair], spots: list[Pair]
) -> Iterator[tuple[Pair, Pair]]:
    """Yield pairs of predicates on different columns, so that one row could match both."""
    yield from zip(notes[: len(scores)], scores, strict=True)
    contraries = [(contrary, one) for one, contrary in notes]
    yield from zip(spots, contraries[::-1], strict=True)


_COMPARISONS = frozenset({
    "eq", "not-eq", "lt", "lt-eq", "gt", "gt-eq", "in", "not-in", "starts-with", "not-starts-with",
})  # fmt: skip


def _filters() -> Iterator[Due]:
    """Yield every predicate or its contrary, then some negated, and pairs joined, in turn."""
    notes, spots, scores = _of_texts("note"), _of_texts("place.spot"), _of_numbers("score")
    for turn, (one, contrary) in enumerate([*notes, *scores]):
        yield (one, contrary)[turn % 2]
    for turn, (one, contrary) in enumerate([*spots[::6], *scores[::4]]):
        negated, same = ((contrary, one), (one, contrary))[turn % 2]
        yield _not(negated[0]), same[1]
    in_twos = [*_of_two(notes, scores, spots)][2::3]
    for turn, ((one, not_one), (two, not_two)) in enumerate(in_twos):
        both: Due = (joined("and", [one[0], two[0]]), one[1] & two[1])
        either: Due = ({"type": "or", "left": one[0], "right": two[0]}, one[1] | two[1])
        neither: Due = (_not(either[0]), not_one[1] & not_two[1])
        not_both: Due = (_not(both[0]), not_one[1] | not_two[1])
        yield (neither, either, not_both)[turn * 3 // len(in_twos)]


@generated_check(
    "planTableScan.empty-columns",
    proves=("planTableScan.empty-columns", "planTableScan.every-residual"),
    needs=V2,
)
def test_filters_on_columns_with_nothing_in_them(catalog: Catalog) -> None:
    """A filter skips no file that its null counts, NaN counts and bounds do not exclude."""
    with given_files(catalog, layout=NOTES) as files:
        files.append(*FILES)
        for filter_, due in _filters():
            _expect_due(catalog, files, filter_, due)
        for terms, due in _rows():
            try:
                _expect_due(catalog, files, joined("and", terms), due)
            except Violation:
                for term in terms:  # so that one of them is named
                    _expect_due(catalog, files, term, due)
                raise


def _expect_due(catalog: Catalog, files: ManifestFiles, filter_: Json, due: frozenset[str]) -> None:
    """Judge the files and the residual filters of a scan with a filter."""
    found = planned(catalog, files.table, filter=filter_)
    asked = f"asked for {show(filter_, 400)}"
    left_out = lost(files, found, sorted(f"{name}.parquet" for name in due))
    equal(left_out, [], symptom=PLANNED_FILES, detail=asked)
    for task in found.tasks:
        (name,) = files.names_of([task["data-file"]["file-path"]])
        _expect_residual(task, filter_, name.removesuffix(".parquet") in due, asked)


def _expect_residual(task: Json, filter_: Json, is_due: bool, asked: str) -> None:
    """Judge a residual filter: not false if rows may match, not true if some rows do not match."""
    residual = task.get("residual-filter")
    told = residual.get("type") if isinstance(residual, dict) else residual
    if is_due and told in (False, "false"):
        equal(told, "not false", symptom=_RESIDUAL_FORGETS_ROWS, detail=asked)
    inner = filter_["child"] if filter_["type"] == "not" else filter_
    # Every due file has both matching and other rows for these operations.
    if is_due and inner["type"] in _COMPARISONS and told in (True, "true"):
        equal(told, "not true", symptom=RESIDUAL_FORGETS_THE_FILTER, detail=asked)


# ---- members of planned files


BIG = 2**31 + 5
_COUNTS: dict[str, dict[int, int]] = {
    "column_sizes": {3: 333, 1: 111, 2: 222},
    "value_counts": {2: 20, 3: 30, 1: BIG},
    "null_value_counts": {3: 3, 2: 2, 1: 0},
    "nan_value_counts": {4: 4},
}
_LOWER = {2: b"a", 4: _double(0.0), 3: b""}
_UPPER = {3: b"z", 2: b"a", 4: _double(9.5)}
_TOLD_BOUNDS: dict[str, dict[int, tuple[bytes, Json]]] = {
    "lower-bounds": {2: (b"a", "a"), 4: (_double(0.0), 0.0), 3: (b"", "")},
    "upper-bounds": {3: (b"z", "z"), 2: (b"a", "a"), 4: (_double(9.5), 9.5)},
}
FACTS: Json = {
    "file_format": "ORC",
    "record_count": BIG,
    "file_size_in_bytes": 2**40 + 1,
    "key_metadata": b"\x00\xff\xa1",
    "split_offsets": [4, 2**33],
    "sort_order_id": 0,
    **{name: _map(counts) for name, counts in _COUNTS.items()},
    "lower_bounds": _map(_LOWER),
    "upper_bounds": _map(_UPPER),
}
TOLD: dict[str, Json] = {
    "file-format": "orc",
    "record-count": BIG,
    "file-size-in-bytes": 2**40 + 1,
    "key-metadata": "00FFA1",
    "split-offsets": [4, 2**33],
    "sort-order-id": 0,
    "partition": ["a"],
}
_REQUIRED = ("record-count", "file-size-in-bytes", "partition")
_DELETE_FACTS: Json = {"file_format": "AVRO", "record_count": 7, "file_size_in_bytes": 777}
_DELETE_TOLD = {
    "file-format": "avro",
    "record-count": 7,
    "file-size-in-bytes": 777,
    "partition": ["a"],
}


def _counts_due(member: str) -> Mapping[int, tuple[int, ...]]:
    """Return the allowed values by column id.

    The document describes two of these maps as other ones, so both readings are allowed.
    """
    name = member.replace("-", "_")
    others = {"column_sizes": "value_counts", "value_counts": "null_value_counts"}
    read_as = [_COUNTS[name], _COUNTS[others.get(name, name)]]
    return {at: tuple(each[at] for each in read_as if at in each) for at in (1, 2, 3, 4)}


def _bounds_due(member: str) -> Mapping[int, tuple[Json, ...]]:
    """Return the allowed forms of each bound; Java answers the bytes in the manifest."""
    return {
        at: (value, raw.hex(), raw.hex().upper())
        for at, (raw, value) in _TOLD_BOUNDS[member].items()
    }


def _expect_map(told: Json, due: Mapping[int, tuple[Json, ...]], member: str, why: str) -> None:
    """Judge the values in a map by column id, for the columns that it has."""
    by_column = told.get(member) or {}
    keys, values = by_column.get("keys") or [], by_column.get("values") or []
    symptom = PLANNED_FILE.of(member)
    equal(len(values), len(keys), symptom=symptom, detail=f"{why}: values for the keys")
    for at, value in zip(keys, values, strict=True):
        allowed = due.get(at, ())
        if value not in allowed:
            wanted = allowed[0] if allowed else "nothing, for the manifest has none"
            equal(value, wanted, symptom=symptom, detail=f"{why}: of column {at}")


def _expect_members(told: Json, due: Mapping[str, Json], why: str) -> None:
    """Judge the members of a file: required ones, and others if they are present."""
    for member, value in due.items():
        found = told.get(member)
        if member == "file-format":
            found = str(found).lower()  # the check of the schema judges its letter case
        if member in _REQUIRED or found is not None:
            equal(found, value, symptom=PLANNED_FILE.of(member), detail=why)


STATISTICS: tuple[list[str] | None, ...] = (
    None,
    ["note"],
    ["score", "id"],
    ["category", "note"],
    ["place.spot", "score", "note", "category", "id"],
)


@generated_check("planTableScan.told-facts", needs=V2)
def test_what_is_told_of_files(catalog: Catalog) -> None:
    """Counts and bounds of planned files, where they are sent, are those of their manifests."""
    position = PlannedFile(
        "p.avro",
        partition=IN_A,
        content=POSITION_DELETES,
        refers_to="rich.orc",
        facts=_DELETE_FACTS,
    )
    equality = PlannedFile(
        "e.avro",
        partition=IN_A,
        content=EQUALITY_DELETES,
        facts={**_DELETE_FACTS, "equality_ids": [2, 1]},
    )
    with given_files(catalog, layout=NOTES) as files:
        with files.at_once():
            files.append(PlannedFile("poor.parquet", partition=IN_A))
            files.append(PlannedFile("rich.orc", partition=IN_A, facts=FACTS))
            files.append(position, equality)
        for asked in STATISTICS:
            members = {} if asked is None else {"stats_fields": asked}
            found = planned(catalog, files.table, **members)
            expect_planned(files, found, ["poor.parquet", "rich.orc"])
            why = f"stats-fields {show(asked)}"
            rich = next(t for t in found.tasks if t["data-file"]["file-path"].endswith(".orc"))
            _expect_members(rich["data-file"], TOLD, why)
            for member in ("column-sizes", "value-counts", "null-value-counts", "nan-value-counts"):
                _expect_map(rich["data-file"], _counts_due(member), member, why)
            for member in _TOLD_BOUNDS:
                _expect_map(rich["data-file"], _bounds_due(member), member, why)
            for delete in rich["delete-files"]:
                _expect_members(delete, _DELETE_TOLD, f"{why}: of {delete.get('content')}")
                if delete.get("equality-ids") is not None:
                    told = sorted(delete["equality-ids"])
                    equal(told, [1, 2], symptom=PLANNED_FILE.of("equality-ids"), detail=why)
