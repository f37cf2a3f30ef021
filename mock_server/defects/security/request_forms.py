"""Defects of authentication in some forms of requests only."""

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import GATE, FaithfulGate, alter_gate, gate
from icecheck.mock_server.defects.kit.remembering import remembering
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.defects.security.bearer_tokens import Opening, is_at, open_gate
from icecheck.mock_server.defects.security.permissions import (
    answer_restricted,
    is_restricted,
    skip_permissions,
)
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.security.callers import Caller, Security
from icecheck.mock_server.security.tokens import foreign_subject

_PREFIX_CHARACTERS = 40


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
    open_gate(registries, lambda request, _: request.raw_path == "/v1/config")

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
     by(open_gate, lambda request, _: "pageToken=" in request.query_string)),
    ("auth-purge-open", "auth.no-success-without-credentials",
     "The rule for DELETE is written for requests without a query.",
     "Anybody can delete the data of a table.",
     by(open_gate, lambda request, _: "purgeRequested=true" in request.query_string)),
    ("auth-unchanged-to-anybody", "auth.no-success-without-credentials",
     "Conditional loads are answered by the cache, before anybody asks whose they are.",
     "Who has an old tag of a table sees when somebody writes to it.",
     by(open_gate,
        lambda request, _: is_at(request, "loadTable") and "if-none-match" in request.headers)),
    ("auth-staging-open", "auth.other-principal-changes-nothing",
     "What is only staged is nobody's yet: the caller's rights are not asked for.",
     "One tenant is given credentials for the place where another keeps its tables.",
     by(skip_permissions,
        lambda request: is_at(request, "createTable") and b'"stage-create":true' in request.body)),
)  # fmt: skip


# ------------------------------------------------------------------------- forged tokens


@defect(
    "auth-unsigned-token",
    on=through(open_gate),
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
    on=through(open_gate),
    breaks="auth.no-success-without-credentials",
    suffering="Whoever has an old token has access for ever.",
)
def _signature_unchecked(request: Request, _: Security) -> bool:
    """The claims of a token are read, and its signature is not, on the routes that commit."""
    parts = _bearer(request).split(".")
    signed = len(parts) == 3 and bool(parts[2])
    return signed and is_at(request, "updateTable", "commitTransaction", "replaceView")


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


declare(
    "auth-other-schemes",
    "Another scheme than Bearer is left to somebody else, who was never there.",
    by(
        open_gate,
        lambda request, _: request.headers.get("authorization", "").lower().startswith("basic "),
    ),
    breaks="auth.no-success-without-credentials",
    suffering="Anybody who sends a user and a password, whichever, is let in.",
)


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


# ---------------------------------------------------------------------------- other callers


@defect(
    "principals-share-a-cache",
    breaks="auth.other-principal-reads-nothing",
    suffering="What one tenant has just read is shown to the other.",
)
def _share_a_cache(registries: Registries) -> None:
    """Tables are kept in a cache of answers, which is asked before the caller's rights are."""
    kept: dict[str, Reply] = {}
    faithful = registries.gates[GATE]

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

    registries.gates[GATE] = gate
    wrap(registries, "loadTable", around)


def _kept_refusals(registries: Registries, operation_id: str, refuses: Opening) -> None:
    """Answer 404 to every caller on a path of this operation where one caller was refused."""
    kept: set[str] = set()

    def keeping(faithful: FaithfulGate, request: Request, security: Security) -> Reply | None:
        if is_at(request, operation_id):
            if refuses(request, security):
                kept.add(request.raw_path)
            elif request.raw_path in kept:
                return Reply(404)
        return faithful(request, security)

    alter_gate(registries, keeping)


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


declare(
    "forbidden-children-empty",
    "The namespaces inside of one that the caller may not see are answered as none.",
    by(
        answer_restricted,
        ("listNamespaces",),
        replies.json_reply({"namespaces": [], "next-page-token": None}),
    ),
    breaks="auth.other-principal-reads-nothing",
    suffering="Jobs with too few rights see no schemas, and succeed.",
)
