"""Defects in reading schemas and column metrics, in some scans only."""

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import show_after
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.json_values import texts
from icecheck.mock_server.defects.kit.places import answer_of
from icecheck.mock_server.defects.kit.requests import Json, sent_json, with_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    wrap,
)
from icecheck.mock_server.defects.scans.plans import (
    alter_data_files,
    alter_filter,
    with_data_files,
    without_members,
)
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem

_LOST_ROWS = "Queries miss rows, and nothing says so."
_COUNTS = ("column-sizes", "value-counts", "null-value-counts", "nan-value-counts")
_FLAG = "use-snapshot-schema"


def _terms(expression: Any) -> list[str]:
    """Return the column names in a filter expression."""
    match expression:
        case {"left": left, "right": right}:
            return [*_terms(left), *_terms(right)]
        case {"child": child}:
            return _terms(child)
        case {"term": str() as term}:
            return [term]
    return []


# ---- schemas


def _try_first(registries: Registries, alter: Callable[[Json], Json | None]) -> None:
    """Plan an altered request, or the sent one if the altered one is refused."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        altered = alter(sent_json(call))
        if altered is None:
            return faithful(state, call)
        try:
            return faithful(state, with_json(call, altered))
        except Problem:
            return faithful(state, call)

    wrap(registries, "planTableScan", around)


@defect(
    "plan-nested-names-of-the-table",
    on=through(_try_first),
    breaks="planTableScan.names-of-each-schema",
    suffering=_LOST_ROWS,
)
def _nested_names_of_the_table(body: Json) -> Json | None:
    """Fields of structs are looked up in the table's schema, whichever was asked for."""
    nested = any("." in term for term in _terms(body.get("filter")))
    return {**body, _FLAG: False} if nested and body.get(_FLAG) else None


declare(
    "plan-snapshot-schema-by-default",
    "A scan that names a snapshot has the names of its schema, unless it says that it has not.",
    by(
        _try_first,
        lambda body: {**body, _FLAG: True} if "snapshot-id" in body and _FLAG not in body else None,
    ),
    breaks="planTableScan.names-of-each-schema",
    suffering=_LOST_ROWS,
)


def _statistics_left_out(registries: Registries, when: Callable[[Json], bool]) -> None:
    """Leave the bounds of columns out of answers to scans for which `when` holds."""

    def bare(file: Json) -> Json:
        return without_members(file, "lower-bounds", "upper-bounds")

    def shown(_: WarehouseState, call: Call, body: Json) -> Json:
        return with_data_files(body, bare) if when(sent_json(call)) else body

    show_after(registries, "planTableScan", shown)


declare_each(
    ("plan-statistics-of-columns-only", "planTableScan.stats-of-each-schema",
     "There are statistics for columns, and none for fields of structs.",
     "Engines that prune by fields of structs read every file.",
     by(_statistics_left_out,
        lambda body: any("." in name for name in body.get("stats-fields") or ()))),
    ("plan-names-of-whichever-schema", "planTableScan.names-of-each-schema",
     "A name that the table's schema has is that column, whatever the snapshot's schema says.",
     _LOST_ROWS, by(_try_first, lambda body: {**body, _FLAG: False} if body.get(_FLAG) else None)),
    ("plan-statistics-of-now-only", "planTableScan.stats-of-each-schema",
     "A scan with the schema of a snapshot has no statistics.",
     "Engines that travel in time read every file.",
     by(_statistics_left_out, lambda body: body.get(_FLAG) is True)),
    ("plan-statistics-of-the-table-s-names", "planTableScan.stats-of-each-schema",
     "The names in stats-fields are those of the table's schema, whichever the scan has.",
     "Engines prune by the bounds of another column.",
     by(_try_first, lambda body: {**body, _FLAG: False} if body.get("stats-fields") else None)),
)  # fmt: skip


# ---- filters


@defect(
    "plan-not-and-as-and-not",
    on=through(alter_filter),
    breaks="planTableScan.empty-columns",
    suffering=_LOST_ROWS,
)
def _not_and_as_and_not(filter_: Any) -> Any:
    """What is not both is taken to be neither."""
    match filter_:
        case {"type": "not", "child": {"type": "and", "left": left, "right": right}}:
            neither = {"left": {"type": "not", "child": left}}
            return {**neither, "type": "and", "right": {"type": "not", "child": right}}
    return filter_


@defect(
    "plan-not-null-as-null",
    on=through(alter_filter),
    breaks="planTableScan.empty-columns",
    suffering=_LOST_ROWS,
)
def _not_null_as_null(filter_: Any) -> Any:
    """The negation of a test for null or NaN is lost."""
    match filter_:
        case {"type": "not", "child": {"type": str() as kind} as child} if "nu" in kind:
            return child
    return filter_


def _prune(registries: Registries, kinds: frozenset[str], lost: Callable[[Json], bool]) -> None:
    """Leave out files for which `lost` holds, in scans whose filter is of these kinds."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        body = sent_json(call)
        filter_ = body.get("filter")
        if not isinstance(filter_, dict) or filter_.get("type") not in kinds:
            return outcome
        asked = {**body, "stats-fields": _terms(filter_)}
        told = json.loads(faithful(state, with_json(call, asked)).reply.body)
        tasks = told.get("file-scan-tasks", ())
        gone = {t["data-file"]["file-path"] for t in tasks if lost(t["data-file"])}
        answer = json.loads(outcome.reply.body)
        kept = [t for t in answer["file-scan-tasks"] if t["data-file"]["file-path"] not in gone]
        reply = replies.json_reply({**answer, "file-scan-tasks": kept})
        return msgspec.structs.replace(outcome, reply=reply)

    wrap(registries, "planTableScan", around)


@defect("plan-unbounded-is-empty", breaks="planTableScan.empty-columns", suffering=_LOST_ROWS)
def _unbounded_is_empty(registries: Registries) -> None:
    """A file without bounds of a column is taken to have no values in it."""
    comparing = frozenset({"eq", "lt", "lt-eq", "gt", "gt-eq", "starts-with"})
    _prune(registries, comparing, lambda file: "lower-bounds" not in file)


def _residual(registries: Registries, kinds: frozenset[str], value: bool) -> None:
    """Answer a constant residual if the filter is of these kinds."""

    def shown(_: WarehouseState, call: Call, body: Json) -> Json:
        filter_ = sent_json(call).get("filter")
        if not isinstance(filter_, dict) or filter_.get("type") not in kinds:
            return body
        tasks = [{**task, "residual-filter": value} for task in body["file-scan-tasks"]]
        return {**body, "file-scan-tasks": tasks}

    show_after(registries, "planTableScan", shown)


declare_each(
    ("plan-uncounted-is-none", "planTableScan.empty-columns",
     "A file of which nulls and NaN were not counted is taken to have none.", _LOST_ROWS,
     by(_prune, frozenset({"is-null", "is-nan"}), lambda file: "value-counts" not in file)),
    ("plan-nan-is-beyond-bounds", "planTableScan.empty-columns",
     "NaN is compared with the bounds of a column, which it never is within.", _LOST_ROWS,
     by(_prune, frozenset({"is-nan"}), lambda file: "lower-bounds" in file)),
    ("plan-residual-of-negations-true", "planTableScan.every-residual",
     "A negated filter is taken to be done with once files are chosen.",
     "Queries count rows that their filter excludes, and nothing says so.",
     by(_residual, frozenset({"not"}), value=True)),
    ("plan-residual-of-sets-false", "planTableScan.every-residual",
     "What is left of a filter by a list of values is that nothing matches.", _LOST_ROWS,
     by(_residual, frozenset({"in", "not-in"}), value=False)),
)  # fmt: skip


# ---- facts


@defect(
    "plan-counts-by-size",
    on=through(alter_data_files),
    breaks="planTableScan.told-facts",
    suffering="Engines take one column's counts for another's, and choose bad plans.",
)
def _counts_by_size(file: Json) -> Json:
    """The values of a map of counts are sorted apart from its keys."""
    sorted_ = {
        name: {**file[name], "values": sorted(file[name]["values"], reverse=True)}
        for name in _COUNTS
        if name in file
    }
    return {**file, **sorted_}


@defect(
    "plan-sizes-in-32-bits",
    on=through(alter_data_files),
    breaks="planTableScan.told-facts",
    suffering="Large files are read in part, or not at all.",
)
def _sizes_in_32_bits(file: Json) -> Json:
    """Sizes and row counts of files are cut to 32 bits."""
    cut = {name: file[name] % 2**32 for name in ("file-size-in-bytes", "record-count")}
    return {**file, **cut}


@defect(
    "plan-deletes-as-large-as-data",
    on=answer_of("planTableScan"),
    breaks="planTableScan.told-facts",
    suffering="Engines read past the end of delete files.",
)
def _deletes_as_large_as_data(body: Json) -> Json:
    """Delete files have the size of the first data file."""
    if not body.get("delete-files"):
        return body
    size = body["file-scan-tasks"][0]["data-file"]["file-size-in-bytes"]
    deletes = [{**each, "file-size-in-bytes": size} for each in body["delete-files"]]
    return {**body, "delete-files": deletes}


_NANOSECONDS = re.compile(r"(\.[0-9]{6})[0-9]{3}")


def _to_microseconds(value: Any) -> Any:
    """Return JSON with times cut to microseconds, at any depth."""
    return texts(value, lambda text: _NANOSECONDS.sub(r"\g<1>000", text))


declare_each(
    ("plan-all-parquet", "planTableScan.told-facts", "Every data file is told to be Parquet.",
     "Files of other formats cannot be read.",
     by(alter_data_files, lambda file: {**file, "file-format": "parquet"})),
    ("plan-filters-in-microseconds", "planTableScan.nanoseconds",
     "Times in filters are read to the microsecond.", _LOST_ROWS,
     by(alter_filter, _to_microseconds)),
    ("plan-bounds-in-microseconds", "planTableScan.nanoseconds",
     "Times in statistics are told to the microsecond.",
     "Engines prune files that have the moment which they look for.",
     by(alter_data_files, _to_microseconds)),
)  # fmt: skip
