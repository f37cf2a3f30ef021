"""Reads the form of a token request strictly, and finds its client."""

import base64
import hmac
import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, unquote_plus

import msgspec

from icecheck.mock_server.core.context import Request
from icecheck.mock_server.security.callers import Security
from icecheck.mock_server.security.settings import Client

_FORM_CONTENT = "application/x-www-form-urlencoded"
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PAIRS_MAX = 100
_ID_CHARACTERS_MAX = 500
_REPEATABLE = frozenset({"audience", "resource"})


class OAuthProblem(Exception):
    """A refused token request: the error code of RFC 6749 (section 5.2), and the reason.

    `unauthenticated`: the client has to authenticate (again): a 401 with a challenge.
    """

    def __init__(self, error: str, description: str, *, unauthenticated: bool = False) -> None:
        super().__init__(description)
        self.error = error
        self.description = description
        self.unauthenticated = unauthenticated


class TokenForm(msgspec.Struct, frozen=True):
    """The parameters of a token request (document L3614-L3690); "" for those that were not sent."""

    grant_type: str = ""
    scope: str = ""
    client_id: str = ""
    client_secret: str = ""
    requested_token_type: str = ""
    subject_token: str = ""
    subject_token_type: str = ""
    actor_token: str = ""
    actor_token_type: str = ""


def read_form(request: Request) -> TokenForm:
    """Return the form of a request; OAuthProblem for a bad form or a repeated parameter.

    A parameter without a value counts as not sent, an unknown one is ignored (RFC 6749, section
    3.2).
    """
    content = request.headers.get("content-type", _FORM_CONTENT).partition(";")[0].strip().lower()
    if content != _FORM_CONTENT:
        raise OAuthProblem("invalid_request", f"The content type must be {_FORM_CONTENT}")
    try:
        text = request.body.decode()
        if _BAD_ESCAPE.search(text):
            raise ValueError("malformed percent escape")
        pairs = parse_qsl(text, errors="strict", max_num_fields=_PAIRS_MAX)
    except ValueError as error:
        raise OAuthProblem("invalid_request", "The body is no form") from error
    names = [name for name, _ in pairs if name not in _REPEATABLE]
    if len(set(names)) < len(names):
        raise OAuthProblem("invalid_request", "A parameter was sent twice")
    known = TokenForm.__struct_fields__
    return TokenForm(**{name: value for name, value in pairs if name in known})


def bearer_of(request: Request) -> str | None:
    """Return the bearer token that came with a request, or None."""
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    return text.strip() or None if scheme.lower() == "bearer" else None


def authenticated(request: Request, form: TokenForm, security: Security) -> Client | None:
    """Return the client of a request's id and secret; None if the request has none.

    They are in the body or in a Basic header, never in both (RFC 6749, section 2.3). Java's client
    sends a secret without an id where its configuration has no colon.
    """
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        if form.client_secret:
            raise OAuthProblem("invalid_request", "The client authenticates in two ways")
        return _found(_basic(encoded), security)
    if scheme and scheme.lower() != "bearer":
        raise _unknown_client()
    if not form.client_secret:
        return None
    return _found([(form.client_id, form.client_secret)], security)


def client_behind(request: Request, security: Security) -> Client | None:
    """Return the client whose own valid bearer token came with a request, or None."""
    text = bearer_of(request)
    token = None if text is None else security.tokens.read(text)
    if token is None or token.expires_seconds * 1000 <= security.clock.now_ms():
        return None
    return security.client_of(token)


def _basic(encoded: str) -> list[tuple[str, str]]:
    """Return the readings of a Basic header's id and secret: plain, and decoded as in RFC 6749."""
    try:
        text = base64.b64decode(encoded.strip().encode("ascii"), validate=True).decode()
    except ValueError as error:
        raise _unknown_client() from error
    client_id, colon, secret = text.partition(":")
    if not colon:
        client_id, secret = "", text
    return [(client_id, secret), (unquote_plus(client_id), unquote_plus(secret))]


def _found(candidates: Iterable[tuple[str, str]], security: Security) -> Client:
    for client_id, secret in candidates:
        if security.is_open and secret and len(client_id) <= _ID_CHARACTERS_MAX:
            return Client(client_id.replace(":", "_") or "anybody", secret)
        known = () if security.oauth2 is None else security.oauth2.clients
        fitting = [
            client
            for client in known
            if client_id in {"", client.id}
            and hmac.compare_digest(secret.encode(), client.secret.encode())
        ]
        if len(fitting) == 1:
            return fitting[0]
    raise _unknown_client()


def _unknown_client() -> OAuthProblem:
    return OAuthProblem("invalid_client", "Unknown client, or wrong secret", unauthenticated=True)
