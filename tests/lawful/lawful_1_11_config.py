"""Lawful catalogs of 1.11.0 that announce, plan, vend and refuse unlike the mock."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    alter_body,
    refuse_as,
    wrap,
)
from icecheck.mock_server.protocol.names import split_namespace
from icecheck.mock_server.protocol.problem import Problem
from tests.lawful.lawful import Install

Body = dict[str, Any]
_CREDENTIALS = "storage-credentials"
_SHAPE = re.compile(r"[a-z]+")


def _any_warehouse(registries: Registries) -> None:
    """Ignore which warehouse is asked for, as catalogs of one warehouse do."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem:
            return faithful(state, msgspec.structs.replace(call, query={"warehouse": "kill"}))

    wrap(registries, "getConfig", around)


def _named_by_shape(registries: Registries) -> None:
    """Refuse a warehouse whose name is malformed, as where it is an ARN or a UUID."""

    def is_malformed(_state: WarehouseState, call: Call) -> bool:
        return _SHAPE.fullmatch(call.query.get("warehouse", "a").replace("-", "")) is None

    refuse_where(registries, "getConfig", is_malformed)


def _tells_no_warehouse(registries: Registries) -> None:
    """Tell nobody which warehouses there are."""
    refuse_as(registries, "getConfig", 404, 403, "ForbiddenException")


def _defaults_separate(registries: Registries) -> None:
    """Announce the separator among the defaults: clients merge both maps."""

    def moved(body: Body) -> Body:
        overrides = dict(body["overrides"])
        separator = overrides.pop("namespace-separator", None)
        told = {} if separator is None else {"namespace-separator": separator}
        return body | {"overrides": overrides, "defaults": body["defaults"] | told}

    alter_body(registries, "getConfig", moved)


def _looks_at_views(registries: Registries) -> None:
    """Refuse a load through views of which one is not there."""

    def missing(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        pairs = [pair.partition("=") for pair in call.request.query_string.split("&")]
        listed = next((value for name, _, value in pairs if name == "referenced-by"), "")
        for element in filter(None, listed.split(",")):
            *namespace, name = split_namespace(unquote(element), faithful.context.separator)
            if state.view(tuple(namespace), name) is None:
                raise Problem(404, "NoSuchViewException", "No such view")
        return faithful(state, call)

    for operation_id in ("loadTable", "loadView", "loadCredentials"):
        wrap(registries, operation_id, missing)


def _no_views(registries: Registries) -> None:
    """Have no views at all."""
    for operation_id in [each for each in registries.operations if "View" in each]:
        registries.operations.pop(operation_id)


def _plans_kept_nowhere(registries: Registries) -> None:
    """Keep no plan that was told in one answer; its id starts with a word of its own."""

    def named(body: Body) -> Body:
        return body | {"plan-id": f"sync-{body['plan-id']}"} if "plan-id" in body else body

    def forgotten(_state: WarehouseState, _call: Call) -> bool:
        return True

    alter_body(registries, "planTableScan", named)
    refuse_where(registries, "fetchPlanningResult", forgotten, 404, "NoSuchPlanIdException")


def _plan_ids_by_shape(registries: Registries) -> None:
    """Refuse a plan-id that is no UUID, as frameworks do before the catalog is asked."""

    def is_malformed(_state: WarehouseState, call: Call) -> bool:
        return re.fullmatch(r"[0-9a-f-]{36}", call.parameters["plan-id"]) is None

    refuse_where(registries, "cancelPlanning", is_malformed)


def _refuses_plans(registries: Registries, is_malformed: Callable[[str], bool]) -> None:
    """Refuse plan-ids by their form, on every route that has one."""

    def refused(_state: WarehouseState, call: Call) -> bool:
        return is_malformed(call.parameters["plan-id"])

    for operation_id in ("fetchPlanningResult", "cancelPlanning"):
        refuse_where(registries, operation_id, refused)


def _plan_ids_by_shape_everywhere(registries: Registries) -> None:
    """Refuse a plan-id that is no UUID, and a plan task that was never given out."""
    _refuses_plans(registries, lambda id_: re.fullmatch(r"[0-9a-f-]{36}", id_) is None)
    refuse_as(registries, "fetchScanTasks", 404, 400)


def _plan_ids_signed(registries: Registries) -> None:
    """Give ids that can be checked, and refuse all others as malformed."""
    given: set[str] = set()

    def noted(body: Body) -> Body:
        given.add(str(body.get("plan-id")))
        return body

    alter_body(registries, "planTableScan", noted)
    _refuses_plans(registries, lambda id_: id_ not in given)


def _plans_released_at_once(registries: Registries) -> None:
    """Hold nothing for a plan that was told in one answer: it is not found any more."""
    for operation_id in ("fetchPlanningResult", "cancelPlanning"):
        refuse_where(registries, operation_id, lambda *_: True, 404, "NoSuchPlanIdException")


def _plan_ids_counted(registries: Registries) -> None:
    """Count the plans, and refuse to cancel what is no number."""
    count = iter(range(1000, 100_000))

    def numbered(body: Body) -> Body:
        return body | {"plan-id": str(next(count))} if "plan-id" in body else body

    def is_malformed(_state: WarehouseState, call: Call) -> bool:
        return not call.parameters["plan-id"].isdecimal()

    alter_body(registries, "planTableScan", numbered)
    refuse_where(registries, "cancelPlanning", is_malformed)


def _plans_without_credentials(registries: Registries) -> None:
    """Vend with tables alone, and know no plan where credentials are asked for."""

    def without(body: Body) -> Body:
        return {name: value for name, value in body.items() if name != _CREDENTIALS}

    for operation_id in ("planTableScan", "fetchPlanningResult"):
        alter_body(registries, operation_id, without)
    refuse_where(registries, "loadCredentials", lambda _, call: "planId" in call.query)


def _one_credential_for_all(registries: Registries) -> None:
    """Vend one credential for a whole scheme."""

    def whole(body: Body) -> Body:
        return body | {_CREDENTIALS: [each | {"prefix": "file"} for each in body[_CREDENTIALS][:1]]}

    def planned(body: Body) -> Body:
        return whole(body) if body.get(_CREDENTIALS) else body

    alter_body(registries, "planTableScan", planned)
    alter_body(registries, "loadCredentials", whole)


def _stops_at_certain_rows(registries: Registries) -> None:
    """Plan no more files than have the rows that are asked for, where no filter leaves doubt."""

    def enough(call: Call, body: Body) -> Body:
        sent, tasks = sent_json(call), body.get("file-scan-tasks")
        wanted = sent.get("min-rows-requested")
        if wanted is None or "filter" in sent or not tasks:
            return body
        kept: list[Body] = []
        for task in tasks:
            if sum(each["data-file"]["record-count"] for each in kept) < wanted:
                kept.append(task)
        return body | {"file-scan-tasks": kept}

    alter_answer(registries, "planTableScan", enough)


def _in_mode(mode: str | None) -> Install:
    def named(body: Body) -> Body:
        config = {k: v for k, v in (body.get("config") or {}).items() if k != "scan-planning-mode"}
        return body | {"config": config | ({} if mode is None else {"scan-planning-mode": mode})}

    return lambda registries: alter_body(registries, "loadTable", named)


def _client_plans(registries: Registries) -> None:
    """Plan no scans, and say so."""
    for operation_id in ("planTableScan", "fetchPlanningResult", "cancelPlanning"):
        registries.operations.pop(operation_id)
    registries.operations.pop("fetchScanTasks")
    _in_mode("client")(registries)


def _nothing_to_vend(registries: Registries) -> None:
    """Vend an empty list of credentials."""

    def emptied(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        body = json.dumps({_CREDENTIALS: []}).encode()
        reply = Reply(outcome.reply.status, outcome.reply.headers, body)
        return msgspec.structs.replace(outcome, reply=reply)

    wrap(registries, "loadCredentials", emptied)
    _plans_without_credentials(registries)


LAWFUL_CONFIG: dict[str, Install] = {
    "any-warehouse": _any_warehouse,
    "warehouses-named-by-shape": _named_by_shape,
    "tells-no-warehouse": _tells_no_warehouse,
    "defaults-separate": _defaults_separate,
    "looks-at-views": _looks_at_views,
    "no-views": _no_views,
    "plans-kept-nowhere": _plans_kept_nowhere,
    "plan-ids-by-shape": _plan_ids_by_shape,
    "plan-ids-by-shape-everywhere": _plan_ids_by_shape_everywhere,
    "plan-ids-signed": _plan_ids_signed,
    "plan-ids-counted": _plan_ids_counted,
    "plans-released-at-once": _plans_released_at_once,
    "plans-without-credentials": _plans_without_credentials,
    "one-credential-for-all": _one_credential_for_all,
    "stops-at-certain-rows": _stops_at_certain_rows,
    "mode-in-capitals": _in_mode("SERVER"),
    "no-mode": _in_mode(None),
    "client-plans": _client_plans,
    "nothing-to-vend": _nothing_to_vend,
}
"""Name -> the installation of such a catalog on a mock of 1.11.0; none may be blamed."""
