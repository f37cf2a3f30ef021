"""Defects of permissions: not checked, or not on every route."""

import contextlib
from collections.abc import Callable

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, defect
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.defects.security.bearer_tokens import is_at
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.security.callers import Caller, Security

Chosen = Callable[[Request], bool]

_GATE = "authorization"


def is_restricted(request: Request, security: Security) -> bool:
    """Return whether the caller has restrictions."""
    caller = security.identify(request.headers.get("authorization"))
    return isinstance(caller, Caller) and bool(caller.permissions)


def _unlooked(registries: Registries, chosen: Chosen) -> None:
    """Skip the check of a caller's permissions for requests for which `chosen` holds."""
    faithful = registries.gates[_GATE]

    def gate(request: Request, security: Security) -> Reply | None:
        # A caller without restrictions is not affected.
        slips = chosen(request) and is_restricted(request, security)
        security.restricts = not slips and security.oauth2 is not None and security.oauth2.restricts
        return faithful(request, security)

    registries.gates[_GATE] = gate


def _answered(registries: Registries, chosen: Chosen, answer: Reply) -> None:
    """Answer a caller without permission with `answer` instead of 403."""
    faithful = registries.gates[_GATE]

    def gate(request: Request, security: Security) -> Reply | None:
        if chosen(request) and is_restricted(request, security):
            return answer
        return faithful(request, security)

    registries.gates[_GATE] = gate


def _at(*operation_ids: str) -> Chosen:
    return lambda request: any(is_at(request, each) for each in operation_ids)


def _declare(operation_id: str, breaks: str, suffering: str) -> None:

    declare(
        f"permits-all-{operation_id}",
        f"{operation_id} does not ask what the caller may do.",
        by(_unlooked, _at(operation_id)),
        breaks=breaks,
        suffering=suffering,
    )


# The same slip on every route: these defects differ only in the operation.
for _operation_id in (
    "loadNamespaceMetadata",
    "namespaceExists",
    "listTables",
    "loadTable",
    "tableExists",
    "loadCredentials",
    "planTableScan",
    "listNamespaces",
    "listViews",
    "loadView",
    "viewExists",
):
    _declare(
        _operation_id,
        "auth.other-principal-reads-nothing",
        "One tenant reads what belongs to another.",
    )

for _operation_id in (
    "createNamespace",
    "updateProperties",
    "createTable",
    "updateTable",
    "commitTransaction",
    "dropTable",
    "dropNamespace",
    "renameTable",
    "registerTable",
    "createView",
    "replaceView",
    "dropView",
    "renameView",
):
    _declare(
        _operation_id,
        "auth.other-principal-changes-nothing",
        "One tenant changes what belongs to another.",
    )


@defect(
    "forbidden-lists-empty",
    breaks="auth.other-principal-gets-no-altered-list",
    suffering="Jobs with too few rights see an empty catalog, and succeed.",
)
def _empty_lists(registries: Registries) -> None:
    """Lists that the caller may not see are answered empty."""
    nothing = replies.json_reply({"identifiers": []})
    _answered(registries, _at("listTables", "listViews"), nothing)


@defect(
    "forbidden-as-401",
    breaks="auth.other-principal-refused-as-such",
    suffering="Clients renew a token that is good, again and again.",
)
def _as_unauthorized(registries: Registries) -> None:
    """What the caller may not load is answered 401."""
    refused = replies.error_reply(401, "NotAuthorizedException", "Not authorized")
    _answered(registries, _at("loadTable", "loadNamespaceMetadata"), refused)


@defect(
    "forbidden-as-500",
    breaks="auth.other-principal-refused-as-such",
    suffering="Clients try again and again, and jobs are taken for broken.",
)
def _as_failure(registries: Registries) -> None:
    """What the caller may not load is answered 500."""
    failed = replies.error_reply(500, "InternalServerError", "Permission check failed")
    _answered(registries, _at("loadTable"), failed)


@defect(
    "reader-commits-transactions",
    breaks="auth.reader-changes-nothing",
    suffering="Who was given a look at tables can change them, several at once.",
)
def _reader_commits(registries: Registries) -> None:
    """The rule for readers lists the routes that write, and not the one of transactions."""
    faithful = registries.gates[_GATE]

    def gate(request: Request, security: Security) -> Reply | None:
        caller = security.identify(request.headers.get("authorization"))
        reads_only = isinstance(caller, Caller) and any(p.read_only for p in caller.permissions)
        slips = reads_only and is_at(request, "commitTransaction")
        security.restricts = not slips and security.oauth2 is not None and security.oauth2.restricts
        return faithful(request, security)

    registries.gates[_GATE] = gate


@defect(
    "warehouses-share-loads",
    breaks="auth.other-warehouse-shows-nothing",
    suffering="Whoever knows the name of a table loads it through a warehouse of their own.",
)
def _shared_loads(registries: Registries) -> None:
    """Tables are loaded by namespace and name, whatever warehouse the path names."""
    states: dict[str, WarehouseState] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        states[faithful.context.warehouse] = state
        try:
            return faithful(state, call)
        except Problem:
            for other in states.values():
                with contextlib.suppress(Problem):
                    return msgspec.structs.replace(faithful(other, call), state=state)
            raise

    wrap(registries, "loadTable", around)


@defect(
    "warehouses-share-drops",
    on="dropTable",
    breaks="auth.other-warehouse-changes-nothing",
    suffering="A DROP TABLE in one warehouse drops the table of another tenant.",
)
def _shared_drops(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop is queued by namespace and name, and confirmed in whatever warehouse."""
    try:
        return faithful(state, call)
    except Problem:
        if faithful.context.warehouse.endswith("another"):
            return Outcome(state, replies.NO_CONTENT)
        raise
