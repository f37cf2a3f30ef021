"""Defects of delete files, plans in several parts, and partition specs."""

import json
from collections.abc import Callable
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Context, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import show_after
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import answer_of
from icecheck.mock_server.defects.kit.remembering import note_outcome, place_of
from icecheck.mock_server.defects.kit.requests import Json, Name, sent_json, with_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.defects.scans.plans import alter_tasks, with_data_files, without_members
from icecheck.mock_server.planning.scan import plan_files
from icecheck.mock_server.planning.scan_request import PlanTableScanRequest, requested_scan
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem

_OTHER_ROWS = "Queries read rows of another moment, and nothing says so."
_LOST_ROWS = "Queries miss rows, and nothing says so."
_TOO_MANY_ROWS = "Queries count rows that were deleted, and nothing says so."


# ---- deletes


def _deletes_by_path(body: Json) -> dict[str, list[Json]]:
    deletes = body.get("delete-files", [])
    return {
        task["data-file"]["file-path"]: [deletes[i] for i in task.get("delete-file-references", ())]
        for task in body.get("file-scan-tasks", ())
    }


def _with_deletes(body: Json, due: dict[str, list[Json]]) -> Json:
    """Return the answer with other delete files for these data files."""
    by_path = {**_deletes_by_path(body), **due}
    tasks: list[Json] = []
    listed: list[Json] = []
    for task in body.get("file-scan-tasks", ()):
        deletes = by_path[task["data-file"]["file-path"]]
        bare = without_members(task, "delete-file-references")
        at = [*range(len(listed), len(listed) + len(deletes))]
        tasks.append({**bare, "delete-file-references": at} if at else bare)
        listed += deletes
    return {
        **without_members(body, "delete-files"),
        "file-scan-tasks": tasks,
        "delete-files": listed,
    }


@defect(
    "plan-deletes-of-main",
    on="planTableScan",
    breaks="planTableScan.deletes-of-a-snapshot",
    suffering=_OTHER_ROWS,
)
def _deletes_of_main(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Whatever snapshot is read, deletes are those of the current one."""
    outcome = faithful(state, call)
    body = sent_json(call)
    if "snapshot-id" not in body:
        return outcome
    current = faithful(state, with_json(call, without_members(body, "snapshot-id")))
    due = _deletes_by_path(json.loads(current.reply.body))
    told = _with_deletes(json.loads(outcome.reply.body), due)
    return msgspec.structs.replace(outcome, reply=replies.json_reply(told))


@defect(
    "plan-deletes-once",
    on=answer_of("planTableScan"),
    breaks="planTableScan.deletes-of-a-snapshot",
    suffering=_TOO_MANY_ROWS,
)
def _deletes_once(body: Json) -> Json:
    """A delete file is referred to by the first of its data files only."""
    seen: set[int] = set()
    tasks = []
    for task in body.get("file-scan-tasks", ()):
        fresh = [at for at in task.get("delete-file-references", ()) if at not in seen]
        seen.update(fresh)
        bare = without_members(task, "delete-file-references")
        tasks.append({**bare, "delete-file-references": fresh} if fresh else bare)
    return {**body, "file-scan-tasks": tasks}


@defect(
    "plan-filter-forgets-deletes",
    on="planTableScan",
    breaks="planTableScan.deletes-of-a-snapshot",
    suffering=_TOO_MANY_ROWS,
)
def _filter_forgets_deletes(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """With a filter, manifests of deletes are pruned as if they had none of the rows."""
    outcome = faithful(state, call)
    if "filter" not in sent_json(call):
        return outcome
    body = json.loads(outcome.reply.body)
    bare = _with_deletes(body, {path: [] for path in _deletes_by_path(body)})
    told = without_members(bare, "delete-files")
    return msgspec.structs.replace(outcome, reply=replies.json_reply(told))


@defect(
    "plan-one-vector-a-file",
    on=answer_of("planTableScan"),
    breaks="planTableScan.vectors-in-one-file",
    suffering="Rows of one file are deleted by the vector of another.",
)
def _one_vector_a_file(body: Json) -> Json:
    """Delete files are told apart by their paths, whatever is at which place in them."""
    deletes = body.get("delete-files", [])
    first = {d["file-path"]: at for at, d in reversed([*enumerate(deletes)])}
    name = "delete-file-references"
    tasks = [
        {**t, name: [first[deletes[at]["file-path"]] for at in t[name]]} if name in t else t
        for t in body.get("file-scan-tasks", ())
    ]
    return {**body, "file-scan-tasks": tasks} if deletes else body


# ---- plans in parts


@defect(
    "plan-task-without-deletes",
    on=answer_of("fetchScanTasks"),
    breaks="fetchScanTasks.deletes",
    suffering=_TOO_MANY_ROWS,
)
def _task_without_deletes(body: Json) -> Json:
    """Delete files are planned with the first answer only."""
    tasks = [without_members(task, "delete-file-references") for task in body["file-scan-tasks"]]
    return {**without_members(body, "delete-files"), "file-scan-tasks": tasks}


@defect(
    "plan-task-counts-on",
    on=answer_of("fetchScanTasks"),
    breaks="fetchScanTasks.deletes",
    suffering=_TOO_MANY_ROWS,
)
def _task_counts_on(body: Json) -> Json:
    """References in a plan task's answer are one off, for they go on from another list."""
    count = len(body.get("delete-files", ()))
    name = "delete-file-references"
    tasks = [
        {**t, name: [(at + 1) % count for at in t[name]]} if name in t else t
        for t in body["file-scan-tasks"]
    ]
    return {**body, "file-scan-tasks": tasks}


declare_each(
    ("plan-task-without-partition", "fetchScanTasks.facts",
     "Plan tasks give files without their partitions.",
     "Queries by partition read only the first files of a large plan, or fail.",
     by(alter_tasks, "fetchScanTasks",
        lambda t: {**t, "data-file": {**t["data-file"], "partition": []}})),
    ("plan-task-without-filter", "fetchScanTasks.facts",
     "Plan tasks have lost the filter of their scan: nothing is left to test.",
     "Queries of large tables count rows that their filter excludes.",
     by(alter_tasks, "fetchScanTasks", lambda t: {**t, "residual-filter": True})),
    ("plan-task-without-statistics", "fetchScanTasks.stats-fields",
     "Plan tasks have lost which statistics were asked for.",
     "Engines that prune by statistics read most files of a large scan.",
     by(alter_tasks, "fetchScanTasks", lambda t: {
         **t, "data-file": without_members(t["data-file"], "lower-bounds", "upper-bounds")
     })),
)  # fmt: skip


@defect(
    "plan-task-of-now",
    on="fetchScanTasks",
    breaks="fetchScanTasks.of-its-plan",
    suffering=_LOST_ROWS,
)
def _task_of_now(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A plan task gives those of its files that the table still has."""
    outcome = faithful(state, call)
    entry = state.table(call.namespace, call.name)
    if entry is None:
        return outcome
    scan = requested_scan(PlanTableScanRequest(), entry.metadata)
    now = {task.data_file.file_path for task in plan_files(faithful.context.files, scan)}
    body = json.loads(outcome.reply.body)
    kept = [t for t in body["file-scan-tasks"] if t["data-file"]["file-path"] in now]
    told = replies.json_reply({**body, "file-scan-tasks": kept})
    return msgspec.structs.replace(outcome, reply=told)


def _no_such_task() -> Problem:
    return Problem(404, "NoSuchPlanTaskException", "Plan task does not exist")


@defect(
    "plan-one-at-a-time",
    breaks="fetchScanTasks.of-its-plan",
    suffering="One of two queries of a table fails.",
)
def _one_at_a_time(registries: Registries) -> None:
    """A new plan for a table takes the place of the one before."""
    newest: dict[Name, str] = {}

    def planned(_c: Context, _state: WarehouseState, call: Call, outcome: Outcome) -> None:
        if plan_id := json.loads(outcome.reply.body).get("plan-id"):
            newest[place_of(call)] = plan_id

    def fetched(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if not sent_json(call)["plan-task"].startswith(newest.get(place_of(call), "")):
            raise _no_such_task()
        return outcome

    note_outcome(registries, "planTableScan", planned)
    wrap(registries, "fetchScanTasks", fetched)


# ---- specs


def _planned_with_specs(
    registries: Registries, alter: Callable[[Json, tuple[int, int], Json], Json]
) -> None:
    """Change answers by `alter(body, (default spec, its number of fields), request)`."""

    def shown(state: WarehouseState, call: Call, body: Json) -> Json:
        entry = state.table(call.namespace, call.name)
        if entry is None:
            return body
        default = entry.metadata.default_spec_id
        fields = next(s.fields for s in entry.metadata.partition_specs if s.spec_id == default)
        return alter(body, (default, len(fields)), sent_json(call))

    show_after(registries, "planTableScan", shown)


declare_each(
    ("plan-default-spec-for-all", "planTableScan.every-spec",
     "Every file is told to be of the table's default spec.",
     "Partition values of older files are read as those of other columns.",
     by(_planned_with_specs,
        lambda body, spec, _: with_data_files(body, lambda file: {**file, "spec-id": spec[0]}))),
    ("plan-partitions-cut-to-the-default", "planTableScan.every-spec",
     "Partitions have no more values than the default spec has fields.",
     "Engines that read partition values from the plan fail, or read null.",
     by(
         _planned_with_specs,
         lambda body, spec, _: with_data_files(
             body, lambda file: {**file, "partition": file["partition"][: spec[1]]}
         ),
     )),
)  # fmt: skip


@defect(
    "plan-global-deletes-for-no-partition",
    on=through(_planned_with_specs),
    breaks="planTableScan.every-spec",
    suffering="Rows that were deleted come back in partitioned files.",
)
def _global_deletes_for_no_partition(body: Json, _: Any, __: Any) -> Json:
    """Deletes of an unpartitioned spec go with the files of that spec only."""
    deletes = body.get("delete-files", ())
    tasks = []
    for task in body.get("file-scan-tasks", ()):
        own = task["data-file"]["spec-id"]
        references = task.get("delete-file-references", ())
        kept = [at for at in references if deletes[at]["spec-id"] == own]
        tasks.append({**task, "delete-file-references": kept} if references else task)
    return {**body, "file-scan-tasks": tasks} if tasks else body


@defect(
    "plan-filters-by-the-default-spec",
    on=through(_planned_with_specs),
    breaks="planTableScan.every-spec",
    suffering=_LOST_ROWS,
)
def _filters_by_the_default_spec(body: Json, spec: tuple[int, int], sent: Json) -> Json:
    """With a filter, files of former specs are left out: their partitions match nothing."""
    if "filter" not in sent:
        return body
    tasks = body.get("file-scan-tasks", ())
    return {
        **body,
        "file-scan-tasks": [t for t in tasks if t["data-file"]["spec-id"] == spec[0]],
    }


@defect(
    "plan-residual-true-for-former-specs",
    on=through(_planned_with_specs),
    breaks="planTableScan.every-spec",
    suffering="Queries return rows that they have filtered out, of older files only.",
)
def _residual_true_for_former_specs(body: Json, spec: tuple[int, int], _: Json) -> Json:
    """What is left to test is told of files of the default spec: in others it is nothing."""
    tasks = [
        task if task["data-file"]["spec-id"] == spec[0] else {**task, "residual-filter": True}
        for task in body.get("file-scan-tasks", ())
    ]
    return {**body, "file-scan-tasks": tasks} if tasks else body
