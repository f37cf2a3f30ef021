"""Ways in which credentials are not looked at, or not closely enough."""

import re
from collections.abc import Callable

import msgspec

from icecheck.contract import load
from icecheck.mock_server import replies
from icecheck.mock_server.context import (
    Call,
    Context,
    Operation,
    Outcome,
    Registries,
    Reply,
    Request,
)
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import wrap
from icecheck.mock_server.security.callers import Security
from icecheck.mock_server.state import WarehouseState

Opening = Callable[[Request], bool]

_GATE = "authorization"


def _open(registries: Registries, opening: Opening, answer: Reply | None = None) -> None:
    """Let requests through, or answer them, for which the opening holds and the gate would not."""
    faithful = registries.gates[_GATE]

    def gate(request: Request, security: Security) -> Reply | None:
        refusal = faithful(request, security)
        return answer if refusal is not None and opening(request) else refusal

    registries.gates[_GATE] = gate


def _has_token(request: Request) -> bool:
    return bool(request.headers.get("authorization"))


def is_at(request: Request, operation_id: str) -> bool:
    """Whether a request is one for this operation, under whatever prefix."""
    operation = load().operations[operation_id]
    pattern = re.sub(r"/\\?\{prefix\\?\}", "(/.+)?", re.escape(operation.path))
    pattern = re.sub(r"\\?\{[a-z\\-]+\}", "[^/]+", pattern)
    return request.method == operation.method and bool(re.fullmatch(pattern, request.raw_path))


@defect(
    "auth-page-for-strangers",
    breaks="http.json-content-type",
    suffering="Clients show a page of HTML instead of asking for a new token.",
)
def _page_for_strangers(registries: Registries) -> None:
    """A proxy in front looks at tokens, and refuses them with a page of its own."""
    faithful = registries.gates[_GATE]

    def gate(request: Request, security: Security) -> Reply | None:
        refusal = faithful(request, security)
        if refusal is None:
            return None
        return Reply(refusal.status, (("content-type", "text/html"),), b"<html>Stop</html>")

    registries.gates[_GATE] = gate


# ------------------------------------------------------------------------ no credentials


@defect(
    "auth-head-open",
    breaks="auth.no-success-without-credentials",
    suffering="Anybody can find out which tables there are.",
)
def _head_open(registries: Registries) -> None:
    """HEAD requests need no credentials."""
    _open(registries, lambda request: request.method == "HEAD")


@defect(
    "auth-load-open",
    breaks="auth.no-success-without-credentials",
    suffering="Anybody can read the metadata of any table.",
)
def _load_open(registries: Registries) -> None:
    """Loading a table needs no credentials, although listing them does."""
    _open(registries, lambda request: is_at(request, "loadTable"))


@defect(
    "auth-delete-open",
    breaks="auth.no-success-without-credentials",
    suffering="Anybody can drop tables.",
)
def _delete_open(registries: Registries) -> None:
    """Dropping needs no credentials."""
    _open(registries, lambda request: request.method == "DELETE")


@defect(
    "auth-writing-open",
    breaks="auth.no-success-without-credentials",
    suffering="Anybody can create and change what nobody may read.",
)
def _writing_open(registries: Registries) -> None:
    """Only reading needs credentials."""
    _open(registries, lambda request: request.method in {"POST", "DELETE"})


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


@defect(
    "auth-transactions-open",
    breaks="auth.no-success-without-credentials",
    suffering="Anybody can commit to any table.",
)
def _transactions_open(registries: Registries) -> None:
    """A route that came later is on no list of what needs credentials."""
    _open(registries, lambda request: is_at(request, "commitTransaction"))


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


@defect(
    "auth-any-token",
    breaks="auth.bad-token-refused",
    suffering="Whoever sends some token is let in.",
)
def _any_token(registries: Registries) -> None:
    """A token must be there, and is not looked at."""
    _open(registries, _has_token)


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
    def install(registries: Registries) -> None:
        _open(registries, lambda r: _has_token(r) and is_at(r, operation_id))

    install.__doc__ = f"{operation_id} takes any token for a good one."
    declared = defect(
        f"auth-any-token-{operation_id}",
        breaks=f"{operation_id}.401",
        suffering="A token that was revoked still opens this route.",
    )
    declared(install)


# The same slip, possible on every route: they differ in nothing but the operation.
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


# ---------------------------------------------------------------------- refused, and done


def _checked_too_late(registries: Registries, operation_id: str) -> None:
    """Carry an operation out, and look at the caller's token when the answer is written."""
    faithful_gate = registries.gates[_GATE]
    _open(registries, lambda r: _has_token(r) and is_at(r, operation_id))

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        refusal = faithful_gate(call.request, context.security)
        return outcome if refusal is None else msgspec.structs.replace(outcome, reply=refusal)

    wrap(registries, operation_id, around)


@defect(
    "auth-drop-checked-too-late",
    breaks="auth.refused-changes-nothing",
    suffering="Anybody can drop tables, and is told that it was refused.",
)
def _drop_checked_too_late(registries: Registries) -> None:
    """A drop is refused for its token after it was carried out."""
    _checked_too_late(registries, "dropTable")


@defect(
    "auth-create-checked-too-late",
    breaks="auth.refused-changes-nothing",
    suffering="Anybody can fill a namespace with tables.",
)
def _create_checked_too_late(registries: Registries) -> None:
    """A creation is refused for its token after it was carried out."""
    _checked_too_late(registries, "createTable")
