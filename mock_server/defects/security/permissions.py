"""Defects of permissions: not checked, or not on every route."""

import contextlib
from collections.abc import Callable

import msgspec

from icecheck.contract.facts import Changes
from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.documented import since_of
from icecheck.mock_server.defects.kit.places import FaithfulGate, alter_gate, gate
from icecheck.mock_server.defects.kit.remembering import remembering
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.defects.security.bearer_tokens import is_at
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.served_contract import KNOWN
from icecheck.mock_server.security.callers import Caller, Security
from icecheck.mock_server.security.settings import SIGNING

Chosen = Callable[[Request], bool]


def is_restricted(request: Request, security: Security) -> bool:
    """Return whether the caller has restrictions."""
    caller = security.identify(request.headers.get("authorization"))
    return isinstance(caller, Caller) and bool(caller.permissions)


def skip_permissions(registries: Registries, chosen: Chosen) -> None:
    """Skip the check of a caller's permissions for requests for which `chosen` holds."""

    def skipping(faithful: FaithfulGate, request: Request, security: Security) -> Reply | None:
        # A caller without restrictions is not affected.
        slips = chosen(request) and is_restricted(request, security)
        security.restricts = not slips and security.oauth2 is not None and security.oauth2.restricts
        return faithful(request, security)

    alter_gate(registries, skipping)


def answer_restricted(
    registries: Registries, operation_ids: tuple[str, ...], answer: Reply
) -> None:
    """Answer a caller without permission for these operations with `answer` instead of 403."""

    def answering(faithful: FaithfulGate, request: Request, security: Security) -> Reply | None:
        if is_at(request, *operation_ids) and is_restricted(request, security):
            return answer
        return faithful(request, security)

    alter_gate(registries, answering)


_UNJUDGED = {
    "getConfig", "getToken", "fetchPlanningResult", "fetchScanTasks", "cancelPlanning",
    "reportMetrics", SIGNING,
}  # fmt: skip
"""The operations that say nothing of an object, or of one whose plan its caller was given.

Signatures have checks of their own.
"""


def _at(operation_id: str) -> Chosen:
    return lambda request: is_at(request, operation_id)


# The same slip on every route: these defects differ only in the operation.
for _operation_id, _operation in KNOWN.operations.items():
    _does = "reads" if _operation.facts.changes is Changes.NOTHING else "changes"
    if _operation_id not in _UNJUDGED:
        declare(
            f"permits-all-{_operation_id}",
            f"{_operation_id} does not ask what the caller may do.",
            by(skip_permissions, _at(_operation_id)),
            breaks=f"auth.other-principal-{_does}-nothing",
            suffering=f"One tenant {_does} what belongs to another.",
            since=since_of(_operation_id),
        )


declare_each(
    ("forbidden-lists-empty", "auth.other-principal-gets-no-altered-list",
     "Lists that the caller may not see are answered empty.",
     "Jobs with too few rights see an empty catalog, and succeed.",
     by(answer_restricted, ("listTables", "listViews"), replies.json_reply({"identifiers": []}))),
    ("forbidden-as-401", "auth.other-principal-refused-as-such",
     "What the caller may not load is answered 401.",
     "Clients renew a token that is good, again and again.",
     by(answer_restricted, ("loadTable", "loadNamespaceMetadata"),
        replies.error_reply(401, "NotAuthorizedException", "Not authorized"))),
    ("forbidden-as-500", "auth.other-principal-refused-as-such",
     "What the caller may not load is answered 500.",
     "Clients try again and again, and jobs are taken for broken.",
     by(answer_restricted, ("loadTable",),
        replies.error_reply(500, "InternalServerError", "Permission check failed"))),
    ("forbidden-page", "loadTable.403", "What the caller may not load is told in a page of HTML.",
     "Clients show a page of HTML instead of what the caller may not do.",
     by(answer_restricted, ("loadTable",),
        Reply(403, (("content-type", "text/html"),), b"<html>Stop</html>"))),
)  # fmt: skip


@defect(
    "reader-commits-transactions",
    on=gate,
    breaks="auth.reader-changes-nothing",
    suffering="Who was given a look at tables can change them, several at once.",
)
def _reader_commits(faithful: FaithfulGate, request: Request, security: Security) -> Reply | None:
    """The rule for readers lists the routes that write, and not the one of transactions."""
    caller = security.identify(request.headers.get("authorization"))
    reads_only = isinstance(caller, Caller) and any(p.read_only for p in caller.permissions)
    slips = reads_only and is_at(request, "commitTransaction")
    security.restricts = not slips and security.oauth2 is not None and security.oauth2.restricts
    return faithful(request, security)


@defect(
    "warehouses-share-loads",
    on=remembering(dict, wrap, "loadTable"),
    breaks="auth.other-warehouse-shows-nothing",
    suffering="Whoever knows the name of a table loads it through a warehouse of their own.",
)
def _shared_loads(
    states: dict[str, WarehouseState], faithful: Faithful, state: WarehouseState, call: Call
) -> Outcome:
    """Tables are loaded by namespace and name, whatever warehouse the path names."""
    states[faithful.context.warehouse] = state
    try:
        return faithful(state, call)
    except Problem:
        for other in states.values():
            with contextlib.suppress(Problem):
                return msgspec.structs.replace(faithful(other, call), state=state)
        raise


@defect(
    "warehouses-share-drops",
    breaks="auth.other-warehouse-changes-nothing",
    suffering="A DROP TABLE in one warehouse drops the table of another tenant.",
)
def _shared_drops(registries: Registries) -> None:
    """A drop is queued by namespace and name, and carried out in every warehouse."""
    dropped: set[tuple[object, str]] = set()

    def drop(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem:
            if not faithful.context.warehouse.endswith("another"):
                raise
            dropped.add((call.namespace, call.name))
            return Outcome(state, replies.NO_CONTENT)

    def load(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if (call.namespace, call.name) in dropped:
            raise problem.no_such_table(call.namespace, call.name)
        return faithful(state, call)

    wrap(registries, "dropTable", drop)
    wrap(registries, "loadTable", load)
