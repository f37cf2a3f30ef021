"""Scan planning: plan, fetch the result, cancel, fetch tasks (L609-L865)."""

from functools import partial
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.metadata.column_types import Int64
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.planning.plans import PlanningMode, PlanOwner, PlanView
from icecheck.mock_server.planning.scan import plan_files
from icecheck.mock_server.planning.scan_request import PlanTableScanRequest, requested_scan
from icecheck.mock_server.planning.scan_tasks import scan_tasks_json
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.json_input import decode_json
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.security.vending import with_planned_access


class FetchScanTasksRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """The body of fetchScanTasks (document L4453)."""

    plan_task: str


class RowsRequested(msgspec.Struct, frozen=True, rename="kebab"):
    """What the body of planTableScan has besides, as of 1.11.0: how many rows are enough."""

    min_rows_requested: Int64 | None = None


@operation("planTableScan")
def plan_table_scan(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Plan a scan of a snapshot, or of the appends between two (L619-L656).

    The request is checked at once, in both modes. Every plan but a failed one has an id, and is
    kept under it: clients of 1.11, where completed plans must have an id, refuse plans without.
    """
    request = decode_json(PlanTableScanRequest, call.request.body)
    if context.contract.is_at_least("1.11.0"):
        decode_json(RowsRequested, call.request.body)  # every file is planned, so it asks for less
    metadata = _metadata(state, call)
    scan = requested_scan(request, metadata)
    plans = context.plans
    now_ms = context.clock.now_ms()
    plan = plans.new(context.identities.new_uuid(), _owner(context, metadata), scan, now_ms)
    if plans.settings.mode is PlanningMode.ASYNC:
        plans.keep(plan, now_ms)
        return _outcome(state, {"status": "submitted", "plan-id": plan.view.plan_id})
    view = plan.end(partial(plan_files, context.files))
    body = _result(view)
    if view.status == "completed":
        plans.keep(plan, now_ms)
        body["plan-id"] = view.plan_id
    return _with_credentials(context, state, call, metadata, body)


@operation("fetchPlanningResult")
def fetch_planning_result(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Answer the status of a plan, with its first tasks once it is completed (L708-L726)."""
    metadata = _metadata(state, call)
    owner = _owner(context, metadata)
    plans = context.plans
    plan_id = call.parameters["plan-id"]
    plan = plans.find(plan_id, owner, context.clock.now_ms())
    if plan is None:
        raise _no_such_plan(plan_id)
    view = plan.poll(partial(plan_files, context.files))
    plans.trim()
    return _with_credentials(context, state, call, metadata, _result(view))


@operation("cancelPlanning")
def cancel_planning(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Discard a plan (L763-L780); since 1.11.0 one that does not exist is 404.

    Before, the document had no 404 for a plan that is gone: it needed no action. A cancelled plan
    is remembered for as long as it would have been kept, so that a client that still asks learns
    why it is gone.
    """
    owner = _owner(context, _metadata(state, call))
    plan_id = call.parameters["plan-id"]
    plan = context.plans.find(plan_id, owner, context.clock.now_ms())
    if plan is not None:
        plan.cancel()
    elif context.contract.is_at_least("1.11.0"):
        raise _no_such_plan(plan_id)
    return Outcome(state, replies.NO_CONTENT)


@operation("fetchScanTasks")
def fetch_scan_tasks(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Answer the file scan tasks of a plan task; it can be fetched repeatedly."""
    request = decode_json(FetchScanTasksRequest, call.request.body)
    owner = _owner(context, _metadata(state, call))
    found = context.plans.find_task(request.plan_task, owner, context.clock.now_ms())
    if found is None:
        message = f"Plan task does not exist: {request.plan_task[:100]}"
        raise Problem(404, "NoSuchPlanTaskException", message)
    view, number = found
    return _outcome(state, scan_tasks_json(view.page(number), (), view.scan))


def _metadata(state: WarehouseState, call: Call) -> TableMetadata:
    if call.namespace not in state.namespaces:
        raise problem.no_such_namespace(call.namespace)
    entry = state.table(call.namespace, call.name)
    if entry is None:
        raise problem.no_such_table(call.namespace, call.name)
    return entry.metadata


def _owner(context: Context, metadata: TableMetadata) -> PlanOwner:
    return context.warehouse, metadata.table_uuid


def _result(view: PlanView) -> dict[str, Any]:
    body: dict[str, Any] = {"status": view.status}
    if view.failure is not None:
        body["error"] = view.failure.error()
    if view.status == "completed":
        body |= scan_tasks_json(view.page(0), view.plan_tasks(), view.scan)
    return body


def _with_credentials(
    context: Context,
    state: WarehouseState,
    call: Call,
    metadata: TableMetadata,
    body: dict[str, Any],
) -> Outcome:
    """Answer a plan; since 1.11.0 with credentials for its files, if they are asked for (L3599)."""
    plain = replies.json_reply(body)
    if body["status"] != "completed" or not context.contract.is_at_least("1.11.0"):
        return Outcome(state, plain)
    return Outcome(state, with_planned_access(context, call, metadata, plain), (), plain)


def _no_such_plan(plan_id: str) -> Problem:
    return Problem(404, "NoSuchPlanIdException", f"Plan does not exist: {plan_id[:100]}")


def _outcome(state: WarehouseState, body: dict[str, Any]) -> Outcome:
    return Outcome(state, replies.json_reply(body))
