"""The catalog's own token endpoint: tokens for clients, and tokens for tokens."""

import base64
import json
from collections.abc import Mapping
from urllib.parse import urlencode

from icecheck.check import check
from icecheck.client import Catalog
from icecheck.conformance.reading import not_applicable, object_in
from icecheck.expect import Reply, show

_CLIENT_CREDENTIALS = "client_credentials"
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 - a type's name
_JWT = "urn:ietf:params:oauth:token-type:jwt"
_UNKNOWN_GRANT = "icecheck-unknown-grant"
_WRONG_SECRET = "icecheck-wrong-secret"  # noqa: S105 - made up, to be refused


def _client(catalog: Catalog) -> dict[str, str]:
    """Return the run's client as form members; without one, no token can be asked for.

    The credential goes to the server that the user gave it for, and to no other.
    """
    target = catalog.target
    if not target.credential:
        raise not_applicable("the run was given no credential to get tokens for")
    if target.token_endpoint != f"{target.base_url}/v1/oauth/tokens":
        raise not_applicable("the credential is for another server than the catalog")
    client_id, colon, secret = target.credential.partition(":")
    # Without a colon it is a secret alone, as Java's client reads it.
    return (
        {"client_id": client_id, "client_secret": secret} if colon else {"client_secret": client_id}
    )


def _post(
    catalog: Catalog, form: Mapping[str, str], headers: Mapping[str, str] | None = None
) -> Reply:
    """Send a form to the token endpoint, with no token in the header unless one is given."""
    sent = {"Content-Type": "application/x-www-form-urlencoded", "Authorization": ""}
    body = urlencode(form).encode()
    return catalog.call("getToken", body=body, headers={**sent, **(headers or {})})


def _own(catalog: Catalog) -> dict[str, str]:
    """The form with which the run's client asks for a token."""
    scope = {"scope": catalog.target.scope} if catalog.target.scope else {}
    return {"grant_type": _CLIENT_CREDENTIALS, **_client(catalog), **scope}


def _token_in(reply: Reply) -> str:
    return str(reply.expect(200).member("access_token"))


def _expect_open(catalog: Catalog, token: str, what: str) -> None:
    """Judge that the catalog does not refuse a token as one it does not know."""
    reply = catalog.call("getConfig", query=_warehouse(catalog), headers=_bearer(token))
    if reply.status == 401:
        raise reply.violation("token-not-accepted", "an answer", "401", detail=what)


def _warehouse(catalog: Catalog) -> list[tuple[str, str]]:
    return [("warehouse", catalog.target.warehouse)] if catalog.target.warehouse else []


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _expect_error(reply: Reply, code: str, what: str) -> None:
    said = object_in(reply).get("error")
    if said != code:
        raise reply.violation("oauth-error-code", code, show(said), pointer="/error", detail=what)


# ------------------------------------------------------------------------- what is given


@check("getToken.succeeds", proves="getToken.200")
def test_a_client_gets_a_token(catalog: Catalog) -> None:
    """A client that sends its id and secret is answered 200, with an access token and its type."""
    reply = _post(catalog, _own(catalog)).expect(200)
    if not _token_in(reply):
        raise reply.violation("token-empty", "an access token", "an empty one")
    reply.member("token_type")


@check("getToken.opens-the-catalog", proves="getToken.opens-the-catalog")
def test_a_token_opens_the_catalog(catalog: Catalog) -> None:
    """The catalog accepts the tokens that its token endpoint gives."""
    token = _token_in(_post(catalog, _own(catalog)))
    _expect_open(catalog, token, "with a token for the run's client")


@check("getToken.basic-header", proves="getToken.basic-credentials")
def test_a_client_may_send_a_basic_header(catalog: Catalog) -> None:
    """A client may authenticate in a Basic header, with nothing about itself in the form."""
    form = _own(catalog)
    text = f"{form.pop('client_id', '')}:{form.pop('client_secret')}"
    header = {"Authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}
    _token_in(_post(catalog, form, header))


@check("getToken.not-stored", proves="getToken.not-stored")
def test_a_token_is_not_to_be_stored(catalog: Catalog) -> None:
    """An answer with a token forbids caches to keep it."""
    reply = _post(catalog, _own(catalog)).expect(200)
    said = reply.header("cache-control") or "absent"
    if "no-store" not in said.lower():
        raise reply.violation("token-may-be-stored", "Cache-Control: no-store", said)


@check("getToken.exchange-renews", proves="getToken.exchange-renews")
def test_a_token_is_renewed_by_exchange(catalog: Catalog) -> None:
    """A valid token can be exchanged for another that the catalog accepts, as Java does it."""
    old = _token_in(_post(catalog, _own(catalog)))
    form = {
        "grant_type": _EXCHANGE,
        "subject_token": old,
        "subject_token_type": _ACCESS_TOKEN,
        "scope": catalog.target.scope,
    }
    _expect_open(catalog, _token_in(_post(catalog, form, _bearer(old))), "with a renewed token")


@check("getToken.exchange-for-a-user", proves="getToken.exchange-for-a-user")
def test_a_token_for_a_user_opens_the_catalog(catalog: Catalog) -> None:
    """What a user's token is exchanged for, with the catalog's own as actor, opens the catalog."""
    actor = _token_in(_post(catalog, _own(catalog)))
    form = {
        "grant_type": _EXCHANGE,
        "subject_token": _unsecured_jwt("icecheck-user"),
        "subject_token_type": _JWT,
        "actor_token": actor,
        "actor_token_type": _ACCESS_TOKEN,
        "scope": catalog.target.scope,
    }
    reply = _post(catalog, form, _bearer(actor))
    if 400 <= reply.status < 500:
        raise not_applicable(f"the catalog takes no user tokens without a proof ({reply.status})")
    _expect_open(catalog, _token_in(reply), "with a token for a user")


def _unsecured_jwt(subject: str) -> str:
    """Return a token that says whom it is about and proves nothing (RFC 7519, section 6)."""
    parts = [json.dumps(part).encode() for part in ({"alg": "none"}, {"sub": subject})]
    encoded = [base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts]
    return f"{'.'.join(encoded)}."


# ----------------------------------------------------------------------- what is refused


@check("getToken.bad-grant", proves="getToken.400")
def test_an_unknown_grant_is_refused(catalog: Catalog) -> None:
    """A token request without a grant type, or with an unknown one, is refused with 400."""
    own = _own(catalog)
    unnamed = {name: value for name, value in own.items() if name != "grant_type"}
    _post(catalog, unnamed).expect(400, detail="sent no grant_type")
    _post(catalog, {**own, "grant_type": _UNKNOWN_GRANT}).expect(400, detail="unknown grant_type")


@check("getToken.wrong-secret", proves="getToken.401")
def test_a_wrong_secret_is_refused(catalog: Catalog) -> None:
    """A token request with a wrong secret is refused with 401."""
    reply = _post(catalog, {**_own(catalog), "client_secret": _WRONG_SECRET})
    if reply.ok:
        if catalog.call("listNamespaces", headers={"Authorization": ""}).ok:
            raise not_applicable("the catalog asks nobody for credentials")
        detail = "getToken gave a token for a made-up secret"
        raise reply.violation("leak:wrong-secret", "401", "a success", detail=detail)
    reply.expect(401, detail="with a made-up secret")


@check("getToken.unreadable-subject", proves="getToken.subject-is-judged")
def test_an_unreadable_subject_is_refused(catalog: Catalog) -> None:
    """The exchange of a made-up token is refused, whoever asks for it."""
    mine = _token_in(_post(catalog, _own(catalog)))
    form = {
        "grant_type": _EXCHANGE,
        "subject_token": "icecheck-made-up",
        "subject_token_type": _ACCESS_TOKEN,
        "scope": catalog.target.scope,
    }
    reply = _post(catalog, form, _bearer(mine))
    if reply.ok and catalog.call("listNamespaces", headers={"Authorization": ""}).ok:
        raise not_applicable("the catalog asks nobody for credentials")
    reply.expect_refused(400, 401, detail="with a made-up subject token")


@check("getToken.error-codes", proves="getToken.error-codes")
def test_errors_are_named_as_oauth_names_them(catalog: Catalog) -> None:
    """An unknown grant is an unsupported_grant_type, a wrong secret an invalid_client."""
    own = _own(catalog)
    unknown = _post(catalog, {**own, "grant_type": _UNKNOWN_GRANT})
    if not unknown.ok:
        _expect_error(unknown, "unsupported_grant_type", "an unknown grant_type")
    wrong = _post(catalog, {**own, "client_secret": _WRONG_SECRET})
    if not wrong.ok:
        _expect_error(wrong, "invalid_client", "a wrong secret")
