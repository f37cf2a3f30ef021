"""Checks of scans in format version 3: nanosecond times, and several vectors in one file."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.planned_scan import planned
from icecheck.conformance.kit.expressions import joined
from icecheck.conformance.kit.manifest_files import (
    POSITION_DELETES,
    SPEC,
    Layout,
    ManifestFiles,
    PlannedFile,
    given_files,
)
from icecheck.conformance.scans.planned_files import (
    IN_A,
    PLANNED_DELETES,
    PLANNED_FILE,
    PLANNED_FILES,
    expect_planned,
    given_odd_files,
    lost,
    passes,
)
from icecheck.conformance.scans.planned_history import DRESSES, SOME_DRESSES
from icecheck.judging.check import generated_check
from icecheck.replies.expect import Violation, equal

FIELD = bodies.struct_field
V3 = ("format-version-3",)

Json = Any


# ---- nanoseconds


MOMENTS = Layout(
    bodies.schema(
        FIELD(1, "id", "long", required=True),
        FIELD(2, "category", "string"),
        FIELD(3, "at", "timestamp_ns"),
        FIELD(4, "seen", "timestamptz_ns"),
    ),
    SPEC,
    ("string",),
)
_SECOND = "2007-12-03T10:15:30"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_IN_SECONDS = (datetime.fromisoformat(f"{_SECOND}+00:00") - _EPOCH) // timedelta(seconds=1)
# The first and last nanosecond of each file; all but the last file lie in one microsecond.
FILES: dict[str, tuple[int, int]] = {
    "exact": (123_456_789, 123_456_789),
    "early": (123_456_001, 123_456_788),
    "late": (123_456_790, 123_456_999),
    "before": (0, 1),
}
_UNKNOWN = "unknown"
_COLUMNS = {"at": 3, "seen": 4}
Test = tuple[str, tuple[int, ...], tuple[str, ...]]
_TESTS: tuple[Test, ...] = (
    ("eq", (123_456_789,), ("exact",)),
    ("eq", (123_456_001,), ("early",)),
    ("eq", (123_456_999,), ("late",)),
    ("lt", (123_456_789,), ("early", "before")),
    ("lt-eq", (123_456_789,), ("exact", "early", "before")),
    ("lt-eq", (1,), ("before",)),
    ("gt", (123_456_789,), ("late",)),
    ("gt", (123_456_788,), ("exact", "late")),
    ("gt-eq", (123_456_999,), ("late",)),
    ("in", (123_456_790, 1), ("late", "before")),
    ("not-eq", (123_456_700,), ("exact", "early", "late", "before")),
    ("not-in", (123_456_789,), ("early", "late", "before")),
)
# Moments with their files: each test of a file is one that a moment in the file passes.
_ROWS = {
    123_456_789: "exact",
    123_456_001: "early",
    123_456_790: "late",
    123_456_999: "late",
    1: "before",
}


def _term(operation: str, column: str, numbers: tuple[int, ...]) -> Json:
    values = [_told(column, number) for number in numbers]
    value = {"values": values} if "in" in operation else {"value": values[0]}
    return {"type": operation, "term": column, **value}


def _told(column: str, nanoseconds: int) -> str:
    zone = "+00:00" if column == "seen" else ""
    return f"{_SECOND}.{nanoseconds:09}{zone}"


def _stored(nanoseconds: int) -> bytes:
    return (_IN_SECONDS * 10**9 + nanoseconds).to_bytes(8, "little", signed=True)


def _moments(name: str) -> PlannedFile:
    if name == _UNKNOWN:
        return PlannedFile(f"{name}.parquet", partition=IN_A)
    low, high = map(_stored, FILES[name])
    bounds = {3: (low, high), 4: (low, high)}
    return PlannedFile(f"{name}.parquet", partition=IN_A, bounds=bounds)


@generated_check("planTableScan.nanoseconds", needs=V3)
def test_times_to_the_nanosecond(catalog: Catalog) -> None:
    """Filters and bounds keep all nine digits of nanosecond timestamps."""
    what = "times of nanoseconds"
    with given_odd_files(catalog, what, format_version=3, layout=MOMENTS) as files:
        files.append(*map(_moments, (*FILES, _UNKNOWN)))
        for moment, file in _ROWS.items():
            tests = [test for test in _TESTS if passes(moment, test[0], *test[1])]
            every = [(test, column) for test in tests for column in _COLUMNS]
            try:
                _expect_moments(catalog, files, every, (file,))
            except Violation:
                for test, column in every:  # so that one of them is named
                    _expect_moments(catalog, files, [(test, column)], test[2])
                raise


def _expect_moments(
    catalog: Catalog, files: ManifestFiles, tests: Sequence[tuple[Test, str]], due: Sequence[str]
) -> None:
    """Judge the files of a scan with all these tests, and the bounds of their columns."""
    terms = [_term(operation, column, numbers) for (operation, numbers, _), column in tests]
    columns = sorted({column for _, column in tests})
    found = planned(catalog, files.table, filter=joined("and", terms), stats_fields=columns)
    left_out = lost(files, found, (f"{name}.parquet" for name in (*due, _UNKNOWN)))
    words = ", and ".join(
        f"{column} {operation} {', '.join(_told(column, each) for each in numbers)}"
        for (operation, numbers, _), column in tests
    )
    equal(left_out, [], symptom=PLANNED_FILES, detail=f"asked for {words}")
    for task in found.tasks:
        (name,) = files.names_of([task["data-file"]["file-path"]])
        low, high = FILES.get(name.removesuffix(".parquet"), (0, 0))
        for column in columns:
            at = _COLUMNS[column]
            _expect_bound(task["data-file"], "lower-bounds", at, column, low)
            _expect_bound(task["data-file"], "upper-bounds", at, column, high)


def _expect_bound(file: Json, member: str, field_id: int, column: str, due: int) -> None:
    """Judge the bound of a column, if it is present; Java answers its stored bytes."""
    told = file.get(member) or {}
    by_column = dict(zip(told.get("keys") or (), told.get("values") or (), strict=False))
    raw = _stored(due).hex()
    if field_id in by_column and by_column[field_id] not in {raw, raw.upper()}:
        symptom = PLANNED_FILE.of(member)
        equal(by_column[field_id], _told(column, due), symptom=symptom, detail=f"of {column}")


# ---- deletion vectors


# Data file -> Puffin file, offset and length of its vector; two are in the same Puffin file.
VECTORS: dict[str, tuple[str, tuple[int, int]]] = {
    "a.parquet": ("many.puffin", (4, 40)),
    "b.parquet": ("many.puffin", (44, 51)),
    "c.parquet": ("other.puffin", (4, 62)),
}
_FREE = "free.parquet"


@generated_check("planTableScan.vectors-in-one-file", needs=V3)
def test_vectors_in_one_file(catalog: Catalog) -> None:
    """Each data file is planned with its own deletion vector, also where a file holds several."""
    with given_files(catalog, format_version=3) as files:
        with files.at_once():
            without = files.append(*map(PlannedFile, (*VECTORS, _FREE)))
            with_vectors = files.append(
                *(
                    PlannedFile(puffin, content=POSITION_DELETES, refers_to=data, vector=vector)
                    for data, (puffin, vector) in VECTORS.items()
                )
            )
            files.append(PlannedFile("later.parquet"))
        for asked, members in SOME_DRESSES.items():
            before = planned(catalog, files.table, snapshot_id=without, **members)
            equal(
                files.names_of(d["file-path"] for t in before.tasks for d in t["delete-files"]),
                [],
                symptom=PLANNED_DELETES,
                detail=f"scan of the snapshot without vectors, with {asked}",
            )
        for asked, members in [*DRESSES.items()][::2]:
            found = planned(catalog, files.table, snapshot_id=with_vectors, **members)
            expect_planned(files, found, (*VECTORS, _FREE), asked)
            for task in found.tasks:
                (name,) = files.names_of([task["data-file"]["file-path"]])
                puffin, vector = VECTORS.get(name, ("", None))
                deletes = files.names_of(each["file-path"] for each in task["delete-files"])
                detail = f"of {name}, scan with {asked}"
                equal(deletes, [puffin] if puffin else [], symptom=PLANNED_DELETES, detail=detail)
                for delete in task["delete-files"]:
                    place = (delete.get("content-offset"), delete.get("content-size-in-bytes"))
                    if (
                        place[0] is not None
                    ):  # without an offset the answer does not locate the vector
                        told = [*place]
                        due = [*(vector or ())]
                        equal(told, due, symptom=PLANNED_FILE.of("content-offset"), detail=detail)
