"""Tokens of a connection: renewed by its clock and after a 401, within its limits, unrecorded."""

import gzip

import httpx
import pytest

from icecheck.targets.target import Principal, Target
from icecheck.wire import answers
from icecheck.wire.connection import Connection, TargetUnusable, Wire
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.unreachable import CredentialsEnded, Unreachable
from tests.kit.contracts import CONTRACT
from tests.unit.access.token_server import ENDPOINT, KEYS, Clock, TokenServer

CREDENTIAL = "me:hush-hush"


def connection(handler, slept=None, clock=None, **target) -> Connection:
    given = Target("http://h", **({"credential": CREDENTIAL} | target))
    wait = [].append if slept is None else slept.append
    return Connection(given, CONTRACT, httpx.MockTransport(handler), wait, (clock or Clock()).now)


def wire(operation="listNamespaces", method="GET", headers=None, body=None, url="http://h/v1/ns"):
    return Wire("c", 1, Step.DO, operation, method, url, headers or {}, body)


def sent(using: Connection, what: Wire) -> list[Exchange]:
    recorded: list[Exchange] = []
    using.send(what, recorded.append)
    return recorded


def test_a_token_expires_by_the_clock_of_the_connection():
    clock, server = Clock(), TokenServer(expires_in=3_600)
    using = connection(server, clock=clock)
    for seconds in (0, 3_589, 1, 3_589):
        clock.seconds += seconds
        using.send(wire(), lambda _: None)
    assert server.shown == ["Bearer t1", "Bearer t1", "Bearer t2", "Bearer t2"]


def test_requests_for_tokens_are_counted_and_not_recorded():
    server = TokenServer()
    using = connection(server)
    recorded = sent(using, wire())
    assert [e.url for e in recorded] == ["http://h/v1/ns"]
    assert (using.requests, sum(map(len, using.latencies_ms.values()))) == (2, 2)


def test_a_401_is_recorded_and_so_is_what_the_new_token_brings():
    server = TokenServer()
    server.accepted = {"t2"}
    using = connection(server)
    recorded = sent(using, wire("createNamespace", "POST", {"Idempotency-Key": "k"}, b"{}"))
    assert [e.status for e in recorded] == [401, 200]
    assert [e.request_headers for e in recorded] == [
        (
            ("Accept", "application/json"),
            ("Content-Type", "application/json"),
            ("Authorization", f"Bearer {token}"),
            ("Idempotency-Key", "k"),
        )
        for token in ("t1", "t2")
    ]


def test_the_rate_that_the_user_allows_holds_for_what_is_sent_again():
    server, slept = TokenServer(), []
    server.accepted = {"t2"}
    using = connection(server, slept, requests_per_second=2)
    assert len(sent(using, wire())) == 2
    assert slept == [0.5]


def test_a_401_to_the_config_is_the_answer():
    server = TokenServer()
    server.accepted = {"t2"}
    [exchange] = sent(connection(server), wire("getConfig"))
    assert exchange.status == 401
    assert server.shown == ["Bearer t1"]


def test_a_request_under_a_name_of_its_own_needs_no_token():
    server = TokenServer()
    using = connection(server)
    for said in ("", "Bearer other"):
        using.send(wire(headers={"Authorization": said}), lambda _: None)
    assert (server.shown, server.forms) == ([None, "Bearer other"], [])


@pytest.mark.parametrize("given", ["authorization", "Authorization", "AUTHORIZATION"])
@pytest.mark.parametrize("said", [{"Authorization": ""}, {"authorization": ""}])
def test_taking_the_authorization_away_takes_it_away_however_it_is_spelled(given, said):
    server = TokenServer()
    using = connection(server, credential=None, headers={given: "Bearer mine"})
    using.send(wire(headers=said), lambda _: None)
    using.send(wire(), lambda _: None)
    assert server.shown == [None, "Bearer mine"]


@pytest.mark.parametrize("name", ["authorization", "Authorization"])
def test_a_token_replaces_an_authorization_among_the_headers_however_it_is_spelled(name):
    server = TokenServer()
    [exchange] = sent(connection(server, headers={name: "Bearer of-headers"}), wire())
    assert server.shown == ["Bearer t1"]
    assert dict(exchange.request_headers)["Authorization"] == "Bearer t1"


def test_a_header_of_the_user_replaces_the_usual_one_however_it_is_spelled():
    server = TokenServer()
    using = connection(server, credential=None, headers={"accept": "text/plain"})
    [exchange] = sent(using, wire())
    assert server.asked[0].headers.get_list("accept") == ["text/plain"]
    assert exchange.request_headers == (("accept", "text/plain"),)


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.Response(429, headers={"Retry-After": "3"}),
        httpx.Response(503, headers={"Retry-After": "3"}),
        httpx.Response(502, html="<h1>Bad Gateway</h1>"),
        httpx.ReadError("reset"),
    ],
    ids=["429", "503", "page", "reset"],
)
def test_a_token_endpoint_in_trouble_is_asked_again(trouble):
    server, slept, left = TokenServer(), [], [trouble, trouble]

    def handler(request: httpx.Request) -> httpx.Response:
        if str(request.url) == ENDPOINT and left:
            answer = left.pop()
            if isinstance(answer, Exception):
                raise answer
            return answer
        return server(request)

    [exchange] = sent(connection(handler, slept), wire("createNamespace", "POST", body=b"{}"))
    assert exchange.status == 200
    assert len(slept) == 2


def test_a_token_endpoint_that_throttles_for_ever_is_unreachable():
    slept, recorded = [], []
    using = connection(lambda _: httpx.Response(429), slept)
    with pytest.raises(Unreachable):
        using.send(wire(), recorded.append)
    assert recorded == []
    assert 0 < sum(slept) <= 60


def test_what_a_token_endpoint_inflates_is_limited(monkeypatch):
    monkeypatch.setattr(answers, "_BODY_BYTES_MAX", 1_000_000)
    bomb = gzip.compress(bytes(50_000_000), mtime=0)
    pieces: list[int] = []

    class Endless(httpx.SyncByteStream):
        def __iter__(self):
            pieces.append(1)
            yield bomb

    def handler(request: httpx.Request) -> httpx.Response:
        assert str(request.url) == ENDPOINT
        return httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=Endless())

    recorded: list[Exchange] = []
    with pytest.raises(Unreachable, match="longer than 1000000 bytes"):
        connection(handler).send(wire(), recorded.append)
    assert recorded == []
    assert len(pieces) == 2  # it will not be better the fifth time


def test_a_token_is_read_from_an_answer_that_is_compressed_or_has_odd_headers():
    body = gzip.compress(b'{"access_token": "zipped", "token_type": "bearer"}')
    odd = [("X-Odd", "ä".encode()), ("Content-Encoding", "gzip"), ("Content-Length", "7")]
    shown = []

    def handler(request: httpx.Request) -> httpx.Response:
        if str(request.url) == ENDPOINT:
            return httpx.Response(200, headers=odd, stream=httpx.ByteStream(body))
        shown.append(request.headers["authorization"])
        return httpx.Response(200, headers=odd[:1])

    [exchange] = sent(connection(handler), wire())
    assert (exchange.status, shown) == (200, ["Bearer zipped"])


def test_a_signed_request_is_recorded_with_what_was_signed():
    server = TokenServer()
    [exchange] = sent(connection(server, sigv4=KEYS), wire(headers={"X-One": "1"}))
    assert [name for name, _ in exchange.request_headers] == [
        "Accept",
        "Original-Authorization",
        "X-One",
        "x-amz-content-sha256",
        "X-Amz-Date",
        "X-Amz-Security-Token",
        "Authorization",
    ]
    said = dict(exchange.request_headers)["Authorization"]
    names = (
        "accept;host;original-authorization;x-amz-content-sha256;x-amz-date;x-amz-security-token"
    )
    assert f"SignedHeaders={names};x-one," in said


def test_a_host_that_the_user_names_is_sent_signed_and_recorded():
    server = TokenServer()
    using = connection(server, sigv4=KEYS, headers={"Host": "catalog.example.com"})
    [exchange] = sent(using, wire())
    assert ("Host", "catalog.example.com") in exchange.request_headers
    [_, request] = server.asked
    assert request.headers.get_list("host") == ["catalog.example.com"]


def test_a_credential_that_is_refused_later_has_ended():
    clock, server, refusing = Clock(), TokenServer(expires_in=100), []

    def handler(request: httpx.Request) -> httpx.Response:
        if refusing and str(request.url) == ENDPOINT:
            return httpx.Response(401, json={"error": "invalid_client"})
        return server(request)

    using = connection(handler, clock=clock)
    using.send(wire(), lambda _: None)
    refusing.append(True)
    clock.seconds += 100
    with pytest.raises(CredentialsEnded, match="invalid_client") as caught:
        using.send(wire(), lambda _: None)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("token", ["hush-tökén", "hush ", "\thush"])
def test_a_token_that_cannot_be_sent_is_no_token(token):
    answer = httpx.Response(200, json={"access_token": token})
    with pytest.raises(TargetUnusable, match="--credential") as caught:
        connection(lambda _: answer).send(wire(), lambda _: None)
    assert "hush" not in str(caught.value)
    with pytest.raises(TargetUnusable, match="cannot be sent"):
        connection(TokenServer()).use_token(token)


def test_the_second_principals_token_is_fetched_renewed_and_hidden():
    clock, server = Clock(), TokenServer(expires_in=100)
    server.told["access_token"] = "hush-of-second"
    using = connection(
        server, clock=clock, credential=None, token="hush-of-run",
        second=Principal(credential="other:hush-other"),
    )  # fmt: skip
    assert [using.second_token() for _ in range(2)] == ["hush-of-second"] * 2
    assert len(server.forms) == 1
    assert "hush" not in using.redactor.text("GET /hush-of-second: hush-of-run")
    clock.seconds += 100
    using.second_token()
    assert len(server.forms) == 2


def test_a_second_principal_who_is_refused_names_the_option():
    refused = httpx.Response(401, json={"error": "invalid_client"})
    using = connection(lambda _: refused, second=Principal(credential="other:hush-other"))
    with pytest.raises(TargetUnusable, match="--second-credential") as caught:
        using.second_token()
    assert "hush" not in str(caught.value)


def test_a_fetched_token_is_hidden_before_its_request_is_sent():
    hidden = []

    def handler(request: httpx.Request) -> httpx.Response:
        if str(request.url) == ENDPOINT:
            return httpx.Response(200, json={"access_token": "plain-words-1"})
        hidden.append(using.redactor.text("the path /v1/plain-words-1 is unknown"))
        return httpx.Response(200)

    using = connection(handler)
    using.send(wire(), lambda _: None)
    assert "plain-words-1" not in hidden[0]


def test_cleaning_waits_for_a_token_also_after_the_stop():
    server, left = TokenServer(), [httpx.Response(429, headers={"Retry-After": "1"})]

    def handler(request: httpx.Request) -> httpx.Response:
        return left.pop() if left and str(request.url) == ENDPOINT else server(request)

    using = connection(handler)
    using.stopped.set()
    undone = Wire("c", 1, Step.UNDO, "dropNamespace", "DELETE", "http://h/v1/ns/a", {}, None)
    assert using.send(undone, lambda _: None).status == 200


def test_what_cannot_be_sent_is_recorded_with_the_token_it_would_have_had():
    using, recorded = connection(TokenServer()), []
    using.send(wire(), lambda _: None)
    with pytest.raises(Unreachable):
        using.send(wire(url="http://h/v1/a\x00b"), recorded.append)
    [unsent] = recorded
    assert ("Authorization", "Bearer t1") in unsent.request_headers
    assert unsent.status is None
