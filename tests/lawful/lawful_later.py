"""Catalogs that follow later documents than 1.10.0: recognised, and never at fault for it."""

import hashlib
import json
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, alter_error, wrap
from icecheck.mock_server.protocol.problem import Problem
from tests.kit.contracts import CONTRACT
from tests.lawful.lawful import Install

Body = dict[str, Any]
TABLES = ("createTable", "loadTable", "registerTable", "updateTable")
PLANS = ("planTableScan", "fetchPlanningResult", "fetchScanTasks")


def _endpoints(registries: Registries) -> None:
    """List endpoints that only later documents define."""
    later = [fact.name for fact in CONTRACT.later if fact.kind == "endpoint"]
    alter_body(registries, "getConfig", lambda b: b | {"endpoints": [*b["endpoints"], *later]})


def _no_such_warehouse(registries: Registries) -> None:
    """Answer 404 for an unknown warehouse."""

    def not_found(refused: Problem, reply: Reply) -> Reply:
        if refused.status != 400:
            return reply
        said = {"message": "no such warehouse", "type": "NotFoundException", "code": 404}
        return msgspec.structs.replace(reply, status=404, body=json.dumps({"error": said}).encode())

    alter_error(registries, "getConfig", not_found)


def _announces(registries: Registries) -> None:
    """Announce idempotency keys and the separator of namespace levels."""

    def told(body: Body) -> Body:
        overrides = body["overrides"] | {"namespace-separator": "%1F"}
        return body | {"overrides": overrides, "idempotency-key-lifetime": "PT30M"}

    alter_body(registries, "getConfig", told)


def _safe_repetition(registries: Registries) -> None:
    """Carry a write with an Idempotency-Key out once, and repeat its answer."""
    answers: dict[tuple[str, str], Reply] = {}

    def once(operation_id: str) -> None:
        def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
            key = call.request.headers.get("idempotency-key")
            if key is not None and (operation_id, key) in answers:
                return Outcome(state, answers[operation_id, key])
            outcome = faithful(state, call)
            if key is not None:
                answers[operation_id, key] = outcome.reply
            return outcome

        wrap(registries, operation_id, around)

    for operation_id, operation in CONTRACT.operations.items():
        if operation.method in {"POST", "DELETE"} and operation_id in registries.operations:
            once(operation_id)


def _tags_commits(registries: Registries) -> None:
    """Give every answer with table metadata a tag, another one for each selection of snapshots."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        headers = dict(call.request.headers)
        offered = headers.pop("if-none-match", None)
        request = msgspec.structs.replace(call.request, headers=headers)
        outcome = faithful(state, msgspec.structs.replace(call, request=request))
        if outcome.reply.status != 200:
            return outcome
        body = json.loads(outcome.reply.body)
        # The tag is that of the whole answer, credentials included (RFC 9110, 8.8.1).
        asked = call.request.headers.get("x-iceberg-access-delegation")
        shown = [body.get("metadata-location"), call.query.get("snapshots", "all"), asked]
        tag = f'"{hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]}"'
        kept = [header for header in outcome.reply.headers if header[0] != "etag"]
        reply = msgspec.structs.replace(outcome.reply, headers=(*kept, ("etag", tag)))
        if offered == tag:
            reply = Reply(304, (("etag", tag),), b"")
        return msgspec.structs.replace(outcome, reply=reply)

    for operation_id in TABLES:
        wrap(registries, operation_id, around)


def _knows_more_of_tables(registries: Registries) -> None:
    """Add to tables the mode of scan planning, a signing configuration, and rows of snapshots."""

    def shown(body: Body) -> Body:
        snapshots = [{"added-rows": 0} | s for s in body["metadata"].get("snapshots", [])]
        metadata = body["metadata"] | ({"snapshots": snapshots} if snapshots else {})
        return body | {
            "metadata": metadata,
            "config": body.get("config", {})
            | {
                "scan-planning-mode": "client",
                "signer.uri": "https://signer.example.com",
                "signer.endpoint": "v1/sign",
            },
            "remote-signing-config": {"properties": {"key": "value"}, "headers": {"x-a": ["b"]}},
        }

    for operation_id in TABLES:
        alter_body(registries, operation_id, shown)


def _says_more(registries: Registries) -> None:
    """Do what the mock does by itself: only the later document says that it has to be so.

    A plan that is completed at once has an id, the log stays whole with the referenced snapshots,
    and a table and a view never have one name.
    """
    assert registries.operations


def _plans_with_credentials(registries: Registries) -> None:
    """Add credentials to a finished plan, and refuse to cancel an unknown one."""
    known: set[str] = set()

    def completed(body: Body) -> Body:
        if "plan-id" in body:
            known.add(body["plan-id"])
        if body.get("status") != "completed":
            return body
        credential = {"prefix": "file:///", "config": {"s3.access-key-id": "key"}}
        return body | {"storage-credentials": [credential]}

    for operation_id in PLANS[:2]:
        alter_body(registries, operation_id, completed)

    def named(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if call.parameters["plan-id"] not in known:
            raise Problem(404, "NoSuchPlanIdException", "The plan does not exist")
        return faithful(state, call)

    wrap(registries, "cancelPlanning", named)


def _new_predicates(registries: Registries) -> None:
    """Write residuals with left and right values, children, and bare booleans."""

    def rewritten(body: Body) -> Body:
        tasks = body.get("file-scan-tasks")
        if not tasks:
            return body
        return body | {
            "file-scan-tasks": [
                task | {"residual-filter": _anew(task["residual-filter"])}
                if "residual-filter" in task
                else task
                for task in tasks
            ]
        }

    for operation_id in PLANS:
        alter_body(registries, operation_id, rewritten)


def _anew(predicate: Any) -> Any:
    if not isinstance(predicate, dict):
        return predicate
    kind = predicate["type"]
    if kind in {"true", "false"}:
        return kind == "true"
    if kind in {"and", "or"}:
        left, right = (_anew(predicate[side]) for side in ("left", "right"))
        return {"type": kind, "left": left, "right": right}
    if kind == "not":
        return {"type": kind, "child": _anew(predicate["child"])}
    term = {"type": "reference", "name": predicate["term"]}
    if "values" in predicate:
        return {"type": kind, "child": term, "values": predicate["values"]}
    if "value" in predicate:
        return {"type": kind, "left": term, "right": predicate["value"]}
    return {"type": kind, "child": term}


LAWFUL_LATER: dict[str, Install] = {
    "lists-later-endpoints": _endpoints,
    "warehouse-not-found": _no_such_warehouse,
    "announces-later-members": _announces,
    "repeats-safely": _safe_repetition,
    "tags-commits": _tags_commits,
    "knows-more-of-tables": _knows_more_of_tables,
    "says-more": _says_more,
    "plans-with-credentials": _plans_with_credentials,
    "new-predicates": _new_predicates,
}
"""Name -> the installation of such a catalog on a mock; no check may fail on any of them."""

SHOWN_BY = {
    "POST /v1/{prefix}/namespaces/{namespace}/register-view": "lists-later-endpoints",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/sign": "lists-later-endpoints",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/unregister": "lists-later-endpoints",
    "GET /v1/{prefix}/namespaces/{namespace}/functions": "lists-later-endpoints",
    "GET /v1/{prefix}/namespaces/{namespace}/functions/{function}": "lists-later-endpoints",
    "getConfig.404": "warehouse-not-found",
    "CatalogConfig.idempotency-key-lifetime": "announces-later-members",
    "CatalogConfig.overrides.namespace-separator": "announces-later-members",
    "Idempotency-Key": "repeats-safely",
    "updateTable.200.ETag": "tags-commits",
    "etag-per-snapshots-mode": "tags-commits",
    "scan-planning-mode": "knows-more-of-tables",
    "Snapshot.added-rows": "knows-more-of-tables",
    "LoadTableResult.remote-signing-config": "knows-more-of-tables",
    "CompletedPlanningResult.storage-credentials": "plans-with-credentials",
    "cancelling-an-unknown-plan": "plans-with-credentials",
    "FileScanTask.residual-filter": "new-predicates",
    "LoadTableResult.config.signer": "knows-more-of-tables",
    "one-name-for-tables-and-views": "says-more",
    "CompletedPlanningResult.plan-id": "says-more",
    "refs-narrow-snapshots-only": "says-more",
}
"""Fact of a later document -> the catalog that shows it."""
