"""Defects of authentication in some forms of requests only."""

import json
from collections.abc import Callable

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import FaithfulGate, alter_gate, gate
from icecheck.mock_server.defects.kit.remembering import remembering
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.defects.security.bearer_tokens import is_at
from icecheck.mock_server.defects.security.permissions import is_restricted
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.security.callers import Caller, Security
from icecheck.mock_server.security.tokens import foreign_subject

_GATE = "authorization"
_PREFIX_CHARACTERS = 40

Opening = Callable[[Request, Security], bool]


def _open(registries: Registries, opening: Opening) -> None:
    """Pass requests for which `opening` holds, from any caller."""
    faithful = registries.gates[_GATE]

    def gate(request: Request, security: Security) -> Reply | None:
        refusal = faithful(request, security)
        return None if refusal is not None and opening(request, security) else refusal

    registries.gates[_GATE] = gate


def _bearer(request: Request) -> str:
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    return text if scheme.lower() == "bearer" else ""


# ---------------------------------------------------------------------- forms of requests


@defect(
    "auth-config-of-strangers",
    breaks="getConfig.401",
    suffering="With a wrong token clients learn another address of everything, and then get 404.",
)
def _config_of_strangers(registries: Registries) -> None:
    """Who starts without a valid token is told less, as if that were all there is."""
    _open(registries, lambda request, _: request.raw_path == "/v1/config")

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        caller = faithful.context.security.identify(call.request.headers.get("authorization"))
        if isinstance(caller, Caller) or faithful.context.security.is_open:
            return faithful(state, call)
        return Outcome(state, replies.json_reply({"defaults": {}, "overrides": {}}))

    wrap(registries, "getConfig", around)


declare_each(
    ("auth-pages-open", "auth.no-success-without-credentials",
     "Pages of lists come from a service of their own, which asks nobody.",
     "Anybody can read the names of all tables, page by page.",
     by(_open, lambda request, _: "pageToken=" in request.query_string)),
    ("auth-purge-open", "auth.no-success-without-credentials",
     "The rule for DELETE is written for requests without a query.",
     "Anybody can delete the data of a table.",
     by(_open, lambda request, _: "purgeRequested=true" in request.query_string)),
)  # fmt: skip


@defect(
    "auth-unchanged-to-anybody",
    on=through(_open),
    breaks="auth.no-success-without-credentials",
    suffering="Who has an old tag of a table sees when somebody writes to it.",
)
def _unchanged_to_anybody(request: Request, _: Security) -> bool:
    """Conditional loads are answered by the cache, before anybody asks whose they are."""
    return is_at(request, "loadTable") and "if-none-match" in request.headers


@defect(
    "auth-staging-open",
    on=gate,
    breaks="auth.other-principal-changes-nothing",
    suffering="One tenant is given credentials for the place where another keeps its tables.",
)
def _staging_open(faithful: FaithfulGate, request: Request, security: Security) -> Reply | None:
    """What is only staged is nobody's yet: the caller's rights are not asked for."""
    stages = is_at(request, "createTable") and b'"stage-create":true' in request.body
    slips = stages and is_restricted(request, security)
    security.restricts = not slips and security.oauth2 is not None and security.oauth2.restricts
    return faithful(request, security)


# ------------------------------------------------------------------------- forged tokens


@defect(
    "auth-unsigned-token",
    on=through(_open),
    breaks="auth.no-success-without-credentials",
    suffering="Whoever writes a token without a signature is whom it says.",
)
def _unsigned_token(request: Request, security: Security) -> bool:
    """A token that says it is not signed is taken as it is."""
    text = _bearer(request)
    known = text.endswith(".") and foreign_subject(text, security.clock.now_ms() // 1000)
    return bool(known)


@defect(
    "auth-signature-unchecked",
    on=through(_open),
    breaks="auth.no-success-without-credentials",
    suffering="Whoever has an old token has access for ever.",
)
def _signature_unchecked(request: Request, _: Security) -> bool:
    """The claims of a token are read, and its signature is not, on the routes that commit."""
    parts = _bearer(request).split(".")
    signed = len(parts) == 3 and bool(parts[2])
    return signed and is_at(request, "commitTransaction")


@defect(
    "auth-token-by-its-beginning",
    on=remembering(set, alter_gate),
    breaks="auth.no-success-without-credentials",
    suffering="A token that was cut off in a log is as good as a whole one.",
)
def _by_its_beginning(
    seen: set[str], faithful: FaithfulGate, request: Request, security: Security
) -> Reply | None:
    """Tokens are remembered by their beginning."""
    refusal = faithful(request, security)
    beginning = _bearer(request)[:-_PREFIX_CHARACTERS]
    if refusal is None:
        seen.add(beginning)
    cut = any(_bearer(request).startswith(known) for known in seen if known)
    return None if cut else refusal


@defect(
    "auth-other-schemes",
    on=through(_open),
    breaks="auth.no-success-without-credentials",
    suffering="Anybody who sends a user and a password, whichever, is let in.",
)
def _other_schemes(request: Request, _: Security) -> bool:
    """Another scheme than Bearer is left to somebody else, who was never there."""
    return request.headers.get("authorization", "").lower().startswith("basic ")


@defect(
    "auth-scheme-compared",
    on=gate,
    breaks="auth.scheme-in-any-letters",
    suffering="Clients that write the scheme as the token endpoint does cannot log in.",
)
def _scheme_compared(faithful: FaithfulGate, request: Request, security: Security) -> Reply | None:
    """The scheme of a token is compared letter by letter."""
    if request.headers.get("authorization", "Bearer")[:6] not in {"Bearer", "Basic "}:
        return replies.error_reply(401, "NotAuthorizedException", "Not authorized")
    return faithful(request, security)


@defect(
    "auth-unreadable-token-500",
    on=gate,
    breaks="auth.bad-token-refused",
    suffering="Clients take a token that is over for an outage, and try again and again.",
)
def _unreadable_500(faithful: FaithfulGate, request: Request, security: Security) -> Reply | None:
    """What a token's parser raises about one in three parts is caught by nobody."""
    refusal = faithful(request, security)
    if refusal is None or _bearer(request).count(".") != 2:
        return refusal
    return replies.error_reply(500, "InternalServerError", "Invalid signature")


@defect(
    "auth-missing-before-token",
    breaks="auth.bad-token-refused",
    suffering="Anybody can find out which tables there are.",
)
def _missing_before_token(registries: Registries) -> None:
    """What is not there is said not to be there, whoever asks."""
    faithful_gate = registries.gates[_GATE]
    _open(registries, lambda request, _: is_at(request, "loadTable") and bool(_bearer(request)))

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        refusal = faithful_gate(call.request, faithful.context.security)
        return outcome if refusal is None else msgspec.structs.replace(outcome, reply=refusal)

    wrap(registries, "loadTable", around)


# ---------------------------------------------------------------------------- other callers


@defect(
    "principals-share-a-cache",
    breaks="auth.other-principal-reads-nothing",
    suffering="What one tenant has just read is shown to the other.",
)
def _share_a_cache(registries: Registries) -> None:
    """Tables are kept in a cache of answers, which is asked before the caller's rights are."""
    kept: dict[str, Reply] = {}
    faithful = registries.gates[_GATE]

    def gate(request: Request, security: Security) -> Reply | None:
        key = f"{request.raw_path}?{request.query_string}"
        if is_at(request, "loadTable") and key in kept and is_restricted(request, security):
            return kept[key]
        return faithful(request, security)

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if outcome.reply.status == 200:
            kept[f"{call.request.raw_path}?{call.request.query_string}"] = outcome.reply
        return outcome

    registries.gates[_GATE] = gate
    wrap(registries, "loadTable", around)


def _kept_refusals(registries: Registries, operation_id: str, refuses: Opening) -> None:
    """Answer 404 to every caller on a path of this operation where one caller was refused."""
    kept: set[str] = set()
    faithful = registries.gates[_GATE]

    def gate(request: Request, security: Security) -> Reply | None:
        if is_at(request, operation_id):
            if refuses(request, security):
                kept.add(request.raw_path)
            elif request.raw_path in kept:
                return Reply(404)
        return faithful(request, security)

    registries.gates[_GATE] = gate


declare(
    "principals-share-refusals",
    "That a table is not for one caller is remembered as that it is not there.",
    by(_kept_refusals, "tableExists", is_restricted),
    breaks="auth.callers-kept-apart",
    suffering="Whoever has no right to a table makes it vanish for those who have.",
)


@defect(
    "strangers-share-refusals",
    on=through(_kept_refusals, "namespaceExists"),
    breaks="auth.callers-kept-apart",
    suffering="Anybody can make a namespace vanish for those who have a right to it.",
)
def _strangers_share_refusals(request: Request, security: Security) -> bool:
    """That a namespace was refused to a stranger is remembered as that it is not there."""
    return not isinstance(security.identify(request.headers.get("authorization")), Caller)


# ------------------------------------------------------------------------------- altered answers


@defect(
    "forbidden-children-empty",
    on=gate,
    breaks="auth.other-principal-reads-nothing",
    suffering="Jobs with too few rights see no schemas, and succeed.",
)
def _children_empty(faithful: FaithfulGate, request: Request, security: Security) -> Reply | None:
    """The namespaces inside of one that the caller may not see are answered as none."""
    nothing = json.dumps({"namespaces": [], "next-page-token": None}).encode()
    if is_at(request, "listNamespaces") and is_restricted(request, security):
        return Reply(200, replies.JSON_CONTENT, nothing)
    return faithful(request, security)
