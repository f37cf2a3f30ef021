"""Defects of the token endpoint that show in one form of the request only."""

import base64
from urllib.parse import parse_qsl, urlencode

import msgspec

from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import defect, through
from icecheck.mock_server.defects.kit.places import call_of
from icecheck.mock_server.defects.kit.requests import with_content
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_answer
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.security.settings import Client
from icecheck.mock_server.security.token_requests import bearer_of

_FORM = "application/x-www-form-urlencoded"
_KNOWN = frozenset(
    {
        "grant_type", "scope", "client_id", "client_secret", "requested_token_type",
        "subject_token", "subject_token_type", "actor_token", "actor_token_type",
    }
)  # fmt: skip


def _form(call: Call) -> dict[str, str]:
    return dict(parse_qsl(call.request.body.decode(errors="replace"), keep_blank_values=True))


def _exchanges(call: Call) -> bool:
    return "subject_token" in _form(call)


def _refused(state: WarehouseState, error: str, status: int = 400) -> Outcome:
    return Outcome(state, replies.oauth_error_reply(status, error, "Not so"))


def _given_to(context: Context, state: WarehouseState, client: Client) -> Outcome:
    token = context.security.access_token(client)
    body = {"access_token": token, "token_type": "bearer", "expires_in": 3600}
    return Outcome(state, replies.json_reply(body))


@defect(
    "token-renewed-for-milliseconds",
    on=through(alter_answer, "getToken"),
    breaks="getToken.lifetime-in-seconds",
    suffering="A long job renews its token once, and then too late.",
)
def _for_milliseconds(call: Call, body: dict[str, int]) -> dict[str, int]:
    """The lifetime of a renewed token is told in milliseconds."""
    told = body.get("expires_in", 0)
    return body | {"expires_in": told * 1000} if _exchanges(call) and told else body


@defect(
    "token-end-for-lifetime",
    on=through(alter_answer, "getToken"),
    breaks="getToken.lifetime-in-seconds",
    suffering="Clients never renew their token, and fail when it is over.",
)
def _end_for_lifetime(call: Call, body: dict[str, int]) -> dict[str, int]:
    """expires_in is the moment at which the token ends, for clients that send a Basic header."""
    by_header = call.request.headers.get("authorization", "").startswith("Basic")
    given = by_header and "expires_in" in body
    return body | {"expires_in": 1_800_000_000 + body["expires_in"]} if given else body


@defect(
    "token-type-on-request",
    on=through(alter_answer, "getToken"),
    breaks="getToken.issued-token-type",
    suffering="A session cannot be renewed: nobody knows what its token is.",
)
def _type_on_request(call: Call, body: dict[str, str]) -> dict[str, str]:
    """An exchange tells the type of its token to those who asked for one."""
    asked = "requested_token_type" in _form(call)
    return body if asked else {k: v for k, v in body.items() if k != "issued_token_type"}


@defect(
    "token-parameters-strict",
    on="getToken",
    breaks="getToken.unknown-parameters",
    suffering="Whoever configures an audience cannot log in.",
)
def _parameters_strict(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A parameter that the server does not know is an invalid request."""
    if not _form(call).keys() <= _KNOWN:
        return _refused(state, "invalid_request")
    return faithful(state, call)


@defect(
    "token-charset-refused",
    on="getToken",
    breaks="getToken.unknown-parameters",
    suffering="Clients that name a charset cannot log in.",
)
def _charset_refused(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The content type of a form is compared letter by letter."""
    if call.request.headers.get("content-type") != _FORM:
        return _refused(state, "invalid_request")
    return faithful(state, call)


@defect(
    "token-header-unchecked",
    on="getToken",
    breaks="getToken.401",
    suffering="Whoever knows the id of a client is that client.",
)
def _header_unchecked(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The secret in a Basic header is not looked at."""
    outcome = faithful(state, call)
    scheme, _, encoded = call.request.headers.get("authorization", "").partition(" ")
    oauth2 = faithful.context.security.oauth2
    if outcome.reply.status != 401 or scheme != "Basic" or oauth2 is None:
        return outcome
    try:
        name = base64.b64decode(encoded, validate=True).decode().partition(":")[0]
    except ValueError:
        return outcome
    client = oauth2.client(name)
    return outcome if client is None else _given_to(faithful.context, state, client)


@defect(
    "token-secret-cut",
    on="getToken",
    breaks="getToken.401",
    suffering="A part of a long secret is as good as the whole.",
)
def _secret_cut(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Secrets are compared as far as the shorter one goes."""
    outcome = faithful(state, call)
    form, oauth2 = _form(call), faithful.context.security.oauth2
    client = None if oauth2 is None else oauth2.client(form.get("client_id", ""))
    sent = form.get("client_secret", "")
    if outcome.reply.status != 401 or client is None or not sent:
        return outcome
    alike = client.secret.startswith(sent) or sent.startswith(client.secret)
    return _given_to(faithful.context, state, client) if alike else outcome


@defect(
    "token-without-subject",
    on="getToken",
    breaks="getToken.incomplete-refused",
    suffering="A session of a user without a token has the rights of the server's own client.",
)
def _without_subject(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """An exchange without a subject is for whoever sends it."""
    form, oauth2 = _form(call), faithful.context.security.oauth2
    exchanges = form.get("grant_type", "").endswith("token-exchange")
    if oauth2 is not None and exchanges and "subject_token" not in form:
        return _given_to(faithful.context, state, oauth2.clients[0])
    return faithful(state, call)


@defect(
    "token-unreadable-header-500",
    on="getToken",
    breaks="getToken.incomplete-refused",
    suffering="A misconfigured client reports an outage, and tries again and again.",
)
def _unreadable_header_500(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A Basic header that is no base64 ends in an exception."""
    outcome = faithful(state, call)
    if "%" not in call.request.headers.get("authorization", ""):
        return outcome
    failed = replies.oauth_error_reply(500, "invalid_request", "Illegal base64 character")
    return msgspec.structs.replace(outcome, reply=failed)


@defect(
    "token-last-secret-counts",
    on="getToken",
    breaks="getToken.incomplete-refused",
    suffering="What a gateway has checked is another secret than the one that counts.",
)
def _last_secret_counts(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Of two secrets in a form the last one counts."""
    # A form without a secret stays as it was sent.
    body = call.request.body
    others = [pair for pair in body.split(b"&") if not pair.startswith(b"client_secret=")]
    secrets = [pair for pair in body.split(b"&") if pair.startswith(b"client_secret=")]
    if len(secrets) < 2:
        return faithful(state, call)
    return faithful(state, with_content(call, b"&".join([*others, secrets[-1]])))


@defect(
    "token-json-500",
    on="getToken",
    breaks="getToken.incomplete-refused",
    suffering="A misconfigured client reports an outage, and tries again and again.",
)
def _json_500(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A content type that is none of a form ends in an exception."""
    if call.request.headers.get("content-type", _FORM).startswith(_FORM):
        return faithful(state, call)
    return _refused(state, "server_error", 500)


@defect(
    "token-plus-is-no-blank",
    on=call_of("getToken"),
    breaks="getToken.unknown-parameters",
    suffering="Clients that ask for two scopes get a token for neither.",
)
def _plus_is_no_blank(call: Call) -> Call:
    """A form's escapes are decoded as those of a path, where a plus stands for itself."""
    body = call.request.body.replace(b"+", b"%2B")
    return with_content(call, body)


@defect(
    "oauth-exchange-falls-back-to-bearer",
    on="getToken",
    breaks="getToken.subject-is-judged",
    suffering="A user whose session is over goes on with the rights of the client.",
)
def _exchange_falls_back(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Instead of a subject token that is none, the token in the header is exchanged."""
    outcome = faithful(state, call)
    form = dict(parse_qsl(call.request.body.decode(errors="replace")))
    bearer = bearer_of(call.request)
    if outcome.reply.status != 400 or bearer is None or "subject_token" not in form:
        return outcome
    again = urlencode({**form, "subject_token": bearer}).encode()
    renewed = faithful(state, with_content(call, again))
    return renewed if renewed.reply.status == 200 else outcome
