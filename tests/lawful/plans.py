"""Freedoms of scan planning, of partial claims, and of what is not served at all."""

import itertools
import json
from typing import Any

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json, with_members
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, with_answer, wrap
from icecheck.mock_server.planning.plans import PlanningMode, PlanningSettings
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem
from tests.kill.refusing import refuse_if
from tests.lawful.freedom import Freedom

Body = dict[str, Any]
ANSWERS = ("planTableScan", "fetchPlanningResult")
PLANNING = (*ANSWERS, "cancelPlanning", "fetchScanTasks")
TASKS = ("file-scan-tasks", "delete-files", "plan-tasks")


def _no_plan_ids(registries: Registries) -> None:
    """Send no id with a plan that is completed at once."""

    def unnamed(body: Body) -> Body:
        if body["status"] != "completed":
            return body
        return {k: v for k, v in body.items() if k != "plan-id"}

    alter_body(registries, "planTableScan", unnamed)


def _no_residuals(registries: Registries) -> None:
    """Leave residuals to the client."""

    def plain(body: Body) -> Body:
        tasks = body.get("file-scan-tasks")
        if tasks is None:
            return body
        kept = [{k: v for k, v in task.items() if k != "residual-filter"} for task in tasks]
        return body | {"file-scan-tasks": kept}

    for operation_id in (*ANSWERS, "fetchScanTasks"):
        alter_body(registries, operation_id, plain)


def _empty_lists(registries: Registries) -> None:
    """Send the optional lists of completed plans and of tasks also when they are empty."""

    def whole(body: Body) -> Body:
        if body.get("status", "completed") != "completed":
            return body
        return {member: [] for member in TASKS} | body

    for operation_id in (*ANSWERS, "fetchScanTasks"):
        alter_body(registries, operation_id, whole)


def _tasks_behind_tasks(registries: Registries) -> None:
    """Hand out no files with a plan: its one task gives another task, and that one the files."""
    kept: dict[str, tuple[Call, Body]] = {}
    numbers = itertools.count(1)

    def planned(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        body = json.loads(outcome.reply.body)
        if body["status"] != "completed":
            return outcome
        task = f"behind-{next(numbers)}"
        kept[task] = kept[f"{task}-files"] = (
            call, {k: v for k, v in body.items() if k in TASKS},
        )  # fmt: skip
        bare = {k: v for k, v in body.items() if k not in TASKS}
        return with_answer(outcome, bare | {"plan-tasks": [task]})

    def fetched(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        task = str(sent_json(call).get("plan-task"))
        asked, body = kept.get(task, (call, None))
        same = (asked.namespace, asked.name) == (call.namespace, call.name)
        if body is None or not same or state.table(call.namespace, call.name) is None:
            return faithful(state, call)
        if not task.endswith("-files"):
            body = {"plan-tasks": [f"{task}-files"]}
        return Outcome(state, replies.json_reply(body))

    for operation_id in ANSWERS:
        wrap(registries, operation_id, planned)
    wrap(registries, "fetchScanTasks", fetched)


def _unsorted_tasks(registries: Registries) -> None:
    """Hand out the tasks of each answer in another order."""

    def turned(body: Body) -> Body:
        kept = {m: body[m][::-1] for m in ("file-scan-tasks", "plan-tasks") if m in body}
        return body | kept

    for operation_id in (*ANSWERS, "fetchScanTasks"):
        alter_body(registries, operation_id, turned)


def _statistics_unasked(registries: Registries) -> None:
    """Send statistics of every column where none are asked for."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        body = sent_json(call)
        if entry is None or not body or "stats-fields" in body or "snapshot-id" in body:
            return faithful(state, call)
        names = [field.name for field in entry.metadata.schemas[-1].fields]
        try:
            return faithful(state, with_members(call, **{"stats-fields": names}))
        except Problem:
            return faithful(state, call)

    wrap(registries, "planTableScan", around)


def _no_incremental_plans(registries: Registries) -> None:
    """Refuse to plan scans between two snapshots."""
    refuse_if(registries, "planTableScan", lambda call: "end-snapshot-id" in sent_json(call), 406)


def _unserved(*operation_ids: str) -> Freedom:
    return Freedom("L112-L118: endpoints says what is served", unserved=operation_ids)


def _planning(**settings: Any) -> Freedom:
    return Freedom(
        "L627-L656: completed or submitted, with as many tasks as wished",
        server={"planning": PlanningSettings(**settings)},
        about="planning",
    )


PLANS: dict[str, Freedom] = {
    "plans-later": _planning(mode=PlanningMode.ASYNC),
    "plans-at-the-third-poll": _planning(mode=PlanningMode.ASYNC, polls_until_ended=3),
    "plans-ready-at-once": _planning(mode=PlanningMode.ASYNC, polls_until_ended=0),
    "one-file-a-task": _planning(files_per_task=1),
    "plans-later-one-file-a-task": _planning(mode=PlanningMode.ASYNC, files_per_task=1),
    "no-plan-ids": Freedom("L3383-L3385: optional when completed", _no_plan_ids),
    "no-residuals": Freedom("L4482-L4485: may be absent", _no_residuals),
    "empty-task-lists": Freedom("L3332-L3364: lists may be empty", _empty_lists),
    "tasks-behind-tasks": Freedom(
        "L3332-L3348, L3460: a plan task may give plan tasks", _tasks_behind_tasks
    ),
    "unsorted-tasks": Freedom("silent: lists have no order", _unsorted_tasks),
    "statistics-unasked": Freedom("L4431: statistics of fields", _statistics_unasked),
    "no-incremental-plans": Freedom("L660: planTableScan has 406", _no_incremental_plans),
    "no-planning": _unserved(*PLANNING),
    "no-views-served": _unserved(
        "listViews", "createView", "loadView", "viewExists", "replaceView", "dropView",
        "renameView",
    ),
    "no-credentials-served": _unserved("loadCredentials"),
    "no-renames-served": _unserved("renameTable", "renameView"),
    "no-register-served": _unserved("registerTable"),
    "no-metrics-served": _unserved("reportMetrics"),
    "no-token-endpoint": _unserved("getToken"),
    "no-namespace-updates-served": _unserved("updateProperties"),
    "no-listing-of-views-served": _unserved("listViews"),
    "no-replacing-of-views-served": _unserved("replaceView"),
    "no-cancelling-served": _unserved("cancelPlanning"),
}  # fmt: skip
"""Name -> the freedom."""
