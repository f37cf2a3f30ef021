"""Ways in which token endpoints are right for one way of asking, and wrong for another one."""

import base64
from urllib.parse import parse_qsl

import msgspec

from icecheck.mock_server import replies
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_answer, alter_call, wrap
from icecheck.mock_server.security.settings import Client
from icecheck.mock_server.state import WarehouseState

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
    breaks="getToken.lifetime-in-seconds",
    suffering="A long job renews its token once, and then too late.",
)
def _for_milliseconds(registries: Registries) -> None:
    """The lifetime of a renewed token is told in milliseconds."""

    def alter(call: Call, body: dict[str, int]) -> dict[str, int]:
        told = body.get("expires_in", 0)
        return body | {"expires_in": told * 1000} if _exchanges(call) and told else body

    alter_answer(registries, "getToken", alter)


@defect(
    "token-end-for-lifetime",
    breaks="getToken.lifetime-in-seconds",
    suffering="Clients never renew their token, and fail when it is over.",
)
def _end_for_lifetime(registries: Registries) -> None:
    """expires_in is the moment at which the token ends, for clients that send a Basic header."""

    def alter(call: Call, body: dict[str, int]) -> dict[str, int]:
        by_header = call.request.headers.get("authorization", "").startswith("Basic")
        given = by_header and "expires_in" in body
        return body | {"expires_in": 1_800_000_000 + body["expires_in"]} if given else body

    alter_answer(registries, "getToken", alter)


@defect(
    "token-type-on-request",
    breaks="getToken.issued-token-type",
    suffering="A session cannot be renewed: nobody knows what its token is.",
)
def _type_on_request(registries: Registries) -> None:
    """An exchange tells the type of its token to those who asked for one."""

    def alter(call: Call, body: dict[str, str]) -> dict[str, str]:
        asked = "requested_token_type" in _form(call)
        return body if asked else {k: v for k, v in body.items() if k != "issued_token_type"}

    alter_answer(registries, "getToken", alter)


@defect(
    "token-parameters-strict",
    breaks="getToken.unknown-parameters",
    suffering="Whoever configures an audience cannot log in.",
)
def _parameters_strict(registries: Registries) -> None:
    """A parameter that the server does not know is an invalid request."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if not _form(call).keys() <= _KNOWN:
            return _refused(state, "invalid_request")
        return faithful(context, state, call)

    wrap(registries, "getToken", around)


@defect(
    "token-charset-refused",
    breaks="getToken.unknown-parameters",
    suffering="Clients that name a charset cannot log in.",
)
def _charset_refused(registries: Registries) -> None:
    """The content type of a form is compared letter by letter."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if call.request.headers.get("content-type") != _FORM:
            return _refused(state, "invalid_request")
        return faithful(context, state, call)

    wrap(registries, "getToken", around)


@defect(
    "token-header-unchecked",
    breaks="getToken.401",
    suffering="Whoever knows the id of a client is that client.",
)
def _header_unchecked(registries: Registries) -> None:
    """The secret in a Basic header is not looked at."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        scheme, _, encoded = call.request.headers.get("authorization", "").partition(" ")
        oauth2 = context.security.oauth2
        if outcome.reply.status != 401 or scheme != "Basic" or oauth2 is None:
            return outcome
        try:
            name = base64.b64decode(encoded, validate=True).decode().partition(":")[0]
        except ValueError:
            return outcome
        client = oauth2.client(name)
        return outcome if client is None else _given_to(context, state, client)

    wrap(registries, "getToken", around)


@defect(
    "token-secret-cut",
    breaks="getToken.401",
    suffering="A part of a long secret is as good as the whole.",
)
def _secret_cut(registries: Registries) -> None:
    """Secrets are compared as far as the shorter one goes."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        form, oauth2 = _form(call), context.security.oauth2
        client = None if oauth2 is None else oauth2.client(form.get("client_id", ""))
        sent = form.get("client_secret", "")
        if outcome.reply.status != 401 or client is None or not sent:
            return outcome
        alike = client.secret.startswith(sent) or sent.startswith(client.secret)
        return _given_to(context, state, client) if alike else outcome

    wrap(registries, "getToken", around)


@defect(
    "token-without-subject",
    breaks="getToken.incomplete-refused",
    suffering="A session of a user without a token has the rights of the server's own client.",
)
def _without_subject(registries: Registries) -> None:
    """An exchange without a subject is for whoever sends it."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        form, oauth2 = _form(call), context.security.oauth2
        exchanges = form.get("grant_type", "").endswith("token-exchange")
        if oauth2 is not None and exchanges and "subject_token" not in form:
            return _given_to(context, state, oauth2.clients[0])
        return faithful(context, state, call)

    wrap(registries, "getToken", around)


@defect(
    "token-unreadable-header-500",
    breaks="getToken.incomplete-refused",
    suffering="A misconfigured client reports an outage, and tries again and again.",
)
def _unreadable_header_500(registries: Registries) -> None:
    """A Basic header that is no base64 ends in an exception."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        if "%" not in call.request.headers.get("authorization", ""):
            return outcome
        failed = replies.oauth_error_reply(500, "invalid_request", "Illegal base64 character")
        return msgspec.structs.replace(outcome, reply=failed)

    wrap(registries, "getToken", around)


@defect(
    "token-plus-is-no-blank",
    breaks="getToken.unknown-parameters",
    suffering="Clients that ask for two scopes get a token for neither.",
)
def _plus_is_no_blank(registries: Registries) -> None:
    """A form's escapes are decoded as those of a path, where a plus stands for itself."""

    def alter(call: Call) -> Call:
        body = call.request.body.replace(b"+", b"%2B")
        return msgspec.structs.replace(
            call, request=msgspec.structs.replace(call.request, body=body)
        )

    alter_call(registries, "getToken", alter)
