"""The two grants: a client's own secret, and the exchange of a token for another."""

import re
from typing import Any

from icecheck.mock_server.core.context import Request
from icecheck.mock_server.security import settings
from icecheck.mock_server.security.callers import Security
from icecheck.mock_server.security.settings import CATALOG_SCOPE, Client
from icecheck.mock_server.security.token_requests import (
    OAuthProblem,
    TokenForm,
    authenticated,
    bearer_of,
    client_behind,
    read_form,
)
from icecheck.mock_server.security.tokens import AccessToken, foreign_subject

_SCOPE = re.compile(r"[!#-\[\]-~]{1,200}( [!#-\[\]-~]{1,200}){0,9}")
"""RFC 6749, section 3.3; bounded, so that a token stays short enough for a header."""
_SUBJECT_CHARACTERS_MAX = 500

_TYPE_PREFIX = "urn:ietf:params:oauth:token-type:"
_ACCESS_TOKEN = f"{_TYPE_PREFIX}access_token"
_ISSUED_TYPES = frozenset({_ACCESS_TOKEN, f"{_TYPE_PREFIX}jwt"})
_TOKEN_TYPES = _ISSUED_TYPES | {
    f"{_TYPE_PREFIX}{name}" for name in ("refresh_token", "id_token", "saml1", "saml2")
}


def granted(request: Request, security: Security) -> dict[str, Any]:
    """Return the OAuthTokenResponse for a token request (document L3872).

    Raises OAuthProblem to refuse it.
    """
    form = read_form(request)
    match form.grant_type:
        case "":
            raise OAuthProblem("invalid_request", "grant_type is missing")
        case settings.CLIENT_CREDENTIALS:
            client = authenticated(request, form, security)
            if client is None:
                raise OAuthProblem(
                    "invalid_client", "The client does not authenticate", unauthenticated=True
                )
            _check_grant(client, form.grant_type)
            return _response(security, client, client.id, _client_scope(client, form.scope))
        case settings.TOKEN_EXCHANGE:
            return _exchanged(request, form, security)
        case _:
            raise OAuthProblem("unsupported_grant_type", f"Unknown grant: {form.grant_type[:80]}")


def _exchanged(request: Request, form: TokenForm, security: Security) -> dict[str, Any]:
    """Exchange a token of ours for a longer one, or a user's token for one of ours (L203-L226).

    A fault in a token itself is an invalid_request: RFC 8693, section 2.2.2.
    """
    _check_parameters(form)
    client = authenticated(request, form, security)
    actor = _actor(form, security)
    own = security.tokens.read(form.subject_token)
    if own is None:
        holder = actor or client or client_behind(request, security)
        if holder is None:
            stale = "The token in the header is not valid" if bearer_of(request) else "No client"
            raise OAuthProblem("invalid_client", stale, unauthenticated=True)
        subject, scope = _user(form, security), _client_scope(holder, form.scope)
    else:
        holder = _holder(own, client, security)
        subject, scope = own.subject, _narrowed(own.scope, form.scope)
    _check_grant(holder, form.grant_type)
    response = _response(security, holder, subject, scope)
    response["issued_token_type"] = form.requested_token_type or _ACCESS_TOKEN
    return response


def _user(form: TokenForm, security: Security) -> str:
    """Return the subject of a foreign token."""
    found = foreign_subject(form.subject_token, security.clock.now_ms() // 1000)
    if found is None or len(found) > _SUBJECT_CHARACTERS_MAX:
        raise OAuthProblem("invalid_request", "The subject token is not valid")
    return found


def _check_parameters(form: TokenForm) -> None:
    if not form.subject_token or not form.subject_token_type:
        raise OAuthProblem("invalid_request", "subject_token or subject_token_type is missing")
    if bool(form.actor_token) != bool(form.actor_token_type):
        raise OAuthProblem("invalid_request", "actor_token and actor_token_type go together")
    for kind in (form.subject_token_type, form.actor_token_type, form.requested_token_type):
        if kind and kind not in _TOKEN_TYPES:
            raise OAuthProblem("invalid_request", f"Unknown token type: {kind[:80]}")
    if form.requested_token_type and form.requested_token_type not in _ISSUED_TYPES:
        raise OAuthProblem("invalid_request", "Only access tokens are issued, and they are JWTs")


def _holder(own: AccessToken, client: Client | None, security: Security) -> Client:
    """Return the client that one of our tokens was given to, if the token may be exchanged.

    A valid token may be renewed by any holder. An expired one is renewed for a while, and only for
    the client itself, with its credential, as Java's client does.
    """
    holder = security.client_of(own)
    if holder is None or (client is not None and client.id != holder.id):
        raise OAuthProblem("invalid_request", "The subject token was given to another client")
    over_seconds = security.clock.now_ms() // 1000 - own.expires_seconds
    limit = security.exchange_seconds if client is not None else 0
    if over_seconds >= 0 and over_seconds >= limit:
        raise OAuthProblem("invalid_request", "The subject token has expired")
    return holder


def _actor(form: TokenForm, security: Security) -> Client | None:
    """Return the client of a valid actor token, or None; OAuthProblem if the token is not ours."""
    if not form.actor_token:
        return None
    token = security.tokens.read(form.actor_token)
    if token is None or token.expires_seconds * 1000 <= security.clock.now_ms():
        raise OAuthProblem("invalid_request", "The actor token is not valid")
    return security.client_of(token)


def _check_grant(client: Client, grant_type: str) -> None:
    if grant_type not in client.grant_types:
        raise OAuthProblem("unauthorized_client", "This client may not use this grant")


def _client_scope(client: Client, asked: str) -> str:
    """Return the scope of a new token: the requested one, if the client may have all of it."""
    if asked and not _SCOPE.fullmatch(asked):
        raise OAuthProblem("invalid_scope", "The scope is malformed, or too long")
    if client.scopes is None:
        return asked or CATALOG_SCOPE
    wanted = asked.split() or list(client.scopes)
    if not set(wanted) <= set(client.scopes):
        raise OAuthProblem("invalid_scope", "This client may not ask for this scope")
    return " ".join(wanted)


def _narrowed(scope: str, asked: str) -> str:
    """Return the scope of a renewed token: never more than before."""
    wanted = asked.split() or scope.split()
    if not set(wanted) <= set(scope.split()):
        raise OAuthProblem("invalid_scope", "The subject token does not have this scope")
    return " ".join(wanted)


def _response(security: Security, client: Client, subject: str, scope: str) -> dict[str, Any]:
    issued = security.clock.now_ms() // 1000
    lasting = security.token_seconds
    token = AccessToken(client.id, subject, scope, issued, issued + lasting)
    return {
        "access_token": security.tokens.sign(token),
        "token_type": "bearer",
        "expires_in": lasting,
        "scope": scope,
    }
