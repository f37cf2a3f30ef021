"""Defects of the set of planned files: wrong ones, too few or too many."""

from collections.abc import Callable
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import request_of
from icecheck.mock_server.defects.kit.requests import Json, sent_json, with_content
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    alter_body,
    alter_request_body,
    wrap,
)
from icecheck.mock_server.defects.scans.plans import alter_filter
from icecheck.mock_server.protocol import problem

_LOST_ROWS = "Queries miss rows, and nothing says so."
_TOO_MANY_ROWS = "Queries count rows that are not theirs, and nothing says so."


def _forget_member(registries: Registries, *members: str) -> None:
    """Let planTableScan ignore members of its body."""

    def alter(body: Json) -> Json:
        return {name: value for name, value in body.items() if name not in members}

    alter_request_body(registries, "planTableScan", alter)


def _alter_tasks(registries: Registries, alter: Any) -> None:
    """Change the file scan tasks of every answer that has some."""

    def altered(body: Json) -> Json:
        if not body.get("file-scan-tasks"):
            return body
        return {**body, "file-scan-tasks": alter(body["file-scan-tasks"])}

    for operation_id in ("planTableScan", "fetchScanTasks"):
        alter_body(registries, operation_id, altered)


def _plan_snapshot(registries: Registries, choose: Any) -> None:
    """Let a scan without a snapshot read the one that `choose` picks from the metadata."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        chosen = None if entry is None else choose(entry.metadata)
        body = sent_json(call)
        if chosen is None or {"snapshot-id", "start-snapshot-id"} & body.keys():
            return faithful(state, call)
        content = msgspec.json.encode({**body, "snapshot-id": chosen})
        return faithful(state, with_content(call, content))

    wrap(registries, "planTableScan", around)


@defect(
    "plan-from-a-stale-cache",
    on=through(_plan_snapshot),
    breaks="planTableScan.removed-files",
    suffering=_TOO_MANY_ROWS,
)
def _from_a_stale_cache(metadata: Any) -> int | None:
    """What a delete has removed is planned until the next append."""
    by_id = {snapshot.snapshot_id: snapshot for snapshot in metadata.snapshots}
    current = by_id.get(metadata.current_snapshot_id)
    if current is None or (current.summary or {}).get("operation") != "delete":
        return None
    return current.parent_snapshot_id  # type: ignore[no-any-return]


def _alter_file(registries: Registries, /, **members: Any) -> None:
    def altered(tasks: list[Json]) -> list[Json]:
        changed = {name.replace("_", "-"): value for name, value in members.items()}
        return [{**task, "data-file": {**task["data-file"], **changed}} for task in tasks]

    _alter_tasks(registries, altered)


declare_each(
    ("plan-last-committed", "planTableScan.main-by-default",
     "The snapshot that was added last is read, on whatever branch it is.", _TOO_MANY_ROWS,
     by(_plan_snapshot,
        lambda metadata: metadata.snapshots[-1].snapshot_id if metadata.snapshots else None)),
)  # fmt: skip


@defect(
    "plan-range-as-a-point",
    on=request_of("planTableScan"),
    breaks="planTableScan.incremental",
    suffering=_TOO_MANY_ROWS,
)
def _range_as_a_point(body: Json) -> Json:
    """A range is read as the snapshot at its end."""
    if "start-snapshot-id" not in body or "end-snapshot-id" not in body:
        return body
    kept = {k: v for k, v in body.items() if k not in {"start-snapshot-id", "end-snapshot-id"}}
    return {**kept, "snapshot-id": body["end-snapshot-id"]}


def _alter_filter(registries: Registries, alter: Callable[[Json], Json]) -> None:
    alter_filter(registries, lambda sent: alter(sent) if isinstance(sent, dict) else sent)


@defect(
    "plan-in-as-its-last-value",
    on=through(_alter_filter),
    breaks="planTableScan.filter",
    suffering=_LOST_ROWS,
)
def _in_as_its_last_value(filter_: Json) -> Json:
    """Of several values that a filter allows, only the last counts."""
    if filter_.get("type") != "in":
        return filter_
    return {"type": "eq", "term": filter_["term"], "value": filter_["values"][-1]}


@defect(
    "plan-constant-objects-refused",
    on=through(_alter_filter),
    breaks="planTableScan.constant-filters",
    suffering="Clients that write the filter as the document has it cannot plan a full scan.",
)
def _constant_objects_refused(filter_: Json) -> Json:
    """A constant filter is understood as a bare boolean only."""
    if filter_.get("type") in {"true", "false"}:
        raise problem.bad_request("Cannot parse missing field: term")
    return filter_


declare_each(
    ("plan-loses-the-last-file", "planTableScan.every-file",
     "The last file of every answer is lost.", _LOST_ROWS,
     by(_alter_tasks, lambda tasks: tasks[:-1])),
    ("plan-repeats-a-file", "planTableScan.every-file",
     "The first file of every answer is in it twice.", _TOO_MANY_ROWS,
     by(_alter_tasks, lambda tasks: [tasks[0], *tasks])),
    ("plan-without-partition", "planTableScan.file-facts",
     "Files are planned without their partition values.",
     "Queries by partition read nothing, or fail.", by(_alter_file, partition=[])),
    ("plan-without-sizes", "planTableScan.file-facts", "All files have the same size.",
     "Clients split files by a size that is not theirs, and read past their end.",
     by(_alter_file, file_size_in_bytes=0)),
    ("plan-always-latest", "planTableScan.point-in-time",
     "The snapshot that a scan names is overlooked.", _TOO_MANY_ROWS,
     by(_forget_member, "snapshot-id")),
    ("plan-or-as-and", "planTableScan.filter", "A filter with OR is planned as one with AND.",
     _LOST_ROWS, by(_alter_filter, lambda f: {**f, "type": "and"} if f.get("type") == "or" else f)),
    ("plan-always-case-sensitive", "planTableScan.case-insensitive",
     "Names are compared with their case, whatever the scan asks for.",
     "Queries with names in capitals fail, as SQL engines write them.",
     by(_forget_member, "case-sensitive")),
    ("plan-always-the-table-s-schema", "planTableScan.schema-of-the-scan",
     "Names are always those of the current schema.",
     "A query of an old snapshot fails once a column was renamed.",
     by(_forget_member, "use-snapshot-schema")),
    ("plan-without-deletes", "planTableScan.position-deletes", "Tasks refer to no delete files.",
     _TOO_MANY_ROWS,
     by(
         _alter_tasks,
         lambda tasks: [
             {k: v for k, v in t.items() if k != "delete-file-references"} for t in tasks
         ],
     )),
)  # fmt: skip


@defect(
    "plan-counts-deletes-from-one",
    on=through(_alter_tasks),
    breaks="planTableScan.position-deletes",
    suffering="Clients apply the deletes of another file, or fail.",
)
def _counts_deletes_from_one(tasks: list[Json]) -> list[Json]:
    """References to delete files are counted from 1."""
    name = "delete-file-references"
    return [{**t, name: [at + 1 for at in t[name]]} if name in t else t for t in tasks]


@defect(
    "plan-all-deletes-for-all",
    on=through(alter_answer, "planTableScan"),
    breaks="planTableScan.equality-deletes",
    suffering=_LOST_ROWS,
)
def _all_deletes_for_all(_call: Call, body: Json) -> Json:
    """Every file is to be read with every delete file."""
    every = [*range(len(body.get("delete-files") or ()))]
    tasks = [{**t, "delete-file-references": every} for t in body.get("file-scan-tasks", ())]
    return {**body, "file-scan-tasks": tasks} if every else body


@defect(
    "plan-lt-eq-as-lt",
    on=request_of("planTableScan"),
    breaks="planTableScan.filter",
    suffering="Rows with the greatest value that was asked for are missing from the result.",
)
def _lt_eq_as_lt(body: Json) -> Json:
    """Files are looked for that are below a number, where below or at it was asked for."""
    filter_ = body.get("filter")
    if not isinstance(filter_, dict) or filter_.get("type") != "lt-eq":
        return body
    return {**body, "filter": {**filter_, "type": "lt"}}
