"""Ways in which the plans of servers have the wrong files, or too few, or too many."""

from typing import Any

import msgspec

from icecheck.mock_server import problem
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import (
    alter_answer,
    alter_body,
    alter_request_body,
    sent_json,
    wrap,
)
from icecheck.mock_server.state import WarehouseState

Json = dict[str, Any]

_LOST_ROWS = "Queries miss rows, and nothing says so."
_TOO_MANY_ROWS = "Queries count rows that are not theirs, and nothing says so."


def _forget_member(registries: Registries, *members: str) -> None:
    """Let planTableScan overlook members of its body."""

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
    """Let a scan that names no snapshot read the one that `choose` picks from the metadata."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        chosen = None if entry is None else choose(entry.metadata)
        body = sent_json(call)
        if chosen is None or {"snapshot-id", "start-snapshot-id"} & body.keys():
            return faithful(context, state, call)
        content = msgspec.json.encode({**body, "snapshot-id": chosen})
        request = msgspec.structs.replace(call.request, body=content)
        return faithful(context, state, msgspec.structs.replace(call, request=request))

    wrap(registries, "planTableScan", around)


@defect("plan-loses-the-last-file", breaks="planTableScan.every-file", suffering=_LOST_ROWS)
def _loses_the_last_file(registries: Registries) -> None:
    """The last file of every answer is lost."""
    _alter_tasks(registries, lambda tasks: tasks[:-1])


@defect("plan-repeats-a-file", breaks="planTableScan.every-file", suffering=_TOO_MANY_ROWS)
def _repeats_a_file(registries: Registries) -> None:
    """The first file of every answer is in it twice."""
    _alter_tasks(registries, lambda tasks: [tasks[0], *tasks])


@defect("plan-from-a-stale-cache", breaks="planTableScan.removed-files", suffering=_TOO_MANY_ROWS)
def _from_a_stale_cache(registries: Registries) -> None:
    """What a delete has removed is planned until the next append."""

    def parent_of_a_delete(metadata: Any) -> int | None:
        by_id = {snapshot.snapshot_id: snapshot for snapshot in metadata.snapshots}
        current = by_id.get(metadata.current_snapshot_id)
        if current is None or (current.summary or {}).get("operation") != "delete":
            return None
        return current.parent_snapshot_id  # type: ignore[no-any-return]

    _plan_snapshot(registries, parent_of_a_delete)


def _alter_file(registries: Registries, **members: Any) -> None:
    def altered(tasks: list[Json]) -> list[Json]:
        changed = {name.replace("_", "-"): value for name, value in members.items()}
        return [{**task, "data-file": {**task["data-file"], **changed}} for task in tasks]

    _alter_tasks(registries, altered)


@defect(
    "plan-without-partition",
    breaks="planTableScan.file-facts",
    suffering="Queries by partition read nothing, or fail.",
)
def _without_partition(registries: Registries) -> None:
    """Files are planned without their partition values."""
    _alter_file(registries, partition=[])


@defect(
    "plan-without-sizes",
    breaks="planTableScan.file-facts",
    suffering="Clients split files by a size that is not theirs, and read past their end.",
)
def _without_sizes(registries: Registries) -> None:
    """All files have the same size."""
    _alter_file(registries, file_size_in_bytes=0)


@defect("plan-always-latest", breaks="planTableScan.point-in-time", suffering=_TOO_MANY_ROWS)
def _always_latest(registries: Registries) -> None:
    """The snapshot that a scan names is overlooked."""
    _forget_member(registries, "snapshot-id")


@defect("plan-last-committed", breaks="planTableScan.main-by-default", suffering=_TOO_MANY_ROWS)
def _last_committed(registries: Registries) -> None:
    """The snapshot that was added last is read, on whatever branch it is."""

    def last(metadata: Any) -> int | None:
        return metadata.snapshots[-1].snapshot_id if metadata.snapshots else None

    _plan_snapshot(registries, last)


@defect("plan-range-as-a-point", breaks="planTableScan.incremental", suffering=_TOO_MANY_ROWS)
def _range_as_a_point(registries: Registries) -> None:
    """A range is read as the snapshot at its end."""

    def alter(body: Json) -> Json:
        if "start-snapshot-id" not in body or "end-snapshot-id" not in body:
            return body
        kept = {k: v for k, v in body.items() if k not in {"start-snapshot-id", "end-snapshot-id"}}
        return {**kept, "snapshot-id": body["end-snapshot-id"]}

    alter_request_body(registries, "planTableScan", alter)


@defect("plan-or-as-and", breaks="planTableScan.filter", suffering=_LOST_ROWS)
def _or_as_and(registries: Registries) -> None:
    """A filter with OR is planned as one with AND."""
    _alter_filter(registries, lambda f: {**f, "type": "and"} if f.get("type") == "or" else f)


@defect("plan-in-as-its-last-value", breaks="planTableScan.filter", suffering=_LOST_ROWS)
def _in_as_its_last_value(registries: Registries) -> None:
    """Of several values that a filter allows, only the last counts."""

    def alter(filter_: Json) -> Json:
        if filter_.get("type") != "in":
            return filter_
        return {"type": "eq", "term": filter_["term"], "value": filter_["values"][-1]}

    _alter_filter(registries, alter)


@defect(
    "plan-constant-objects-refused",
    breaks="planTableScan.constant-filters",
    suffering="Clients that write the filter as the document has it cannot plan a full scan.",
)
def _constant_objects_refused(registries: Registries) -> None:
    """A constant filter is understood as a bare boolean only."""

    def alter(filter_: Json) -> Json:
        if filter_.get("type") in {"true", "false"}:
            raise problem.bad_request("Cannot parse missing field: term")
        return filter_

    _alter_filter(registries, alter)


def _alter_filter(registries: Registries, alter: Any) -> None:
    def altered(body: Json) -> Json:
        filter_ = body.get("filter")
        return {**body, "filter": alter(filter_)} if isinstance(filter_, dict) else body

    alter_request_body(registries, "planTableScan", altered)


@defect(
    "plan-always-case-sensitive",
    breaks="planTableScan.case-insensitive",
    suffering="Queries with names in capitals fail, as SQL engines write them.",
)
def _always_case_sensitive(registries: Registries) -> None:
    """Names are compared with their case, whatever the scan asks for."""
    _forget_member(registries, "case-sensitive")


@defect(
    "plan-always-the-table-s-schema",
    breaks="planTableScan.schema-of-the-scan",
    suffering="A query of an old snapshot fails once a column was renamed.",
)
def _always_the_tables_schema(registries: Registries) -> None:
    """Names are always those of the current schema."""
    _forget_member(registries, "use-snapshot-schema")


@defect("plan-without-deletes", breaks="planTableScan.position-deletes", suffering=_TOO_MANY_ROWS)
def _without_deletes(registries: Registries) -> None:
    """Tasks refer to no delete files."""

    def altered(tasks: list[Json]) -> list[Json]:
        return [{k: v for k, v in t.items() if k != "delete-file-references"} for t in tasks]

    _alter_tasks(registries, altered)


@defect(
    "plan-counts-deletes-from-one",
    breaks="planTableScan.position-deletes",
    suffering="Clients apply the deletes of another file, or fail.",
)
def _counts_deletes_from_one(registries: Registries) -> None:
    """References to delete files are counted from 1."""

    def altered(tasks: list[Json]) -> list[Json]:
        name = "delete-file-references"
        return [{**t, name: [at + 1 for at in t[name]]} if name in t else t for t in tasks]

    _alter_tasks(registries, altered)


@defect("plan-all-deletes-for-all", breaks="planTableScan.equality-deletes", suffering=_LOST_ROWS)
def _all_deletes_for_all(registries: Registries) -> None:
    """Every file is to be read with every delete file."""

    def altered(_call: Call, body: Json) -> Json:
        every = [*range(len(body.get("delete-files") or ()))]
        tasks = [{**t, "delete-file-references": every} for t in body.get("file-scan-tasks", ())]
        return {**body, "file-scan-tasks": tasks} if every else body

    alter_answer(registries, "planTableScan", altered)
