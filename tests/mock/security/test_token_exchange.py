"""Tokens for tokens: renewal as Java's client does it, and tokens in the name of a user."""

import base64
from collections.abc import Callable

import httpx
import jwt
import pytest

from icecheck.mock_server import MockCatalog, Permissions
from icecheck.mock_server.core.clock import VirtualClock
from tests.mock.security.serving import (
    NOW,
    ROOT,
    TOKENS,
    basic,
    bearer,
    claims,
    client_of,
    expect_refused,
)

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
TYPE = "urn:ietf:params:oauth:token-type:"
ACCESS_TOKEN = f"{TYPE}access_token"
LIFE_MS = 3_600_000


def exchange(subject: str, kind: str = "access_token", **more: str) -> dict[str, str]:
    form = {"grant_type": EXCHANGE, "subject_token": subject, "subject_token_type": TYPE + kind}
    return {**form, **more}


def user_token(subject: str = "alice", **more: object) -> str:
    """An unsecured JWT, as the document lets users come with one."""
    return jwt.encode({"sub": subject, **more}, "", algorithm="none")


def saml(element: str) -> str:
    return base64.urlsafe_b64encode(f"<saml:Assertion>{element}</saml:Assertion>".encode()).decode()


# ------------------------------------------------------------------------------ renewal


def test_a_valid_token_is_renewed(
    mock: MockCatalog, http: httpx.Client, clock: VirtualClock
) -> None:
    old = http.post(TOKENS, data={**ROOT, "scope": "catalog x"}).json()["access_token"]
    clock.advance(1_800_000)
    response = http.post(TOKENS, data=exchange(old), headers=bearer(old))
    assert response.status_code == 200
    answer = response.json()
    assert answer["issued_token_type"] == ACCESS_TOKEN
    assert (answer["scope"], answer["expires_in"]) == ("catalog x", 3600)
    before, after = claims(old), claims(answer["access_token"])
    changed = {key for key in before if before[key] != after[key]}
    assert changed == {"iat", "exp", "jti"}
    assert after["exp"] == NOW + 1800 + 3600
    clock.advance(1_800_001)
    with client_of(mock, answer["access_token"]) as renewed:
        assert renewed.get("/v1/config").status_code == 200


@pytest.mark.parametrize("headers", [basic("root:root-secret"), {}])
def test_an_expired_token_is_renewed_for_its_client_for_a_while(
    mock: MockCatalog, http: httpx.Client, clock: VirtualClock, headers: dict[str, str]
) -> None:
    """Java's client sends its credential along when its token is over."""
    old = mock.access_token("root")
    form = exchange(old)
    if not headers:
        form |= {"client_id": "root", "client_secret": "root-secret"}
    clock.advance(LIFE_MS + 1)
    assert http.post(TOKENS, data=form, headers=headers).status_code == 200
    clock.advance(LIFE_MS)
    expect_refused(http.post(TOKENS, data=form, headers=headers), 400, "invalid_request")


def test_an_expired_token_is_not_renewed_for_whoever_holds_it(
    mock: MockCatalog, http: httpx.Client, clock: VirtualClock
) -> None:
    old = mock.access_token("root")
    clock.advance(LIFE_MS)
    for headers in (bearer(old), {}):
        response = http.post(TOKENS, data=exchange(old), headers=headers)
        expect_refused(response, 400, "invalid_request")


def test_a_token_is_not_renewed_for_another_client(mock: MockCatalog, http: httpx.Client) -> None:
    form = exchange(mock.access_token("root"))
    response = http.post(TOKENS, data=form, headers=basic("reader:reader-secret"))
    expect_refused(response, 400, "invalid_request")


def test_a_renewed_token_may_do_less_and_never_more(mock: MockCatalog, http: httpx.Client) -> None:
    old = mock.access_token("narrow")
    assert http.post(TOKENS, data=exchange(old, scope="read")).json()["scope"] == "read"
    response = http.post(TOKENS, data=exchange(old, scope="catalog write"))
    expect_refused(response, 400, "invalid_scope")


def test_a_revoked_token_is_not_renewed(mock: MockCatalog, http: httpx.Client) -> None:
    old = mock.access_token("root")
    mock.revoke_tokens()
    response = http.post(TOKENS, data=exchange(old), headers=basic("root:root-secret"))
    expect_refused(response, 400, "invalid_request")


def test_a_client_that_may_not_exchange_is_refused(mock: MockCatalog, http: httpx.Client) -> None:
    response = http.post(TOKENS, data=exchange(mock.access_token("single")))
    expect_refused(response, 400, "unauthorized_client")


@pytest.mark.parametrize("requested", ["access_token", "jwt"])
def test_the_issued_type_is_the_one_asked_for(
    mock: MockCatalog, http: httpx.Client, requested: str
) -> None:
    form = exchange(mock.access_token("root"), requested_token_type=TYPE + requested)
    assert http.post(TOKENS, data=form).json()["issued_token_type"] == TYPE + requested


# -------------------------------------------------------------------------------- users


@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        pytest.param(user_token(), "jwt", id="unsecured JWT"),
        pytest.param(user_token(exp=NOW + 1), "id_token", id="id token"),
        pytest.param(user_token(), "access_token", id="access token of somebody else"),
        pytest.param(user_token(), "refresh_token", id="refresh token"),
        pytest.param(
            jwt.encode({"sub": "alice"}, "k" * 32, algorithm="HS256"), "jwt", id="signed JWT"
        ),
        pytest.param(saml('<saml:NameID Format="x">alice</saml:NameID>'), "saml2", id="SAML 2"),
        pytest.param(saml("<NameIdentifier> alice </NameIdentifier>"), "saml1", id="SAML 1"),
    ],
)
def test_a_users_token_is_exchanged_for_one_in_the_users_name(
    mock: MockCatalog, http: httpx.Client, subject: str, kind: str
) -> None:
    catalog = mock.access_token("root")
    form = exchange(subject, kind, actor_token=catalog, actor_token_type=ACCESS_TOKEN)
    response = http.post(TOKENS, data=form, headers=bearer(catalog))
    assert response.status_code == 200, response.text
    said = claims(response.json()["access_token"])
    assert (said["sub"], said["client_id"], said["act"]) == ("alice", "root", {"sub": "root"})
    assert response.json()["scope"] == "catalog"


def test_a_client_may_also_authenticate_for_a_user_by_its_secret(http: httpx.Client) -> None:
    form = exchange(user_token(), "jwt")
    answer = http.post(TOKENS, data=form, headers=basic("narrow:narrow-secret")).json()
    said = claims(answer["access_token"])
    assert (said["sub"], said["client_id"], said["scope"]) == ("alice", "narrow", "catalog read")


def test_nobody_gets_a_token_for_a_user_without_being_a_client(
    mock: MockCatalog, http: httpx.Client, clock: VirtualClock
) -> None:
    form = exchange(user_token(), "jwt")
    old = mock.access_token("root")
    clock.advance(LIFE_MS)
    for headers in ({}, bearer("made-up"), bearer(old)):
        expect_refused(http.post(TOKENS, data=form, headers=headers), 401, "invalid_client")


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param("opaque", id="opaque"),
        pytest.param("a.b.c", id="three parts and no JWT"),
        pytest.param("!.!.!", id="no base64"),
        pytest.param(user_token(exp=NOW), id="over"),
        pytest.param(user_token(iss="icecheck"), id="forged as ours"),
        pytest.param(jwt.encode({"iss": "x"}, "", algorithm="none"), id="about nobody"),
        pytest.param(user_token(""), id="about nothing"),
        pytest.param(user_token("x" * 501), id="a name without end"),
        pytest.param(f"e30.{'W10' * 5000}.x", id="too long"),
        pytest.param(saml("<NameID></NameID>"), id="SAML about nobody"),
        pytest.param("ä.ö.ü", id="no ASCII"),
    ],
)
def test_a_users_token_that_says_nothing_is_refused(http: httpx.Client, subject: str) -> None:
    """With the code that RFC 8693, section 2.2.2, demands for a token that is not valid."""
    response = http.post(TOKENS, data=exchange(subject), headers=basic("root:root-secret"))
    expect_refused(response, 400, "invalid_request")


@pytest.mark.parametrize(
    "changed",
    [
        {"subject_token": ""},
        {"subject_token_type": ""},
        {"subject_token_type": "access_token"},
        {"actor_token": "x"},
        {"actor_token_type": ACCESS_TOKEN},
        {"actor_token": "x", "actor_token_type": "x"},
        {"actor_token": "not-ours", "actor_token_type": ACCESS_TOKEN},
        {"requested_token_type": "x"},
        {"requested_token_type": f"{TYPE}saml2"},
    ],
)
def test_an_incomplete_exchange_is_refused(http: httpx.Client, changed: dict[str, str]) -> None:
    form = {**exchange(user_token(), "jwt"), **changed}
    response = http.post(TOKENS, data=form, headers=basic("root:root-secret"))
    expect_refused(response, 400, "invalid_request")


def test_an_expired_actor_is_refused(
    mock: MockCatalog, http: httpx.Client, clock: VirtualClock
) -> None:
    actor = mock.access_token("root")
    clock.advance(LIFE_MS)
    form = exchange(user_token(), "jwt", actor_token=actor, actor_token_type=ACCESS_TOKEN)
    response = http.post(TOKENS, data=form, headers=basic("root:root-secret"))
    expect_refused(response, 400, "invalid_request")


def test_a_user_may_do_what_both_the_client_and_the_user_may(
    new_mock: Callable[..., MockCatalog],
) -> None:
    denied = Permissions(denied_namespaces=("b",))
    mock = new_mock(users={"alice": denied})
    for name in ("a", "b"):
        with client_of(mock, mock.access_token("root")) as root:
            assert root.post("/v1/namespaces", json={"namespace": [name]}).status_code == 200
    form = exchange(user_token(), "jwt")
    with client_of(mock) as http:
        headers = basic("reader:reader-secret")
        token = http.post(TOKENS, data=form, headers=headers).json()["access_token"]
    with client_of(mock, token) as alice:
        assert alice.get("/v1/namespaces/a").status_code == 200
        assert alice.get("/v1/namespaces/b").status_code == 403
        assert alice.delete("/v1/namespaces/a").status_code == 403
