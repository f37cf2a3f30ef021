"""Checks of planned times at full seconds: midnight, 1970, before 1970, and zeros at the end."""

from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.planned_scan import planned
from icecheck.conformance.kit.manifest_files import PlannedFile
from icecheck.conformance.scans.partition_values import (
    Part,
    PartitionField,
    fields_of,
    layout_of,
    same,
)
from icecheck.conformance.scans.planned_files import (
    PLANNED_FILE,
    PLANNED_FILE_TIMES,
    V2,
    given_odd_files,
)
from icecheck.judging.check import generated_check
from icecheck.replies.expect import equal

_MOMENTS = (
    ("2007-12-03T10:15:30.000000", "1969-12-31T23:59:59.000000"),
    ("2000-02-29T00:00:00.000000", "1970-01-01T00:00:00.000000"),
    ("2007-12-03T10:15:30.120000", "1968-02-29T22:31:08.500000"),
    ("2007-12-03T10:15:00.000000", "1970-01-01T00:00:00.000001"),
)
_FIELDS = fields_of(
    [
        *(same("timestamp", *pair) for pair in _MOMENTS),
        *(same("timestamptz", *(f"{each}+00:00" for each in pair)) for pair in _MOMENTS),
        *(same("time", *(each.partition("T")[2] for each in pair)) for pair in _MOMENTS),
        same("date", "2000-02-29", "1970-01-01"),
        same("date", "2007-12-03", "1969-12-31"),
    ]
)
_FILES = ("after.parquet", "before.parquet")


def _parts(name: str) -> list[Part]:
    return [field.after if name == _FILES[0] else field.before for field in _FIELDS]


def _bounds(name: str) -> dict[int, tuple[bytes, bytes]]:
    pairs = zip(_FIELDS, _parts(name), strict=True)
    return {at: b for at, (f, part) in enumerate(pairs, start=1) if (b := f.bounds(part))}


def _expect_told(told: Any, due: Any, field: PartitionField, where: str, raw: bytes = b"") -> None:
    """Judge a value; a bound may also be given as the bytes in the manifest."""
    if not raw or told not in {raw.hex(), raw.hex().upper()}:
        equal(told, due, symptom=PLANNED_FILE_TIMES, detail=f"{where}, {field.type}")


@generated_check("planTableScan.six-digits", needs=V2)
def test_times_of_full_seconds(catalog: Catalog) -> None:
    """Timestamps in partitions and bounds have six fractional digits, zeros included."""
    with given_odd_files(catalog, "partitions by times", layout=layout_of(_FIELDS)) as files:
        files.append(
            *(
                PlannedFile(
                    name,
                    partition=tuple(
                        f.avro_value(p) for f, p in zip(_FIELDS, _parts(name), strict=True)
                    ),
                    bounds=_bounds(name),
                )
                for name in _FILES
            )
        )
        tasks = planned(catalog, files.table).tasks
        told = {task["data-file"]["file-path"]: task["data-file"] for task in tasks}
        for name in _FILES:
            _expect_file(told.get(files.location(name)) or {}, name)


def _expect_file(told: dict[str, Any], name: str) -> None:
    values = told.get("partition") or []
    equal(len(values), len(_FIELDS), symptom=PLANNED_FILE.of("partition"), detail=name)
    for field, part, value in zip(_FIELDS, _parts(name), values, strict=True):
        _expect_told(value, part.value, field, "in a partition")
    for side, member in enumerate(("lower-bounds", "upper-bounds")):
        bounds = told.get(member) or {}
        by_column = dict(zip(bounds.get("keys", ()), bounds.get("values", ()), strict=False))
        for at, (field, part) in enumerate(zip(_FIELDS, _parts(name), strict=True), start=1):
            if at in by_column:
                raw = _bounds(name)[at][side]
                _expect_told(by_column[at], part.value, field, f"in {member}", raw)
