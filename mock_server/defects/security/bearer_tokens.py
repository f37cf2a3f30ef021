"""Defects of bearer tokens: not checked, or not thoroughly."""

import re
from collections.abc import Callable

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.places import FaithfulGate, gate
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.served_contract import SERVED
from icecheck.mock_server.security.callers import Security

Opening = Callable[[Request], bool]

_GATE = "authorization"


def _open(registries: Registries, opening: Opening, answer: Reply | None = None) -> None:
    """Pass requests that the gate refuses and for which `opening` holds, or give them `answer`."""
    faithful = registries.gates[_GATE]

    def gate(request: Request, security: Security) -> Reply | None:
        refusal = faithful(request, security)
        return answer if refusal is not None and opening(request) else refusal

    registries.gates[_GATE] = gate


def _has_token(request: Request) -> bool:
    return bool(request.headers.get("authorization"))


def is_at(request: Request, operation_id: str) -> bool:
    """Return whether a request is one for this operation, under any prefix."""
    operation = SERVED.operations[operation_id]
    pattern = re.sub(r"/\\?\{prefix\\?\}", "(/.+)?", re.escape(operation.path))
    pattern = re.sub(r"\\?\{[a-z\\-]+\}", "[^/]+", pattern)
    return request.method == operation.method and bool(re.fullmatch(pattern, request.raw_path))


@defect(
    "auth-page-for-strangers",
    on=gate,
    breaks="http.json-content-type",
    suffering="Clients show a page of HTML instead of asking for a new token.",
)
def _page_for_strangers(
    faithful: FaithfulGate, request: Request, security: Security
) -> Reply | None:
    """A proxy in front looks at tokens, and refuses them with a page of its own."""
    refusal = faithful(request, security)
    if refusal is None:
        return None
    return Reply(refusal.status, (("content-type", "text/html"),), b"<html>Stop</html>")


# ------------------------------------------------------------------------ no credentials


@defect(
    "auth-empty-list",
    breaks="auth.no-success-without-credentials",
    suffering="Clients whose token has expired see an empty catalog.",
)
def _empty_list(registries: Registries) -> None:
    """Lists without credentials are answered empty."""
    nothing = replies.json_reply({"namespaces": [], "identifiers": []})
    _open(
        registries,
        lambda request: is_at(request, "listTables") or is_at(request, "listNamespaces"),
        nothing,
    )


@defect(
    "auth-nothing-vended-to-nobody",
    breaks="auth.no-success-without-credentials",
    suffering="A job whose token has expired reads on with the machine's own rights, or with none.",
)
def _nothing_vended(registries: Registries) -> None:
    """Whatever is wrong with the caller's token, loadCredentials answers that there are none."""
    nothing = replies.json_reply({"storage-credentials": []})
    _open(registries, lambda request: is_at(request, "loadCredentials"), nothing)


declare_each(
    ("auth-head-open", "auth.no-success-without-credentials", "HEAD requests need no credentials.",
     "Anybody can find out which tables there are.",
     by(_open, lambda request: request.method == "HEAD")),
    ("auth-load-open", "auth.no-success-without-credentials",
     "Loading a table needs no credentials, although listing them does.",
     "Anybody can read the metadata of any table.",
     by(_open, lambda request: is_at(request, "loadTable"))),
    ("auth-delete-open", "auth.no-success-without-credentials", "Dropping needs no credentials.",
     "Anybody can drop tables.", by(_open, lambda request: request.method == "DELETE")),
    ("auth-writing-open", "auth.no-success-without-credentials", "Only reading needs credentials.",
     "Anybody can create and change what nobody may read.",
     by(_open, lambda request: request.method in {"POST", "DELETE"})),
    ("auth-transactions-open", "auth.no-success-without-credentials",
     "A route that came later is on no list of what needs credentials.",
     "Anybody can commit to any table.",
     by(_open, lambda request: is_at(request, "commitTransaction"))),
)  # fmt: skip


@defect(
    "auth-views-empty",
    breaks="auth.no-success-without-credentials",
    suffering="Clients whose token has expired see no views.",
)
def _views_empty(registries: Registries) -> None:
    """Views without credentials are listed as if there were none."""
    nothing = replies.json_reply({"identifiers": []})
    _open(registries, lambda request: is_at(request, "listViews"), nothing)


# --------------------------------------------------------------------- false credentials


declare(
    "auth-any-token",
    "A token must be there, and is not looked at.",
    by(_open, _has_token),
    breaks="auth.bad-token-refused",
    suffering="Whoever sends some token is let in.",
)


@defect(
    "auth-bad-token-403",
    breaks="auth.bad-token-refused",
    suffering="PyIceberg does not renew a token that has expired.",
)
def _bad_token_403(registries: Registries) -> None:
    """A false token is answered 403, as if the caller were known."""
    forbidden = replies.error_reply(403, "ForbiddenException", "Forbidden")
    _open(registries, _has_token, forbidden)


def _declare(operation_id: str) -> None:

    declare(
        f"auth-any-token-{operation_id}",
        f"{operation_id} takes any token for a good one.",
        by(_open, lambda r: _has_token(r) and is_at(r, operation_id)),
        breaks=f"{operation_id}.401",
        suffering="A token that was revoked still opens this route.",
    )


# The same slip on every route: these defects differ only in the operation.
for _operation_id in (
    "getConfig",
    "listNamespaces",
    "createNamespace",
    "loadNamespaceMetadata",
    "namespaceExists",
    "dropNamespace",
    "updateProperties",
    "listTables",
    "createTable",
    "loadTable",
    "tableExists",
    "updateTable",
    "dropTable",
    "renameTable",
    "registerTable",
    "loadCredentials",
    "reportMetrics",
    "commitTransaction",
    "planTableScan",
    "fetchPlanningResult",
    "cancelPlanning",
    "fetchScanTasks",
    "listViews",
    "createView",
    "loadView",
    "viewExists",
    "replaceView",
    "dropView",
    "renameView",
):
    _declare(_operation_id)


# ---------------------------------------------------------------------- refused, but carried out


def _checked_too_late(registries: Registries, operation_id: str) -> None:
    """Carry an operation out first, and check the caller's token afterwards."""
    faithful_gate = registries.gates[_GATE]
    _open(registries, lambda r: _has_token(r) and is_at(r, operation_id))

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        refusal = faithful_gate(call.request, faithful.context.security)
        return outcome if refusal is None else msgspec.structs.replace(outcome, reply=refusal)

    wrap(registries, operation_id, around)


declare_each(
    ("auth-drop-checked-too-late", "auth.refused-changes-nothing",
     "A drop is refused for its token after it was carried out.",
     "Anybody can drop tables, and is told that it was refused.",
     by(_checked_too_late, "dropTable")),
    ("auth-create-checked-too-late", "auth.refused-changes-nothing",
     "A creation is refused for its token after it was carried out.",
     "Anybody can fill a namespace with tables.", by(_checked_too_late, "createTable")),
)  # fmt: skip
