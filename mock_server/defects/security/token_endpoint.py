"""Defects of the token endpoint."""

import json
from urllib.parse import parse_qsl

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, defect
from icecheck.mock_server.defects.kit.places import answer_of, call_of
from icecheck.mock_server.defects.kit.requests import with_content
from icecheck.mock_server.defects.kit.rewriting import Faithful, answer_status, with_answer
from icecheck.mock_server.protocol import replies

_EXCHANGE = b"token-exchange"


def _with_reply(outcome: Outcome, reply: Reply) -> Outcome:
    return msgspec.structs.replace(outcome, reply=reply)


declare(
    "token-created",
    "A token is answered 201, as something that was created.",
    by(answer_status, "getToken", 201),
    breaks="getToken.200",
    suffering="Clients that take 200 alone for a success get no token.",
)


@defect(
    "token-under-another-name",
    on=answer_of("getToken"),
    breaks="getToken.200",
    suffering="No client finds the token in the answer.",
)
def _other_name(body: dict[str, str]) -> dict[str, str]:
    """The token is answered as `token`."""
    return {"token" if key == "access_token" else key: value for key, value in body.items()}


@defect(
    "token-of-another-key",
    on=answer_of("getToken"),
    breaks="getToken.opens-the-catalog",
    suffering="Whoever has just got a token is told that it is not valid.",
)
def _useless(body: dict[str, str]) -> dict[str, str]:
    """Tokens are signed with a key that the catalog does not know."""
    if "access_token" not in body:
        return body
    head, _, signature = body["access_token"].rpartition(".")
    return body | {"access_token": f"{head}.{signature[::-1]}"}


@defect(
    "token-basic-ignored",
    on=call_of("getToken"),
    breaks="getToken.basic-credentials",
    suffering="DuckDB cannot log in.",
)
def _basic_ignored(call: Call) -> Call:
    """Credentials are looked for in the form alone."""
    headers = {k: v for k, v in call.request.headers.items() if k != "authorization"}
    request = msgspec.structs.replace(call.request, headers=headers)
    return msgspec.structs.replace(call, request=request)


@defect(
    "token-cacheable",
    on="getToken",
    breaks="getToken.not-stored",
    suffering="A proxy may keep a token and give it to somebody else.",
)
def _cacheable(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Nothing says that a token must not be stored."""
    outcome = faithful(state, call)
    kept = tuple(h for h in outcome.reply.headers if h[0] not in {"cache-control", "pragma"})
    return _with_reply(outcome, msgspec.structs.replace(outcome.reply, headers=kept))


@defect(
    "token-no-exchange",
    on="getToken",
    breaks="getToken.exchange-renews",
    suffering="Spark jobs end with their first token.",
)
def _no_exchange(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Tokens are given for secrets only."""
    if _EXCHANGE in call.request.body:
        reply = replies.oauth_error_reply(400, "unsupported_grant_type", "no token exchange")
        return Outcome(state, reply)
    return faithful(state, call)


@defect(
    "token-renewed-into-nothing",
    on="getToken",
    breaks="getToken.exchange-renews",
    suffering="Spark jobs that renew their token are locked out from then on.",
)
def _renewed_into_nothing(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A renewed token is one that the catalog does not know."""
    outcome = faithful(state, call)
    if _EXCHANGE not in call.request.body or outcome.reply.status != 200:
        return outcome
    body = {**msgspec.json.decode(outcome.reply.body), "access_token": "renewed"}
    return _with_reply(outcome, replies.json_reply(body))


@defect(
    "token-refused-like-a-table",
    on="getToken",
    breaks="getToken.400",
    suffering="Java clients report an outage where the request was wrong.",
)
def _refused_like_a_table(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A bad token request is answered 406, with the error object of the catalog's other routes."""
    outcome = faithful(state, call)
    if outcome.reply.status != 400:
        return outcome
    error = replies.error_reply(406, "UnsupportedOperationException", "Unsupported grant")
    return _with_reply(outcome, error)


@defect(
    "token-grant-assumed",
    on=call_of("getToken"),
    breaks="getToken.400",
    suffering="A request for something else is answered with a token of the client's own.",
)
def _grant_assumed(call: Call) -> Call:
    """Whatever grant is asked for, or none, the client's own token is given."""
    if _EXCHANGE in call.request.body:
        return call
    pairs = [p for p in call.request.body.split(b"&") if not p.startswith(b"grant_type=")]
    return with_content(call, b"&".join([b"grant_type=client_credentials", *pairs]))


@defect(
    "token-for-any-secret",
    on="getToken",
    breaks="getToken.401",
    suffering="Whoever knows the id of a client is that client.",
)
def _any_secret(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The secret is asked for and not looked at."""
    outcome = faithful(state, call)
    oauth2 = faithful.context.security.oauth2
    if outcome.reply.status != 401 or oauth2 is None:
        return outcome
    token = faithful.context.security.access_token(oauth2.clients[0])
    return _with_reply(outcome, replies.json_reply({"access_token": token, "token_type": "bearer"}))


@defect(
    "token-wrong-secret-is-403",
    on="getToken",
    breaks="getToken.401",
    suffering="Clients repeat what can never succeed.",
)
def _wrong_secret_is_403(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Whoever has a wrong secret may not have a token."""
    outcome = faithful(state, call)
    if outcome.reply.status != 401:
        return outcome
    return _with_reply(outcome, msgspec.structs.replace(outcome.reply, status=403))


@defect(
    "token-errors-are-all-one",
    on="getToken",
    breaks="getToken.error-codes",
    suffering="Nobody can tell a wrong secret from a wrong request.",
)
def _all_one(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Every refused token request is an invalid_request."""
    outcome = faithful(state, call)
    if outcome.reply.status < 400:
        return outcome
    return with_answer(outcome, json.loads(outcome.reply.body) | {"error": "invalid_request"})


@defect(
    "token-without-grant-is-a-wrong-client",
    on="getToken",
    breaks="getToken.error-codes",
    suffering="A client that forgot a parameter is told to look for another secret.",
)
def _grant_blames_client(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A request that names no grant is answered invalid_client."""
    outcome = faithful(state, call)
    if outcome.reply.status < 400 or b"grant_type=" in call.request.body:
        return outcome
    return with_answer(outcome, json.loads(outcome.reply.body) | {"error": "invalid_client"})


@defect(
    "token-refused-in-words",
    on="getToken",
    breaks="getToken.400",
    suffering="The Java client takes the refusal of its grant for an outage.",
)
def _refused_in_words(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A refused grant is told in plain text."""
    outcome = faithful(state, call)
    if outcome.reply.status != 400:
        return outcome
    told = Reply(400, (("content-type", "text/plain"),), b"Cannot handle this grant")
    return _with_reply(outcome, told)


@defect(
    "token-for-a-user-is-the-users-own",
    on="getToken",
    breaks="getToken.exchange-for-a-user",
    suffering="Sessions of users cannot read what their token was exchanged for.",
)
def _users_own(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A user's token is handed back as it came."""
    outcome = faithful(state, call)
    form = dict(parse_qsl(call.request.body.decode()))
    if "actor_token" not in form or outcome.reply.status != 200:
        return outcome
    body = msgspec.json.decode(outcome.reply.body) | {"access_token": form["subject_token"]}
    return _with_reply(outcome, replies.json_reply(body))
