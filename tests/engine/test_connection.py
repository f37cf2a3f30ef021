"""The wire: weather is waited out with respect, trouble is never mistaken for an answer."""

import httpx
import pytest

from icecheck.connection import Connection, TargetUnusable, Wire
from icecheck.exchange import Step
from icecheck.expect import Unreachable
from icecheck.session import open_session
from icecheck.target import Target


def wire(method="GET", body=None, headers=None):
    return Wire("c", 1, Step.DO, "getConfig", method, "http://h/v1/config", headers or {}, body)


def connection(handler, slept, **target):
    return Connection(
        Target("http://h", **target), httpx.MockTransport(handler), sleep=slept.append
    )


def answers(*responses):
    left = list(responses)

    def handler(request):
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return handler


def test_throttling_is_waited_out_as_long_as_the_server_asks():
    slept, recorded = [], []
    handler = answers(httpx.Response(429, headers={"Retry-After": "2"}), httpx.Response(200))
    exchange = connection(handler, slept).send(wire(), recorded.append)
    assert exchange.status == 200
    assert slept == [2.0]
    assert [e.status for e in recorded] == [429, 200]


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(429),
        httpx.Response(503, headers={"Retry-After": "1"}),
        httpx.Response(503),
        httpx.Response(400, headers={"x-error": "ThrottlingException"}),
        httpx.ConnectError("refused"),
    ],
)
def test_trouble_that_persists_is_unreachable_and_never_an_answer(answer):
    slept = []
    with pytest.raises(Unreachable):
        connection(answers(answer), slept).send(wire(), lambda _: None)
    assert len(slept) == 3


def test_a_wait_is_never_longer_than_its_limit():
    slept = []
    handler = answers(httpx.Response(429, headers={"Retry-After": "86400"}), httpx.Response(200))
    connection(handler, slept).send(wire(), lambda _: None)
    assert slept == [20.0]


def test_a_post_whose_answer_was_lost_is_not_sent_again():
    recorded = []
    with pytest.raises(Unreachable):
        connection(answers(httpx.ReadError("reset")), []).send(wire("POST", b"{}"), recorded.append)
    assert len(recorded) == 1


def test_a_get_whose_answer_was_lost_is_sent_again():
    handler = answers(httpx.ReadError("reset"), httpx.Response(200))
    assert connection(handler, []).send(wire(), lambda _: None).status == 200


def test_without_credentials_no_authorization_header_is_sent():
    seen = []

    def handler(request):
        seen.append(request.headers)
        return httpx.Response(200)

    connection(handler, []).send(wire(), lambda _: None)
    connection(handler, [], token="tok").send(wire(), lambda _: None)
    connection(handler, [], token="tok").send(wire(headers={"Authorization": ""}), lambda _: None)
    assert [h.get("authorization") for h in seen] == [None, "Bearer tok", None]


def test_a_credential_is_exchanged_once_for_a_token():
    asked = []

    def handler(request):
        if request.url.path.endswith("tokens"):
            asked.append(request.content.decode())
            return httpx.Response(200, json={"access_token": "fresh", "token_type": "bearer"})
        assert request.headers["authorization"] == "Bearer fresh"
        return httpx.Response(200)

    using = connection(handler, [], credential="me:hush-hush")
    using.send(wire(), lambda _: None)
    using.send(wire(), lambda _: None)
    assert len(asked) == 1
    assert "client_id=me" in asked[0]
    assert "client_secret=hush-hush" in asked[0]


def test_a_token_about_to_expire_is_renewed():
    asked = []

    def handler(request):
        if request.url.path.endswith("tokens"):
            asked.append(1)
            token = {"access_token": f"t{len(asked)}", "token_type": "bearer", "expires_in": 0}
            return httpx.Response(200, json=token)
        return httpx.Response(200)

    using = connection(handler, [], credential="me:hush-hush")
    using.send(wire(), lambda _: None)
    using.send(wire(), lambda _: None)
    assert len(asked) == 2


def test_a_refused_credential_says_so_and_does_not_show_the_secret():
    handler = answers(httpx.Response(401, json={"error": "invalid_client"}))
    with pytest.raises(TargetUnusable) as caught:
        connection(handler, [], credential="me:hush-hush").send(wire(), lambda _: None)
    assert "invalid_client" in str(caught.value)
    assert "hush" not in str(caught.value)


CONFIG = {"defaults": {}, "overrides": {"token": "from-config"}, "endpoints": []}


def test_a_token_in_the_config_answer_is_used_from_then_on():
    seen = []

    def handler(request):
        seen.append(request.headers.get("authorization"))
        return httpx.Response(200, json=CONFIG)

    session = open_session(Target("http://h"), run_id="r1", transport=httpx.MockTransport(handler))
    session.connection.send(wire(), session.record)
    assert seen == [None, "Bearer from-config"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (httpx.Response(200, html="<html>"), "no Iceberg REST catalog"),
        (httpx.Response(200, json=[1]), "no JSON object"),
        (httpx.Response(404, html="<html>"), "no Iceberg REST catalog"),
        (httpx.Response(401, json={}), "credentials"),
        (httpx.Response(403, json={}), "credentials"),
        (httpx.Response(400, json={}), "--warehouse"),
        (httpx.Response(500, json={}), "500"),
        (httpx.ConnectError("refused"), "cannot be reached"),
        (httpx.ConnectError("CERTIFICATE_VERIFY_FAILED"), "--ca-bundle"),
    ],
)
def test_what_is_no_catalog_is_said_in_one_line(answer, words, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    transport = httpx.MockTransport(answers(answer))
    with pytest.raises(TargetUnusable) as caught:
        open_session(Target("http://h", warehouse="wh"), run_id="r1", transport=transport)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
