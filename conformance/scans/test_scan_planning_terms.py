"""Checks of terms in scans and plans: names, values, residual filters, statistics."""

from functools import reduce
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_table
from icecheck.client.planned_scan import planned
from icecheck.conformance.kit.manifest_files import (
    EQUALITY_DELETES,
    POSITION_DELETES,
    PlannedFile,
    given_files,
)
from icecheck.conformance.scans.planned_files import (
    PLAN_OF_NOTHING,
    PLANNED_DELETES,
    PLANNED_FILE,
    RESIDUAL_FORGETS_THE_FILTER,
    V2,
    expect_planned,
)
from icecheck.judging.check import check
from icecheck.objects.committing import given_table_of
from icecheck.replies.expect import equal

STRUCT = bodies.struct_field
ID = 1
"""The id of the column for which the suite's manifests have numeric bounds."""

Json = Any


def _struct(*fields: Json) -> Json:
    return {"type": "struct", "fields": [*fields]}


# Parents before their children, as createTable numbers columns.
NESTED = bodies.schema(
    STRUCT(1, "place", _struct(STRUCT(4, "spot", _struct(STRUCT(5, "lat", "double"))))),
    STRUCT(2, "people", {
        "type": "list", "element-id": 6, "element-required": True,
        "element": _struct(STRUCT(7, "name", "string")),
    }),
    STRUCT(3, "scores", {
        "type": "map", "key-id": 8, "key": _struct(STRUCT(10, "game", "string", required=True)),
        "value-id": 9, "value": _struct(STRUCT(11, "points", "int")), "value-required": True,
    }),
)  # fmt: skip
NAMES = (
    "place",
    "place.spot.lat",
    "people.element.name",
    "scores.key.game",
    "scores.value.points",
)

# The statistics of ten numbers from 3 to 9; Java answers bounds as the bytes in the manifest.
STATISTICS: dict[str, tuple[Json, ...]] = {
    "value-counts": (10,),
    "null-value-counts": (0,),
    "lower-bounds": (3, "0300000000000000"),
    "upper-bounds": (9, "0900000000000000"),
}

# A value of each type of format version 2, in the document's form.
LITERALS: dict[str, Json] = {
    "boolean": True,
    "int": 42,
    "long": 2**53 + 1,
    "float": 3.5,
    "double": 123.456,
    "decimal(9, 4)": "123.4500",
    "string": "hello",
    "uuid": "eb26bdb1-a1d8-4aa6-990e-da940875492c",
    "date": "2007-12-03",
    "time": "22:31:08.123456",
    "timestamp": "2007-12-03T10:15:30.123456",
    "timestamptz": "2007-12-03T10:15:30.123456+00:00",
    "fixed[3]": "78797A",
    "binary": "78797A",
}


# ---- names and values in requests


@check("planTableScan.field-names")
def test_names_of_nested_fields(catalog: Catalog) -> None:
    """A scan names fields in structs, lists and maps by their path."""
    table = given_table(catalog, table_schema=NESTED)
    filter_ = {"type": "gt", "term": "place.spot.lat", "value": 1.5}
    found = planned(catalog, table, select=[*NAMES], stats_fields=[*NAMES[1:]], filter=filter_)
    equal(found.locations, [], symptom=PLAN_OF_NOTHING)


@check("planTableScan.literals", needs=V2)
def test_literals_of_every_type(catalog: Catalog) -> None:
    """A filter compares columns of every type with values in the document's form."""
    columns = [STRUCT(at, f"c{at}", type_) for at, type_ in enumerate(LITERALS, start=1)]
    table = given_table_of(catalog, 2, table_schema=bodies.schema(*columns))
    terms = [
        {"type": "eq", "term": f"c{at}", "value": value}
        for at, value in enumerate(LITERALS.values(), start=1)
    ]
    terms.append({"type": "in", "term": "c6", "values": ["1.0000", "123.4500"]})
    all_of = reduce(lambda left, right: {"type": "and", "left": left, "right": right}, terms)
    equal(planned(catalog, table, filter=all_of).locations, [], symptom=PLAN_OF_NOTHING)


# ---- members of planned files


def _matches_everything_or_nothing(expression: Json) -> bool:
    kind = expression.get("type") if isinstance(expression, dict) else expression
    return kind in (True, False, "true", "false")


@check("planTableScan.residual", needs=V2)
def test_residual_of_a_filter(catalog: Catalog) -> None:
    """A residual filter, where one is sent, is not constant for a file that matches in part."""
    with given_files(catalog) as files:
        files.append(PlannedFile("a.parquet", "a", (0, 9)))
        filter_ = {"type": "gt-eq", "term": "id", "value": 5}
        found = planned(catalog, files.table, filter=filter_)
        expect_planned(files, found, ["a.parquet"])
        residual = found.tasks[0].get("residual-filter")
        if residual is not None:
            equal(
                _matches_everything_or_nothing(residual),
                False,
                symptom=RESIDUAL_FORGETS_THE_FILTER,
                detail=f"the residual is {residual}",
            )


@check("planTableScan.stats-fields", needs=V2)
def test_statistics_of_columns(catalog: Catalog) -> None:
    """A file is planned with the statistics of the columns that were asked for."""
    with given_files(catalog) as files:
        files.append(PlannedFile("a.parquet", "a", (3, 9)))
        found = planned(catalog, files.table, stats_fields=["id"])
        expect_planned(files, found, ["a.parquet"])
        told = found.tasks[0]["data-file"]
        for member, due in STATISTICS.items():
            by_column = told.get(member) or {}
            keys, values = by_column.get("keys") or [], by_column.get("values") or []
            symptom = PLANNED_FILE.of(member)
            equal(ID in keys, True, symptom=symptom, detail="of the column asked for")
            equal(len(values), len(keys), symptom=symptom, detail="values for the keys")
            value = values[keys.index(ID)]
            if value not in due:
                equal(value, due[0], symptom=symptom, detail="of the column asked for")


@check("planTableScan.equality-ids", needs=V2)
def test_fields_of_equality_deletes(catalog: Catalog) -> None:
    """An equality delete file is planned with the fields by which it deletes."""
    with given_files(catalog) as files:
        files.append(PlannedFile("a.parquet"))
        files.append(PlannedFile("d.parquet", content=EQUALITY_DELETES))
        found = planned(catalog, files.table)
        expect_planned(files, found, ["a.parquet"])
        told = [delete.get("equality-ids") for delete in found.tasks[0]["delete-files"]]
        equal(told, [[ID]], symptom=PLANNED_FILE.of("equality-ids"))


@check("planTableScan.content-size", needs=("format-version-3",))
def test_size_of_a_deletion_vector(catalog: Catalog) -> None:
    """A deletion vector that is planned with its offset is planned with its length too."""
    offset, length = 4, 40
    with given_files(catalog, format_version=3) as files:
        files.append(PlannedFile("a.parquet"))
        files.append(
            PlannedFile(
                "d.puffin",
                content=POSITION_DELETES,
                refers_to="a.parquet",
                vector=(offset, length),
            )
        )
        found = planned(catalog, files.table)
        deletes = files.names_of(found.deletes_of(files.location("a.parquet")))
        equal(deletes, ["d.puffin"], symptom=PLANNED_DELETES)
        [vector] = found.tasks[0]["delete-files"]
        if vector.get("content-offset") is None:
            return  # without an offset the length need not be there
        for member, due in (("content-offset", offset), ("content-size-in-bytes", length)):
            equal(vector.get(member), due, symptom=PLANNED_FILE.of(member))
