"""Checks of scan planning on partitions of every kind: their values, and what filters exclude.

One table has a field for every transform of every type and two files, of later and of earlier
values. No partition is null: the document has no form for it. Of the later values only the
partition is known; the earlier file also has column bounds, from before the columns were widened,
where a transform keeps the order.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.planned_scan import planned
from icecheck.conformance.kit.expressions import joined
from icecheck.conformance.kit.manifest_files import ManifestFiles, PlannedFile
from icecheck.conformance.scans.partition_values import FIELDS, LAYOUT, Part, PartitionField
from icecheck.conformance.scans.planned_files import (
    PLANNED_FILE,
    PLANNED_FILES,
    V2,
    given_odd_files,
    lost,
)
from icecheck.judging.check import generated_check
from icecheck.replies.expect import Violation, equal

_AFTER, _BEFORE = "after.parquet", "before.parquet"
_WITHOUT_ORDER = frozenset({"boolean", "uuid"})  # engines order UUIDs differently

Json = Any
Predicates = Callable[[PartitionField, Part], list[Json]]


@contextmanager
def _given_partitions(catalog: Catalog) -> Iterator[ManifestFiles]:
    """Yield a table with its two files; raise NotOffered if the catalog refuses such a table."""
    with given_odd_files(catalog, "partitions of every transform", layout=LAYOUT) as files:
        files.append(
            PlannedFile(_AFTER, partition=tuple(f.avro_value(f.after) for f in FIELDS)),
            PlannedFile(
                _BEFORE,
                partition=tuple(f.avro_value(f.before) for f in FIELDS),
                bounds={at: b for at, f in enumerate(FIELDS, start=1) if (b := f.bounds(f.before))},
            ),
        )
        yield files


# ---- partition values


@generated_check("planTableScan.partition-values", proves="planTableScan.file-facts", needs=V2)
def test_values_of_partitions(catalog: Catalog) -> None:
    """A file's partition has the values of its manifest, in the form of their types."""
    with _given_partitions(catalog) as files:
        tasks = planned(catalog, files.table).tasks
        told = {task["data-file"]["file-path"]: task["data-file"]["partition"] for task in tasks}
        due = {_AFTER: [f.after for f in FIELDS], _BEFORE: [f.before for f in FIELDS]}
        for name, parts in due.items():
            values = told.get(files.location(name))
            equal(len(values or ()), len(FIELDS), symptom=PLANNED_FILE.of("partition"), detail=name)
            for field, part, value in zip(FIELDS, parts, values or (), strict=True):
                if value != field.avro_value(part) or field.transform != "day":
                    what = f"{field.transform} of {field.type}"
                    equal(value, part.value, symptom=PLANNED_FILE.of("partition"), detail=what)


# ---- filters


def _predicate(operation: str, field: PartitionField, *values: Json) -> Json:
    members = {"values": [*values]} if operation in {"in", "not-in"} else {}
    if values and not members:
        members = {"value": values[0]}
    return {"type": operation, "term": field.column, **members}


def _has_order(field: PartitionField, part: Part) -> bool:
    return part.first != part.last and not field.transform.startswith("bucket")


def _of_the_first(field: PartitionField, part: Part) -> list[Json]:
    found = [_predicate("eq", field, part.first), _predicate("not-null", field)]
    if field.type not in _WITHOUT_ORDER:
        found.append(_predicate("lt-eq", field, part.first))
    if field.type == "string":
        found.append(_predicate("starts-with", field, part.first[:1]))
    if _has_order(field, part):
        found.append(_predicate("not-eq", field, part.last))
    return found


def _of_the_last(field: PartitionField, part: Part) -> list[Json]:
    found = [_predicate("in", field, part.last, part.first)]
    if field.type not in _WITHOUT_ORDER:
        found.append(_predicate("gt-eq", field, part.last))
    if field.type == "string":
        found.append(_predicate("starts-with", field, part.last[:3]))
    if _has_order(field, part):
        found.append(_predicate("not-eq", field, part.first))
    return found


def _between(field: PartitionField, part: Part) -> list[Json]:
    """Return predicates that exclude the first and last value, if the partition has others."""
    if field.transform.startswith("bucket"):
        return [_predicate("not-in", field, part.first)]
    if not _has_order(field, part):
        return [_predicate("in", field, part.first, part.last)]
    found = [_predicate("not-in", field, part.first, part.last)]
    if field.type == "string":
        starting, other = part.last[:4], part.last
        found.append(_predicate("starts-with", field, starting))
        return [*found, _predicate("not-starts-with", field, other)]
    return [*found, _predicate("gt", field, part.first), _predicate("lt", field, part.last)]


def _transformed(field: PartitionField, part: Part) -> list[Json]:
    """Return a predicate on the transform's result, which is the partition value."""
    if field.transform in {"identity", "day"}:  # a day may be written as a number or a date
        return [_predicate("not-null", field)]
    term = {"type": "transform", "transform": field.transform, "term": field.column}
    return [{"type": "eq", "term": term, "value": part.value}]


_FILTERS: dict[str, Predicates] = {
    "the first values of each partition": _of_the_first,
    "the last values of each partition": _of_the_last,
    "values between them": _between,
    "results of the transform": _transformed,
}


def _filter(predicates: Predicates, fields: Sequence[PartitionField]) -> Json:
    """Return a filter that rows of both files match, as far as their partitions tell."""
    return joined(
        "or",
        [
            joined("and", [p for f in fields for p in predicates(f, f.after)]),
            joined("and", [p for f in fields for p in predicates(f, f.before)]),
        ],
    )


def _lost(catalog: Catalog, files: ManifestFiles, filter_: Json) -> list[str]:
    return lost(files, planned(catalog, files.table, filter=filter_), (_AFTER, _BEFORE))


@generated_check("planTableScan.partition-filters", proves="planTableScan.filter", needs=V2)
def test_filters_on_sources_of_partitions(catalog: Catalog) -> None:
    """A file whose partition may have matching rows is planned, for every transform."""
    with _given_partitions(catalog) as files:
        for what, predicates in _FILTERS.items():
            if not _lost(catalog, files, _filter(predicates, FIELDS)):
                continue
            for field in FIELDS:
                detail = f"asked for {what}: {field.transform} of {field.type}"
                left_out = _lost(catalog, files, _filter(predicates, [field]))
                equal(left_out, [], symptom=PLANNED_FILES, detail=detail)
            equal(
                _lost(catalog, files, _filter(predicates, FIELDS)),
                [],
                symptom=PLANNED_FILES,
                detail=f"asked for {what} of all columns together",
            )
        _expect_beyond(catalog, files)


def _expect_beyond(catalog: Catalog, files: ManifestFiles) -> None:
    """Judge filters with numbers beyond the range of their column, if the catalog accepts them."""
    ints = [field for field in FIELDS if field.type == "int"]
    together = _lost_beyond(catalog, files, ints)
    for field in [] if together == [] else ints:
        detail = f"asked for all numbers that an int can be: {field.transform}"
        left_out = _lost_beyond(catalog, files, [field])
        equal(left_out or [], [], symptom=PLANNED_FILES, detail=detail)
    detail = "asked for all numbers that an int can be, of all columns together"
    equal(together or [], [], symptom=PLANNED_FILES, detail=detail)


def _lost_beyond(
    catalog: Catalog, files: ManifestFiles, fields: Sequence[PartitionField]
) -> list[str] | None:
    """Return the files lost by a filter that all ints match; None if it is refused."""
    bounds = (("lt", 2**31), ("gt", -(2**31) - 1))
    filter_ = joined("and", [_predicate(it, f, at) for f in fields for it, at in bounds])
    try:
        return _lost(catalog, files, filter_)
    except Violation:
        return None
