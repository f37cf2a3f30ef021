"""Tokens and signatures as flows of httpx: a plain client sends what a connection would."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from icecheck.wire.auth import BearerAuth, ClientCredentials, TokenRefused, drive
from icecheck.wire.signing import SignedAuth, Signer
from tests.unit.access.token_server import ENDPOINT, KEYS, Clock, TokenServer

SOURCE = ClientCredentials("me:hush-hush", ENDPOINT, "catalog")


@pytest.fixture
def server() -> TokenServer:
    return TokenServer()


def client(server: Callable[[httpx.Request], httpx.Response], auth: httpx.Auth) -> httpx.Client:
    return httpx.Client(auth=auth, transport=httpx.MockTransport(server))


def test_a_token_that_was_given_is_sent(server):
    client(server, BearerAuth("mine")).get("http://h/v1/config")
    assert server.shown == ["Bearer mine"]


def test_without_token_and_source_requests_go_as_they_are(server):
    client(server, BearerAuth()).get("http://h/v1/config")
    assert server.shown == [None]


def test_a_token_is_fetched_once_with_the_client_credentials_grant(server):
    using = client(server, BearerAuth(source=SOURCE))
    for _ in range(3):
        using.get("http://h/v1/config")
    assert server.shown == ["Bearer t1"] * 3
    form = {"client_id": ["me"], "client_secret": ["hush-hush"], "scope": ["catalog"]}
    assert server.forms == [form | {"grant_type": ["client_credentials"]}]


def test_a_credential_without_a_colon_is_a_secret_only(server):
    source = ClientCredentials("hush-hush", ENDPOINT, "all")
    client(server, BearerAuth(source=source)).get("http://h/v1/config")
    [form] = server.forms
    assert form["client_secret"] == ["hush-hush"]
    assert "client_id" not in form


@pytest.mark.parametrize(
    ("expires_in", "lasts"),
    [(100, 90), (3_600, 3_590), (5, 4.5), (10**30, 366 * 86_400 - 10)],
)
def test_a_token_is_renewed_a_little_before_it_expires(expires_in, lasts):
    clock, server = Clock(), TokenServer(expires_in=expires_in)
    using = client(server, BearerAuth(source=SOURCE, now=clock.now))
    using.get("http://h/v1/config")
    clock.seconds += lasts - 0.25
    using.get("http://h/v1/config")
    assert server.shown == ["Bearer t1", "Bearer t1"]
    clock.seconds += 0.25
    using.get("http://h/v1/config")
    assert server.shown[-1] == "Bearer t2"
    clock.seconds += lasts - 0.25
    using.get("http://h/v1/config")
    assert len(server.forms) == 2


@pytest.mark.parametrize("told", [{}, {"expires_in": None}, {"expires_in": True},
                                  {"expires_in": "60"}, {"expires_in": []}])  # fmt: skip
def test_a_token_without_a_lifetime_is_kept(told):
    clock, server = Clock(), TokenServer(**told)
    using = client(server, BearerAuth(source=SOURCE, now=clock.now))
    for _ in range(2):
        using.get("http://h/v1/config")
        clock.seconds += 10**9
    assert len(server.forms) == 1


def test_a_token_that_expired_at_once_is_fetched_for_each_request():
    clock, server = Clock(), TokenServer(expires_in=0)
    using = client(server, BearerAuth(source=SOURCE, now=clock.now))
    for _ in range(3):
        using.get("http://h/v1/config")
    assert server.shown == ["Bearer t1", "Bearer t2", "Bearer t3"]


def test_a_401_renews_the_token_once(server):
    server.accepted = {"t2"}
    answer = client(server, BearerAuth(source=SOURCE)).post("http://h/v1/x", content=b"{}")
    assert answer.status_code == 200
    assert server.shown == ["Bearer t1", "Bearer t2"]
    assert [r.content for r in server.asked if str(r.url) != ENDPOINT] == [b"{}", b"{}"]


def test_a_401_to_a_fresh_token_is_the_answer(server):
    server.accepted = set()
    answer = client(server, BearerAuth(source=SOURCE)).get("http://h/v1/x")
    assert (answer.status_code, server.shown) == (401, ["Bearer t1", "Bearer t2"])


def test_a_401_without_a_source_is_the_answer(server):
    server.accepted = set()
    answer = client(server, BearerAuth("mine")).get("http://h/v1/x")
    assert (answer.status_code, server.shown) == (401, ["Bearer mine"])


def test_threads_that_are_refused_together_fetch_one_token(server):
    auth = BearerAuth("old", SOURCE)
    server.accepted = {"t1"}
    all_refused = threading.Barrier(4, timeout=30)
    with ThreadPoolExecutor(4) as threads:
        # Whoever still shows the old token waits until all others have shown it too.
        def meet() -> None:
            if len(server.forms) == 0:
                all_refused.wait()

        server.before_answer = meet
        done = list(threads.map(lambda _: client(server, auth).get("http://h/v1/x"), range(4)))
    assert [answer.status_code for answer in done] == [200] * 4
    assert len(server.forms) == 1


def test_threads_that_find_a_token_expired_together_fetch_one():
    clock, server = Clock(), TokenServer(expires_in=100)
    auth = BearerAuth(source=SOURCE, now=clock.now)
    start = threading.Barrier(4, timeout=30)

    def ask(_: int) -> None:
        start.wait()
        client(server, auth).get("http://h/v1/x")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(ask, range(4)))
        assert len(server.forms) == 1
        clock.seconds += 100
        list(threads.map(ask, range(4)))
    assert len(server.forms) == 2


def test_a_flow_that_is_given_up_lets_others_fetch(server):
    auth = BearerAuth(source=SOURCE)

    def failing(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    for _ in range(2):
        with pytest.raises(httpx.ConnectError):
            client(failing, auth).get("http://h/v1/x")
    assert client(server, auth).get("http://h/v1/x").status_code == 200


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(401, json={"error": "invalid_client"}),
        httpx.Response(200, json={"error": "invalid_client"}),
        httpx.Response(200, json=["t"]),
        httpx.Response(200, json={"access_token": 7}),
        httpx.Response(200, json={"access_token": ""}),
        httpx.Response(201, json={"access_token": "hush-token"}),
        httpx.Response(200, json={"access_token": "hush\ntoken"}),
        httpx.Response(200, json={"access_token": "hush-tökén"}),
        httpx.Response(200, html="<p>hush</p>"),
        httpx.Response(204),
    ],
)
def test_an_answer_without_a_usable_token_is_refused_and_tells_no_secret(answer):
    auth = BearerAuth(source=SOURCE)
    with pytest.raises(TokenRefused) as caught:
        client(lambda _: answer, auth).get("http://h/v1/x")
    assert "hush" not in str(caught.value)
    assert auth.token is None


# ---- driving a flow without a client


def test_a_token_is_had_without_a_request_to_send_it_with(server):
    auth = BearerAuth(source=SOURCE)
    assert drive(auth.current_token(), server) == "t1"
    assert drive(auth.current_token(), server) == "t1"
    assert drive(auth.current_token(refused="t1"), server) == "t2"
    assert drive(auth.current_token(refused="t1"), server) == "t2"
    assert drive(BearerAuth().current_token(), server) is None


def test_a_flow_ends_where_its_driver_ends_it(server):
    closed = []

    def flow() -> Iterator[httpx.Request]:
        try:
            yield httpx.Request("GET", "http://h/1")
            yield httpx.Request("GET", "http://h/2")
        finally:
            closed.append(True)

    assert drive(flow(), lambda _: None) is None
    assert closed == [True]


# ---- signatures


def signed(inner: httpx.Auth | None = None) -> SignedAuth:
    return SignedAuth(Signer(KEYS), inner)


def test_what_a_token_flow_sends_is_signed_and_its_own_request_is_not(server):
    client(server, signed(BearerAuth(source=SOURCE))).get("http://h/v1/x")
    for_token, request = server.asked
    assert not {"authorization", "x-amz-date"} & {*for_token.headers}
    assert request.headers["original-authorization"] == "Bearer t1"
    assert request.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert request.headers["x-amz-security-token"] == "temporary-1"


def test_a_request_is_signed_again_with_the_token_that_was_renewed(server):
    server.accepted = {"t2"}
    answer = client(server, signed(BearerAuth(source=SOURCE))).post("http://h/v1/x", content=b"{}")
    assert answer.status_code == 200
    sent = [r.headers for r in server.asked if str(r.url) != ENDPOINT]
    assert [h["original-authorization"] for h in sent] == ["Bearer t1", "Bearer t2"]
    assert sent[0]["authorization"] != sent[1]["authorization"]
    for headers in sent:
        assert headers.get_list("x-amz-date", split_commas=True) == [headers["x-amz-date"]]


def test_a_request_without_a_token_is_signed_too(server):
    request = httpx.Request("PUT", "http://h/v1/x", content=iter([b"a", b"b"]))
    client(server, signed()).send(request)
    [sent] = server.asked
    assert sent.headers["authorization"].startswith("AWS4-HMAC-SHA256 ")
    assert "original-authorization" not in sent.headers
    assert sent.content == b"ab"


def test_headers_that_a_proxy_may_change_are_not_signed(server):
    client(server, signed()).post("http://h/v1/x", content=b"{}", headers={"X-One": "1"})
    [sent] = server.asked
    said = sent.headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    assert {"host", "x-one", "x-amz-content-sha256", "x-amz-date"} <= {*said}
    assert not {"connection", "content-length"} & {*said}
