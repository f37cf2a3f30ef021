"""Who is let in with a token, for how long, and what the others are told."""

from collections.abc import Callable

import httpx
import jwt
import pytest

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings
from icecheck.mock_server.core.clock import VirtualClock
from icecheck.mock_server.security.callers import Caller, Unknown
from tests.mock.security.serving import CLIENTS, NOW, NOW_MS, ROOT, TOKENS, bearer, client_of

NewMock = Callable[..., MockCatalog]


def forged(**changed: object) -> str:
    claims = {"iss": "icecheck", "sub": "root", "client_id": "root", "scope": "catalog"}
    payload = {**claims, "iat": NOW, "exp": NOW + 3600, **changed}
    return jwt.encode(payload, "k" * 32, algorithm="HS256")


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("x", id="opaque"),
        pytest.param("a.b.c", id="three parts"),
        pytest.param(forged(), id="another key"),
        pytest.param(jwt.encode({"sub": "root"}, "", algorithm="none"), id="unsecured"),
        pytest.param("x" * 10_000 + "..", id="long"),
        pytest.param("ä.ö.ü", id="no ASCII"),
        pytest.param("eyJhbGciOiJIUzI1NiJ9." + "W1tb" * 1000 + ".x", id="deep"),
        pytest.param("W1tb" * 1000 + ".e30.x", id="a deep head"),
    ],
)
def test_a_token_of_somebody_else_is_refused(http: httpx.Client, token: str) -> None:
    headers = {b"Authorization": b"Bearer " + token.encode("latin-1")}
    response = http.get("/v1/config", headers=headers)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == 'Bearer error="invalid_token"'


def test_a_changed_token_is_refused(mock: MockCatalog) -> None:
    head, payload, signature = mock.access_token("reader").split(".")
    other = mock.access_token("root").split(".")[1]
    for token in (f"{head}.{other}.{signature}", f"{head}.{payload}.", f"{head}.{payload}.AAAA"):
        with client_of(mock, token) as http:
            assert http.get("/v1/config").status_code == 401


@pytest.mark.parametrize("status", [401, 419])
def test_a_token_ends_on_the_servers_clock(
    new_mock: NewMock, clock: VirtualClock, status: int
) -> None:
    mock = new_mock(token_seconds=60, expired_status=status)
    with client_of(mock, mock.access_token("root")) as http:
        clock.advance(59_999)
        assert http.get("/v1/config").status_code == 200
        clock.advance(1)
        response = http.get("/v1/config")
        assert (response.status_code, response.json()["error"]["code"]) == (status, status)
        if status == 401:
            assert 'error="invalid_token"' in response.headers["www-authenticate"]
        else:
            assert response.json()["error"]["type"] == "AuthenticationTimeoutException"
        assert http.head("/v1/namespaces/a").status_code == status
        # Whoever comes with an expired token may still ask for a new one.
        renewed = http.post(TOKENS, data=ROOT)
        assert renewed.status_code == 200
        headers = bearer(renewed.json()["access_token"])
        assert http.get("/v1/config", headers=headers).status_code == 200


def test_only_an_expired_token_is_answered_419(new_mock: NewMock) -> None:
    with client_of(new_mock(expired_status=419), forged()) as http:
        assert http.get("/v1/config").status_code == 401
        assert http.get("/v1/config", headers={"Authorization": ""}).status_code == 401


def test_a_token_may_be_given_another_life(mock: MockCatalog, clock: VirtualClock) -> None:
    with client_of(mock, mock.access_token("root", seconds=5)) as http:
        assert http.get("/v1/config").status_code == 200
        clock.advance(5000)
        assert http.get("/v1/config").status_code == 401
    with pytest.raises(KeyError, match="nobody"):
        mock.access_token("nobody")


def test_revoked_tokens_are_refused_at_once(mock: MockCatalog) -> None:
    with client_of(mock, mock.access_token("root")) as http:
        assert http.get("/v1/config").status_code == 200
        mock.revoke_tokens()
        assert http.get("/v1/config").status_code == 401
        headers = bearer(mock.access_token("root"))
        assert http.get("/v1/config", headers=headers).status_code == 200


def test_a_token_that_is_read_while_tokens_are_revoked_is_not_remembered(
    mock: MockCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    security, token = mock.security, f"Bearer {mock.access_token('root')}"
    read = security._read

    def read_and_revoke(authorization: str) -> Caller | Unknown:
        found = read(authorization)
        security.revoke_tokens()
        return found

    with monkeypatch.context() as patch:
        patch.setattr(type(security), "_read", staticmethod(read_and_revoke))
        security.identify(token)
    assert isinstance(security.identify(token), Unknown)


def test_a_static_token_and_clients_live_side_by_side(clock: VirtualClock) -> None:
    oauth2 = OAuth2Settings(clients=CLIENTS)
    mock = MockCatalog(token="static", oauth2=oauth2, clock=clock, root="memory://root")
    for token in ("static", mock.access_token("root")):
        with client_of(mock, token) as http:
            assert http.get("/v1/config").status_code == 200
    with client_of(mock, "other") as http:
        assert http.get("/v1/config").status_code == 401


def test_a_scope_can_be_required(new_mock: NewMock) -> None:
    mock = new_mock(required_scope="catalog")
    with client_of(mock) as http:
        for scope, status in (("catalog", 200), ("other", 403), ("other catalog", 200)):
            token = http.post(TOKENS, data={**ROOT, "scope": scope}).json()["access_token"]
            response = http.get("/v1/config", headers=bearer(token))
            assert response.status_code == status
            if status == 403:
                assert response.json()["error"]["type"] == "ForbiddenException"
                assert "insufficient_scope" in response.headers["www-authenticate"]


def test_two_servers_do_not_take_each_others_tokens() -> None:
    oauth2 = OAuth2Settings(clients=(Client("root", "root-secret"),))
    one, other = (MockCatalog(oauth2=oauth2, root="memory://root") for _ in range(2))
    with client_of(other, one.access_token("root")) as http:
        assert http.get("/v1/config").status_code == 401


def test_what_is_remembered_of_callers_is_bounded(mock: MockCatalog) -> None:
    """A client that asks for a token before every request must not fill the memory."""
    security = mock.security
    for _ in range(4097):
        caller = security.identify(f"Bearer {mock.access_token('root')}")
        assert isinstance(caller, Caller)
    assert len(security._known) <= 4096


def test_the_journal_holds_no_token(mock: MockCatalog) -> None:
    token = mock.access_token("root")
    with client_of(mock, token) as http:
        http.post(TOKENS, data=ROOT)
        http.get("/v1/config")
    entries = repr(mock.journal.find())
    assert "getToken" in entries
    assert token not in entries
    assert "root-secret" not in entries


def test_the_clock_is_the_servers(mock: MockCatalog) -> None:
    decoded = jwt.decode(mock.access_token("root"), options={"verify_signature": False})
    assert decoded["iat"] == NOW_MS // 1000
