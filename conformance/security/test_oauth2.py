"""Checks of the catalog's own token endpoint: client credentials and token exchange."""

from icecheck.client.catalog import Catalog
from icecheck.conformance.kit.other_principals import bearer
from icecheck.conformance.security.forged_tokens import unsigned_jwt
from icecheck.conformance.security.token_requests import (
    ACCESS_TOKEN,
    JWT,
    TOKEN_NOT_ACCEPTED,
    basic,
    exchange_form,
    own_form,
    token_in,
)
from icecheck.findings.shared_symptoms import LEAK
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import Reply
from icecheck.replies.matching import show

_OAUTH_ERROR_CODE = declare(
    "oauth-error-code",
    "Refuses a token with another error code than the document's",
    Severity.SHAPE,
)
_TOKEN_EMPTY = declare(
    "token-empty", "Answers a token request with an empty token", Severity.REFUSED
)
_TOKEN_MAY_BE_STORED = declare(
    "token-may-be-stored", "Lets caches keep an answer that has a token", Severity.EXPOSED
)

_UNKNOWN_GRANT = "icecheck-unknown-grant"
_WRONG_SECRET = "icecheck-wrong-secret"  # noqa: S105 - made up, to be refused


def _expect_open(catalog: Catalog, token: str, what: str) -> None:
    """Judge that the catalog does not answer 401 to a token."""
    query = catalog.target.warehouse_query
    reply = catalog.call("getConfig", query=query, headers=bearer(token))
    if reply.status == 401:
        raise reply.violation(TOKEN_NOT_ACCEPTED, "an answer", "401", detail=what)


def _expect_error(reply: Reply, what: str, *codes: str) -> None:
    said = object_in(reply).get("error")
    if said not in codes:
        due = " or ".join(codes)
        raise reply.violation(_OAUTH_ERROR_CODE, due, show(said), pointer="/error", detail=what)


# ------------------------------------------------------------------------- successes


@check("getToken.succeeds", proves="getToken.200")
def test_a_client_gets_a_token(catalog: Catalog) -> None:
    """A client that sends its id and secret is answered 200, with an access token and its type."""
    reply = catalog.get_token(own_form(catalog)).expect(200)
    if not token_in(reply):
        raise reply.violation(_TOKEN_EMPTY, "an access token", "an empty one")
    reply.member("token_type")


@check("getToken.opens-the-catalog")
def test_a_token_opens_the_catalog(catalog: Catalog) -> None:
    """The catalog accepts the tokens that its token endpoint gives."""
    token = token_in(catalog.get_token(own_form(catalog)))
    _expect_open(catalog, token, "with a token for the run's client")


@check("getToken.basic-header", proves="getToken.basic-credentials")
def test_a_client_may_send_a_basic_header(catalog: Catalog) -> None:
    """A client may send its id and secret in a Basic header instead of the form."""
    token_in(catalog.get_token(*basic(own_form(catalog))))


@check("getToken.not-stored")
def test_a_token_is_not_to_be_stored(catalog: Catalog) -> None:
    """An answer with a token forbids caches to keep it."""
    reply = catalog.get_token(own_form(catalog)).expect(200)
    said = reply.header("cache-control") or "absent"
    if "no-store" not in said.lower():
        raise reply.violation(_TOKEN_MAY_BE_STORED, "Cache-Control: no-store", said)


@check("getToken.exchange-renews")
def test_a_token_is_renewed_by_exchange(catalog: Catalog) -> None:
    """A valid token can be exchanged for another that the catalog accepts, as Java does it."""
    old = token_in(catalog.get_token(own_form(catalog)))
    renewed = catalog.get_token(exchange_form(catalog, old), bearer(old))
    _expect_open(catalog, token_in(renewed), "with a renewed token")


@check("getToken.exchange-for-a-user")
def test_a_token_for_a_user_opens_the_catalog(catalog: Catalog) -> None:
    """A token exchanged for a user's token, with the catalog's own as actor, is accepted."""
    actor = token_in(catalog.get_token(own_form(catalog)))
    form = exchange_form(
        catalog,
        unsigned_jwt({"sub": "icecheck-user"}),
        JWT,
        actor_token=actor,
        actor_token_type=ACCESS_TOKEN,
    )
    reply = catalog.get_token(form, bearer(actor))
    if 400 <= reply.status < 500:
        raise not_applicable(f"the catalog takes no user tokens without a proof ({reply.status})")
    _expect_open(catalog, token_in(reply), "with a token for a user")


# ----------------------------------------------------------------------- refusals


@check("getToken.bad-grant", proves="getToken.400")
def test_an_unknown_grant_is_refused(catalog: Catalog) -> None:
    """A token request without a grant type, or with an unknown one, is refused with 400."""
    own = own_form(catalog)
    unnamed = {name: value for name, value in own.items() if name != "grant_type"}
    catalog.get_token(unnamed).expect(400, detail="sent no grant_type")
    catalog.get_token({**own, "grant_type": _UNKNOWN_GRANT}).expect(
        400, detail="unknown grant_type"
    )


@check("getToken.wrong-secret", proves="getToken.401")
def test_a_wrong_secret_is_refused(catalog: Catalog) -> None:
    """A token request with a wrong secret is refused with 400 or 401."""
    reply = catalog.get_token({**own_form(catalog), "client_secret": _WRONG_SECRET})
    if reply.ok:
        if catalog.call("listNamespaces", headers={"Authorization": ""}).ok:
            raise not_applicable("the catalog asks for no credentials")
        detail = "getToken gave a token for a made-up secret"
        raise reply.violation(LEAK.of("wrong-secret"), "400 or 401", "a success", detail=detail)
    reply.expect(400, 401, detail="with a made-up secret")


@check("getToken.unreadable-subject", proves="getToken.subject-is-judged")
def test_an_unreadable_subject_is_refused(catalog: Catalog) -> None:
    """The exchange of a subject token that no server issued is refused."""
    mine = token_in(catalog.get_token(own_form(catalog)))
    form = exchange_form(catalog, "icecheck-made-up")
    reply = catalog.get_token(form, bearer(mine))
    if reply.ok and catalog.call("listNamespaces", headers={"Authorization": ""}).ok:
        raise not_applicable("the catalog asks for no credentials")
    reply.expect_refused(400, 401, detail="with a made-up subject token")


@check("getToken.error-codes")
def test_errors_are_named_as_oauth_names_them(catalog: Catalog) -> None:
    """A refused token request has the error code of OAuth2 for what is wrong with it."""
    own = own_form(catalog)
    unnamed = {name: value for name, value in own.items() if name != "grant_type"}
    # A grant that is not named may be read as one that is not known.
    of_grants = ("unsupported_grant_type",)
    for what, form, codes in (
        ("an unknown grant_type", {**own, "grant_type": _UNKNOWN_GRANT}, of_grants),
        ("no grant_type", unnamed, ("invalid_request", *of_grants)),
        ("a wrong secret", {**own, "client_secret": _WRONG_SECRET}, ("invalid_client",)),
    ):
        reply = catalog.get_token(form)
        if not reply.ok:
            _expect_error(reply, what, *codes)
