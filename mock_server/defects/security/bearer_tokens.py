"""Defects of bearer tokens: not checked, or not thoroughly."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from icecheck.contract import Operation
from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.places import GATE, FaithfulGate, alter_gate, gate
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.served_contract import KNOWN
from icecheck.mock_server.security.callers import Security
from icecheck.mock_server.security.settings import SIGNING

Opening = Callable[[Request, Security], Any]


def open_gate(registries: Registries, opening: Opening, answer: Reply | None = None) -> None:
    """Pass requests that the gate refuses and for which `opening` holds, or give them `answer`."""

    def opened(faithful: FaithfulGate, request: Request, security: Security) -> Reply | None:
        refusal = faithful(request, security)
        return answer if refusal is not None and opening(request, security) else refusal

    alter_gate(registries, opened)


def _has_token(request: Request, _: Security) -> bool:
    return bool(request.headers.get("authorization"))


def is_at(request: Request, *operation_ids: str) -> bool:
    """Return whether a request is one for one of these operations, under any prefix."""
    return any(_is_one(request, KNOWN.operations[each]) for each in operation_ids)


def _is_one(request: Request, operation: Operation) -> bool:
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


def _anybody(_request: Request, _security: Security) -> bool:
    return True


declare_each(
    ("auth-refused-without-a-word", "loadTable.401",
     "Who has no good token is answered 401 and nothing else.",
     "Users see no reason why their session ended.", by(open_gate, _anybody, Reply(401))),
    ("auth-refused-with-a-message", "error.envelope",
     "Who has no good token is told so in an object of the server's own.",
     "PyIceberg fails on the answer instead of telling that the token is refused.",
     by(open_gate, _anybody, replies.json_reply({"message": "Unauthorized"}, 401))),
)  # fmt: skip


# ------------------------------------------------------------------------ no credentials


declare_each(
    ("auth-empty-list", "auth.no-success-without-credentials",
     "Lists without credentials are answered empty.",
     "Clients whose token has expired see an empty catalog.",
     by(open_gate, lambda request, _: is_at(request, "listTables", "listNamespaces"),
        replies.json_reply({"namespaces": [], "identifiers": []}))),
    ("auth-nothing-vended-to-nobody", "auth.no-success-without-credentials",
     "Whatever is wrong with the caller's token, loadCredentials answers that there are none.",
     "A job whose token has expired reads on with the machine's own rights, or with none.",
     by(open_gate, lambda request, _: is_at(request, "loadCredentials"),
        replies.json_reply({"storage-credentials": []}))),
    ("auth-head-open", "auth.no-success-without-credentials", "HEAD requests need no credentials.",
     "Anybody can find out which tables there are.",
     by(open_gate, lambda request, _: request.method == "HEAD")),
    ("auth-load-open", "auth.no-success-without-credentials",
     "Loading a table needs no credentials, although listing them does.",
     "Anybody can read the metadata of any table.",
     by(open_gate, lambda request, _: is_at(request, "loadTable"))),
    ("auth-delete-open", "auth.no-success-without-credentials", "Dropping needs no credentials.",
     "Anybody can drop tables.", by(open_gate, lambda request, _: request.method == "DELETE")),
    ("auth-writing-open", "auth.no-success-without-credentials", "Only reading needs credentials.",
     "Anybody can create and change what nobody may read.",
     by(open_gate, lambda request, _: request.method in {"POST", "DELETE"})),
    ("auth-transactions-open", "auth.no-success-without-credentials",
     "A route that came later is on no list of what needs credentials.",
     "Anybody can commit to any table.",
     by(open_gate, lambda request, _: is_at(request, "commitTransaction"))),
    ("auth-views-empty", "auth.no-success-without-credentials",
     "Views without credentials are listed as if there were none.",
     "Clients whose token has expired see no views.",
     by(open_gate, lambda request, _: is_at(request, "listViews"),
        replies.json_reply({"identifiers": []}))),
)  # fmt: skip


# --------------------------------------------------------------------- false credentials


declare_each(
    ("auth-any-token", "auth.bad-token-refused", "A token must be there, and is not looked at.",
     "Whoever sends some token is let in.", by(open_gate, _has_token)),
    ("auth-bad-token-403", "auth.bad-token-refused",
     "A false token is answered 403, as if the caller were known.",
     "PyIceberg does not renew a token that has expired.",
     by(open_gate, _has_token, replies.error_reply(403, "ForbiddenException", "Forbidden"))),
)  # fmt: skip


def _of_route(operation_id: str) -> Opening:
    return lambda request, security: _has_token(request, security) and is_at(request, operation_id)


# The same slip on every route: these defects differ only in the operation.
for _operation_id in KNOWN.operations:
    if f"{_operation_id}.401" in KNOWN.requirements and _operation_id not in {"getToken", SIGNING}:
        declare(
            f"auth-any-token-{_operation_id}",
            f"{_operation_id} takes any token for a good one.",
            by(open_gate, _of_route(_operation_id)),
            breaks=f"{_operation_id}.401",
            suffering="A token that was revoked still opens this route.",
        )


# ---------------------------------------------------------------------- refused, but carried out


def _checked_too_late(registries: Registries, operation_id: str) -> None:
    """Carry an operation out first, and check the caller's token afterwards."""
    faithful_gate = registries.gates[GATE]
    open_gate(registries, _of_route(operation_id))

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
    ("auth-missing-before-token", "auth.bad-token-refused",
     "What is not there is said not to be there, whoever asks.",
     "Anybody can find out which tables there are.", by(_checked_too_late, "loadTable")),
)  # fmt: skip
