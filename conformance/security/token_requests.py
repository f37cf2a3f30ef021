"""Requests to the catalog's own token endpoint, as clients send them."""

import base64
from collections.abc import Mapping

from icecheck.client.catalog import Catalog
from icecheck.findings.symptoms import Severity, declare
from icecheck.objects.reading import not_applicable
from icecheck.replies.expect import Reply

TOKEN_NOT_ACCEPTED = declare(
    "token-not-accepted",
    "Does not accept a token that the catalog itself has given",
    Severity.REFUSED,
)

CLIENT_CREDENTIALS = "client_credentials"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 - a type's name
JWT = "urn:ietf:params:oauth:token-type:jwt"


def asks_here(catalog: Catalog) -> bool:
    """Return whether the run's credential is for the catalog's own token endpoint."""
    target = catalog.target
    return bool(target.credential) and target.token_endpoint == f"{target.base_url}/v1/oauth/tokens"


def client_form(catalog: Catalog) -> dict[str, str]:
    """Return the run's client as form members; raise NotOffered without one.

    The credential is only sent to the server that the user gave it for.
    """
    if not catalog.target.credential:
        raise not_applicable("the run was given no credential to get tokens for")
    if not asks_here(catalog):
        raise not_applicable("the credential is for another server than the catalog")
    client_id, colon, secret = catalog.target.credential.partition(":")
    # Without a colon it is a secret only, as Java's client reads it.
    return (
        {"client_id": client_id, "client_secret": secret} if colon else {"client_secret": client_id}
    )


def own_form(catalog: Catalog) -> dict[str, str]:
    """Return the form by which the run's client requests a token."""
    scope = {"scope": catalog.target.scope} if catalog.target.scope else {}
    return {"grant_type": CLIENT_CREDENTIALS, **client_form(catalog), **scope}


def exchange_form(
    catalog: Catalog, token: str, token_type: str = ACCESS_TOKEN, **more: str
) -> dict[str, str]:
    """Return the form of a token exchange, for a renewal or for a user's token."""
    scope = {"scope": catalog.target.scope} if catalog.target.scope else {}
    subject = {"subject_token": token, "subject_token_type": token_type}
    return {"grant_type": EXCHANGE, **subject, **more, **scope}


def basic(form: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return a form without its client, and a Basic header with the client."""
    rest = {k: v for k, v in form.items() if k not in {"client_id", "client_secret"}}
    text = f"{form.get('client_id', '')}:{form['client_secret']}"
    return rest, {"Authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


def token_in(reply: Reply) -> str:
    """Return the token of an answer, which must have one."""
    return str(reply.expect(200).member("access_token"))
