"""Defects in reading the terms of a scan, and in the details of planned files."""

import re
from collections.abc import Callable
from typing import Any

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import request_of
from icecheck.mock_server.defects.kit.requests import Json, sent_json, with_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
)
from icecheck.mock_server.defects.scans.plans import alter_tasks

_HEXADECIMAL = re.compile("([0-9A-F]{2})+")
_FRACTION = re.compile(r"(:[0-9]{2})\.[0-9]{6}")
_STATISTICS = ("value-counts", "lower-bounds", "upper-bounds")


def _refuse_scan(registries: Registries, where: Callable[[Json], Any]) -> None:
    """Refuse (400) the scans for whose body `where` holds."""
    refuse_where(registries, "planTableScan", lambda _, call: where(sent_json(call)))


def _alter_deletes(registries: Registries, left_out: str) -> None:
    """Leave a member of every delete file out of a plan that is completed at once."""

    def altered(body: Json) -> Json:
        deletes = body.get("delete-files")
        if deletes is None:
            return body
        bare = [{k: v for k, v in d.items() if k != left_out} for d in deletes]
        return {**body, "delete-files": bare}

    alter_body(registries, "planTableScan", altered)


def _values_of(expression: Any) -> list[Any]:
    """Return the values that a filter compares with."""
    match expression:
        case {"left": left, "right": right}:
            return [*_values_of(left), *_values_of(right)]
        case {"child": child}:
            return _values_of(child)
        case {"value": value}:
            return [value]
        case {"values": [*values]}:
            return values
    return []


@defect(
    "plan-numbers-in-32-bits",
    on=request_of("planTableScan"),
    breaks="planTableScan.filter",
    suffering="Queries with a large number miss all rows, and nothing says so.",
)
def _numbers_in_32_bits(body: Json) -> Json:
    """A number in a filter is cut to 32 bits, as the values of an int column are."""

    def cut(expression: Any) -> Any:
        if not isinstance(expression, dict):
            return expression
        found = {name: cut(each) for name, each in expression.items()}
        value = found.get("value")
        if type(value) is int and -(2**32) < value < 2**32:
            found["value"] = (value + 2**31) % 2**32 - 2**31
        return found

    return {**body, "filter": cut(body["filter"])} if "filter" in body else body


@defect(
    "plan-names-without-case",
    on="planTableScan",
    breaks="planTableScan.filter",
    suffering="Queries on one of two columns miss rows, and nothing says so.",
)
def _names_without_case(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Columns are found without regard to case: of two that differ in nothing else, the first."""
    entry = state.table(call.namespace, call.name)
    body = sent_json(call)
    if entry is None or "filter" not in body:
        return faithful(state, call)
    firsts: dict[str, str] = {}
    for schema in entry.metadata.schemas:
        for field in schema.fields:
            firsts.setdefault(field.name.lower(), field.name)

    def found(expression: Any) -> Any:
        if not isinstance(expression, dict):
            return expression
        altered = {name: found(each) for name, each in expression.items()}
        if isinstance(term := altered.get("term"), str):
            altered["term"] = firsts.get(term.lower(), term)
        return altered

    return faithful(state, with_json(call, {**body, "filter": found(body["filter"])}))


@defect(
    "plan-statistics-left-out",
    on=through(alter_tasks, "planTableScan"),
    breaks="planTableScan.stats-fields",
    suffering="Engines that prune by statistics read every file.",
)
def _statistics_left_out(task: Json) -> Json:
    """Files are planned without statistics, whoever asks for them."""
    kept = {k: v for k, v in task["data-file"].items() if k not in _STATISTICS}
    return {**task, "data-file": kept}


@defect(
    "plan-statistics-without-values",
    on=through(alter_tasks, "planTableScan"),
    breaks="planTableScan.stats-fields",
    suffering="Engines take one column's bound for another's.",
)
def _statistics_without_values(task: Json) -> Json:
    """Bounds that are zero or empty are left out of the values, and not of the keys."""
    bounds = task["data-file"].get("upper-bounds")
    if bounds is None:
        return task
    cut = {**bounds, "values": bounds["values"][1:]}
    return {**task, "data-file": {**task["data-file"], "upper-bounds": cut}}


def _to_the_second(value: Any) -> Any:
    """Return a text with a time without its fraction of a second; other values unchanged."""
    return _FRACTION.sub(r"\1", value) if isinstance(value, str) else value


def _filtered_to_the_second(expression: Any) -> Any:
    match expression:
        case {"left": left, "right": right}:
            found = {"left": left, "right": right}
            return {**expression, **{k: _filtered_to_the_second(v) for k, v in found.items()}}
        case {"child": child}:
            return {**expression, "child": _filtered_to_the_second(child)}
        case {"value": value}:
            return {**expression, "value": _to_the_second(value)}
    return expression


@defect(
    "plan-filter-times-without-fraction",
    on=request_of("planTableScan"),
    breaks="planTableScan.filter",
    suffering="Queries for a moment miss the rows of that moment.",
)
def _filter_times_without_fraction(body: Json) -> Json:
    """Times in filters are read to the second, and the partition of that is looked for."""
    if "filter" not in body:
        return body
    return {**body, "filter": _filtered_to_the_second(body["filter"])}


def _alter_partitions(registries: Registries, alter: Callable[[Any], Any]) -> None:
    """Change every partition value of planned data files."""

    def told(task: Json) -> Json:
        file = task["data-file"]
        return {**task, "data-file": {**file, "partition": [*map(alter, file["partition"])]}}

    alter_tasks(registries, "planTableScan", told)


@defect(
    "plan-partitions-in-small-letters",
    on=through(_alter_partitions),
    breaks="planTableScan.file-facts",
    suffering="Clients that compare partitions as text take one for two.",
)
def _in_small_letters(value: Any) -> Any:
    """Binary values of partitions are written with small letters."""
    binary = isinstance(value, str) and _HEXADECIMAL.fullmatch(value)
    return value.lower() if binary else value


declare_each(
    ("plan-columns-only", "planTableScan.field-names", "Only columns have names.",
     "Queries that read one field of a struct cannot be planned.",
     by(_refuse_scan, lambda body: any("." in name for name in body.get("select") or ()))),
    ("plan-numbers-are-numbers", "planTableScan.literals",
     "A decimal in a filter has to be a JSON number.",
     "Queries that compare decimals or binary columns cannot be planned.",
     by(_refuse_scan, lambda body: "123.4500" in _values_of(body.get("filter")))),
    ("plan-residual-true", "planTableScan.residual", "No file has anything left to filter.",
     "Queries count rows that their filter excludes, and nothing says so.",
     by(alter_tasks, "planTableScan", lambda task: {**task, "residual-filter": True})),
    ("plan-equality-ids-left-out", "planTableScan.equality-ids",
     "Equality deletes are told without the fields by which they delete.",
     "Scans of tables with equality deletes fail.", by(_alter_deletes, "equality-ids")),
    ("plan-vector-without-size", "planTableScan.content-size",
     "A deletion vector is told with where it begins, and not with its length.",
     "Deletion vectors cannot be read, and the scan fails.",
     by(_alter_deletes, "content-size-in-bytes")),
    ("plan-partition-times-without-fraction", "planTableScan.file-facts",
     "Times in partitions are told to the second.",
     "Deletes for a partition are not applied to it, and deleted rows come back.",
     by(_alter_partitions, _to_the_second)),
)  # fmt: skip


@defect(
    "plan-one-delete-file",
    on=through(alter_tasks, "planTableScan"),
    breaks="planTableScan.position-deletes",
    suffering="Rows that were deleted in two steps come back in part.",
)
def _one_delete_file(task: Json) -> Json:
    """A data file is planned with the last of its delete files, as if that had replaced others."""
    references = task.get("delete-file-references")
    return task if not references else {**task, "delete-file-references": references[-1:]}


@defect(
    "plan-statistics-of-selected-columns",
    on=request_of("planTableScan"),
    breaks="planTableScan.stats-of-each-schema",
    suffering="Engines that filter by a column which they do not read prune nothing by it.",
)
def _statistics_of_selected_columns(body: Json) -> Json:
    """Statistics are read for the columns of the selection alone."""
    select, wanted = body.get("select"), body.get("stats-fields")
    if not isinstance(select, list) or not isinstance(wanted, list):
        return body
    return body | {"stats-fields": [each for each in wanted if each in select]}
