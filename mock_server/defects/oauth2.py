"""Ways in which token endpoints go wrong."""

from urllib.parse import parse_qsl

import msgspec

from icecheck.mock_server import replies
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries, Reply
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_body, alter_call, answer_status, wrap
from icecheck.mock_server.state import WarehouseState

_EXCHANGE = b"token-exchange"


def _with_reply(outcome: Outcome, reply: Reply) -> Outcome:
    return msgspec.structs.replace(outcome, reply=reply)


def _with_body(call: Call, body: bytes) -> Call:
    return msgspec.structs.replace(call, request=msgspec.structs.replace(call.request, body=body))


@defect(
    "token-created",
    breaks="getToken.200",
    suffering="Clients that take 200 alone for a success get no token.",
)
def _created(registries: Registries) -> None:
    """A token is answered 201, as something that was created."""
    answer_status(registries, "getToken", 201)


@defect(
    "token-under-another-name",
    breaks="getToken.200",
    suffering="No client finds the token in the answer.",
)
def _other_name(registries: Registries) -> None:
    """The token is answered as `token`."""

    def alter(body: dict[str, str]) -> dict[str, str]:
        return {"token" if key == "access_token" else key: value for key, value in body.items()}

    alter_body(registries, "getToken", alter)


@defect(
    "token-of-another-key",
    breaks="getToken.opens-the-catalog",
    suffering="Whoever has just got a token is told that it is not valid.",
)
def _useless(registries: Registries) -> None:
    """Tokens are signed with a key that the catalog does not know."""

    def alter(body: dict[str, str]) -> dict[str, str]:
        if "access_token" not in body:
            return body
        head, _, signature = body["access_token"].rpartition(".")
        return body | {"access_token": f"{head}.{signature[::-1]}"}

    alter_body(registries, "getToken", alter)


@defect(
    "token-basic-ignored",
    breaks="getToken.basic-credentials",
    suffering="DuckDB cannot log in.",
)
def _basic_ignored(registries: Registries) -> None:
    """Credentials are looked for in the form alone."""

    def alter(call: Call) -> Call:
        headers = {k: v for k, v in call.request.headers.items() if k != "authorization"}
        request = msgspec.structs.replace(call.request, headers=headers)
        return msgspec.structs.replace(call, request=request)

    alter_call(registries, "getToken", alter)


@defect(
    "token-cacheable",
    breaks="getToken.not-stored",
    suffering="A proxy may keep a token and give it to somebody else.",
)
def _cacheable(registries: Registries) -> None:
    """Nothing says that a token must not be stored."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        kept = tuple(h for h in outcome.reply.headers if h[0] not in {"cache-control", "pragma"})
        return _with_reply(outcome, msgspec.structs.replace(outcome.reply, headers=kept))

    wrap(registries, "getToken", around)


@defect(
    "token-no-exchange",
    breaks="getToken.exchange-renews",
    suffering="Spark jobs end with their first token.",
)
def _no_exchange(registries: Registries) -> None:
    """Tokens are given for secrets only."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if _EXCHANGE in call.request.body:
            reply = replies.oauth_error_reply(400, "unsupported_grant_type", "no token exchange")
            return Outcome(state, reply)
        return faithful(context, state, call)

    wrap(registries, "getToken", around)


@defect(
    "token-renewed-into-nothing",
    breaks="getToken.exchange-renews",
    suffering="Spark jobs that renew their token are locked out from then on.",
)
def _renewed_into_nothing(registries: Registries) -> None:
    """A renewed token is one that the catalog does not know."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        if _EXCHANGE not in call.request.body or outcome.reply.status != 200:
            return outcome
        body = {**msgspec.json.decode(outcome.reply.body), "access_token": "renewed"}
        return _with_reply(outcome, replies.json_reply(body))

    wrap(registries, "getToken", around)


@defect(
    "token-refused-like-a-table",
    breaks="getToken.400",
    suffering="Java clients report an outage where the request was wrong.",
)
def _refused_like_a_table(registries: Registries) -> None:
    """A bad token request is answered 406, with the error object of the catalog's other routes."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        if outcome.reply.status != 400:
            return outcome
        error = replies.error_reply(406, "UnsupportedOperationException", "Unsupported grant")
        return _with_reply(outcome, error)

    wrap(registries, "getToken", around)


@defect(
    "token-grant-assumed",
    breaks="getToken.400",
    suffering="A request for something else is answered with a token of the client's own.",
)
def _grant_assumed(registries: Registries) -> None:
    """Whatever grant is asked for, or none, the client's own token is given."""

    def alter(call: Call) -> Call:
        if _EXCHANGE in call.request.body:
            return call
        pairs = [p for p in call.request.body.split(b"&") if not p.startswith(b"grant_type=")]
        return _with_body(call, b"&".join([b"grant_type=client_credentials", *pairs]))

    alter_call(registries, "getToken", alter)


@defect(
    "token-for-any-secret",
    breaks="getToken.401",
    suffering="Whoever knows the id of a client is that client.",
)
def _any_secret(registries: Registries) -> None:
    """The secret is asked for and not looked at."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        oauth2 = context.security.oauth2
        if outcome.reply.status != 401 or oauth2 is None:
            return outcome
        token = context.security.access_token(oauth2.clients[0])
        return _with_reply(
            outcome, replies.json_reply({"access_token": token, "token_type": "bearer"})
        )

    wrap(registries, "getToken", around)


@defect(
    "token-wrong-secret-is-400",
    breaks="getToken.401",
    suffering="Clients repeat what can never succeed.",
)
def _wrong_secret_is_400(registries: Registries) -> None:
    """A wrong secret is a malformed request."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        if outcome.reply.status != 401:
            return outcome
        return _with_reply(outcome, msgspec.structs.replace(outcome.reply, status=400))

    wrap(registries, "getToken", around)


@defect(
    "token-errors-are-all-one",
    breaks="getToken.error-codes",
    suffering="Nobody can tell a wrong secret from a wrong request.",
)
def _all_one(registries: Registries) -> None:
    """Every refused token request is an invalid_request."""

    def alter(body: dict[str, str]) -> dict[str, str]:
        return body | {"error": "invalid_request"} if "error" in body else body

    alter_body(registries, "getToken", alter)


@defect(
    "token-for-a-user-is-the-users-own",
    breaks="getToken.exchange-for-a-user",
    suffering="Sessions of users cannot read what their token was exchanged for.",
)
def _users_own(registries: Registries) -> None:
    """A user's token is handed back as it came."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        form = dict(parse_qsl(call.request.body.decode()))
        if "actor_token" not in form or outcome.reply.status != 200:
            return outcome
        body = msgspec.json.decode(outcome.reply.body) | {"access_token": form["subject_token"]}
        return _with_reply(outcome, replies.json_reply(body))

    wrap(registries, "getToken", around)
