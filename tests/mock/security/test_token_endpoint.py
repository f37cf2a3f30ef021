"""Tokens for clients: what is given, to whom, and what is refused in the words of OAuth2."""

from typing import Any

import httpx
import jwt
import pytest

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings
from icecheck.mock_server.core.clock import VirtualClock
from tests.mock.security.serving import (
    CREDENTIALS,
    NARROW,
    ROOT,
    TOKENS,
    basic,
    claims,
    client_of,
    expect_refused,
)


def test_a_client_gets_a_token_for_its_secret(http: httpx.Client) -> None:
    response = http.post(TOKENS, data=ROOT)
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-store"
    answer = response.json()
    token = answer.pop("access_token")
    assert answer == {"token_type": "bearer", "expires_in": 3600, "scope": "catalog"}
    said = claims(token)
    assert said.pop("jti")
    assert said == {
        "iss": "icecheck",
        "sub": "root",
        "client_id": "root",
        "scope": "catalog",
        "iat": 1_700_000_000,
        "exp": 1_700_003_600,
    }
    assert jwt.get_unverified_header(token) == {"alg": "HS256", "typ": "JWT"}
    allowed = http.get("/v1/config", headers={"Authorization": f"Bearer {token}"})
    assert allowed.status_code == 200


@pytest.mark.parametrize(
    ("form", "headers"),
    [
        pytest.param(ROOT, {}, id="in the body"),
        pytest.param(CREDENTIALS, basic("root:root-secret"), id="Basic"),
        pytest.param(
            {**CREDENTIALS, "client_id": "root"}, basic("root:root-secret"), id="id twice"
        ),
        pytest.param(
            {**CREDENTIALS, "client_secret": "root-secret"}, {}, id="Java: a secret alone"
        ),
        pytest.param(CREDENTIALS, basic(":root-secret"), id="Basic: a secret alone"),
        pytest.param({**ROOT, "client_id": ""}, {}, id="an empty value is no value"),
        pytest.param({**ROOT, "audience": "x", "future": "y"}, {}, id="what nobody knows"),
        pytest.param(
            ROOT, {"Authorization": "Bearer some-old-token"}, id="an old token rides along"
        ),
    ],
)
def test_a_client_authenticates_in_any_documented_way(
    http: httpx.Client, form: dict[str, str], headers: dict[str, str]
) -> None:
    response = http.post(TOKENS, data=form, headers=headers)
    assert response.status_code == 200, response.text
    assert claims(response.json()["access_token"])["sub"] == "root"


def test_basic_credentials_may_be_form_encoded() -> None:
    """RFC 6749, section 2.3.1, wants it so; clients in use do not do it."""
    oauth2 = OAuth2Settings(clients=(Client("a b", "s%c+t"),))
    mock = MockCatalog(oauth2=oauth2, root="memory://root")
    with client_of(mock) as http:
        for text in ("a b:s%c+t", "a+b:s%25c%2Bt"):
            assert http.post(TOKENS, data=CREDENTIALS, headers=basic(text)).status_code == 200


@pytest.mark.parametrize(
    ("form", "headers"),
    [
        pytest.param(CREDENTIALS, {}, id="none"),
        pytest.param({**CREDENTIALS, "client_id": "root"}, {}, id="no secret"),
        pytest.param({**ROOT, "client_secret": "wrong"}, {}, id="wrong secret"),
        pytest.param({**ROOT, "client_secret": "narrow-secret"}, {}, id="somebody else's secret"),
        pytest.param({**ROOT, "client_id": "nobody"}, {}, id="unknown client"),
        pytest.param(CREDENTIALS, basic("root:wrong"), id="Basic: wrong"),
        pytest.param(CREDENTIALS, {"Authorization": "Basic !!!"}, id="Basic: no base64"),
        pytest.param(CREDENTIALS, {"Authorization": "Digest x"}, id="another scheme"),
        pytest.param(CREDENTIALS, {"Authorization": "Bearer x"}, id="a token is no secret"),
    ],
)
def test_an_unknown_client_is_refused(
    http: httpx.Client, form: dict[str, str], headers: dict[str, str]
) -> None:
    expect_refused(http.post(TOKENS, data=form, headers=headers), 401, "invalid_client")


@pytest.mark.parametrize(
    ("content", "headers"),
    [
        pytest.param(b"", {}, id="nothing"),
        pytest.param(b"client_id=root&client_secret=root-secret", {}, id="no grant type"),
        pytest.param(b"grant_type=&client_id=root", {}, id="an empty grant type"),
        pytest.param(b"grant_type=client_credentials&client_id=%zz", {}, id="a bad escape"),
        pytest.param(b"grant_type=client_credentials&client_id=%ff", {}, id="no UTF-8, escaped"),
        pytest.param(b"grant_type=client_credentials&client_id=\xff", {}, id="no UTF-8"),
        pytest.param(
            b"grant_type=client_credentials" + b"&a=b" * 101, {}, id="too many parameters"
        ),
        pytest.param(b"grant_type=client_credentials&scope=a&scope=a", {}, id="a parameter twice"),
        pytest.param(b'{"grant_type":"client_credentials"}', {"Content-Type": "application/json"}),
        pytest.param(
            b"grant_type=client_credentials&client_id=root&client_secret=root-secret",
            basic("root:root-secret"),
            id="two ways to authenticate",
        ),
    ],
)
def test_a_malformed_request_is_refused(
    http: httpx.Client, content: bytes, headers: dict[str, str]
) -> None:
    sent = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    expect_refused(http.post(TOKENS, content=content, headers=sent), 400, "invalid_request")


def test_a_query_that_cannot_be_read_is_refused_in_the_words_of_oauth(http: httpx.Client) -> None:
    response = http.post(f"{TOKENS}?a=%zz", data=ROOT)
    assert (response.status_code, response.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    "grant_type", ["refresh_token", "password", "CLIENT_CREDENTIALS", "x" * 99]
)
def test_an_unknown_grant_is_refused(http: httpx.Client, grant_type: str) -> None:
    response = http.post(TOKENS, data={**ROOT, "grant_type": grant_type})
    expect_refused(response, 400, "unsupported_grant_type")


def test_a_grant_that_a_client_may_not_use_is_refused(http: httpx.Client) -> None:
    form = {**CREDENTIALS, "client_id": "exchanger", "client_secret": "exchanger-secret"}
    expect_refused(http.post(TOKENS, data=form), 400, "unauthorized_client")


def test_a_client_with_scopes_gets_those_it_asks_for(http: httpx.Client) -> None:
    def scope(**form: str) -> str:
        answer = http.post(TOKENS, data={**NARROW, **form}).json()
        assert claims(answer["access_token"])["scope"] == answer["scope"]
        return str(answer["scope"])

    assert scope() == "catalog read"
    assert scope(scope="read") == "read"
    assert scope(scope="read catalog") == "read catalog"
    refused = http.post(TOKENS, data={**NARROW, "scope": "read write"})
    expect_refused(refused, 400, "invalid_scope")


def test_a_client_without_scopes_may_ask_for_any(http: httpx.Client) -> None:
    asked = http.post(TOKENS, data={**ROOT, "scope": "PRINCIPAL_ROLE:ALL"})
    assert asked.json()["scope"] == "PRINCIPAL_ROLE:ALL"


@pytest.mark.parametrize("scope", ['"', "a  b", "a\tb", "ä", "x" * 201, " ".join("abcdefghijk")])
def test_a_malformed_scope_is_refused(http: httpx.Client, scope: str) -> None:
    expect_refused(http.post(TOKENS, data={**ROOT, "scope": scope}), 400, "invalid_scope")


def test_an_open_server_gives_anybody_a_token(clock: VirtualClock) -> None:
    mock = MockCatalog(clock=clock, root="memory://root")
    with client_of(mock) as http:
        answer = http.post(TOKENS, data={**ROOT, "client_id": "who"}).json()
        assert claims(answer["access_token"])["sub"] == "who"
        expect_refused(http.post(TOKENS, data=CREDENTIALS), 401, "invalid_client")
        assert http.get("/v1/namespaces").status_code == 200


def test_a_server_with_a_static_token_alone_knows_no_clients() -> None:
    mock = MockCatalog(token="static", root="memory://root")
    with client_of(mock) as http:
        expect_refused(http.post(TOKENS, data=ROOT), 401, "invalid_client")


def test_the_same_seed_and_clock_give_the_same_token(clock: VirtualClock) -> None:
    def answer(seed: int) -> bytes:
        oauth2 = OAuth2Settings(clients=(Client("root", "root-secret"),))
        mock = MockCatalog(seed=seed, clock=clock, root="memory://root", oauth2=oauth2)
        with client_of(mock) as http:
            return http.post(TOKENS, data=ROOT).content

    assert answer(1) == answer(1)
    assert answer(1) != answer(2)


def test_no_two_tokens_are_the_same(http: httpx.Client) -> None:
    tokens = {http.post(TOKENS, data=ROOT).json()["access_token"] for _ in range(3)}
    assert len(tokens) == 3


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT"])
def test_the_endpoint_takes_post_only(mock: MockCatalog, method: str) -> None:
    with client_of(mock, mock.access_token("root")) as http:
        response = http.request(method, TOKENS)
        assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_a_fault_at_the_endpoint_has_its_words_too(mock: MockCatalog, http: httpx.Client) -> None:
    with mock.fault("server-error", operation="getToken", status=503):
        response = http.post(TOKENS, data=ROOT)
    assert (response.status_code, response.json()["error"]) == (503, "invalid_request")
    assert http.post(TOKENS, data=ROOT).status_code == 200


def test_no_secret_is_shown() -> None:
    shown = repr(Client("root", "root-secret")) + repr(
        OAuth2Settings(clients=(Client("root", "root-secret"),))
    )
    assert "root'" in shown
    assert "root-secret" not in shown


@pytest.mark.parametrize(
    "settings",
    [
        {"clients": ()},
        {"clients": (Client("a", "s"), Client("a", "t"))},
        {"clients": (Client("a", "s"),), "token_seconds": 0},
        {"clients": (Client("a", "s"),), "exchange_seconds": -1},
        {"clients": (Client("a", "s"),), "expired_status": 403},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        OAuth2Settings(**settings)


@pytest.mark.parametrize("given", [("a:b", "s"), ("a", "")])
def test_a_client_that_nobody_could_be_is_refused(given: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="client"):
        Client(*given)
