"""The wire: failed requests are retried as the server asks, and trouble is no answer."""

from dataclasses import replace

import httpx
import pytest

from icecheck.client.opening import open_session
from icecheck.targets.target import Target
from icecheck.wire.connection import Connection, Wire
from icecheck.wire.exchange import Step
from icecheck.wire.retry import WAIT_SECONDS_MAX
from icecheck.wire.unreachable import CredentialsEnded, Unreachable
from tests.kit.contracts import CONTRACT


def wire(method="GET", body=None, headers=None):
    return Wire("c", 1, Step.DO, "getConfig", method, "http://h/v1/config", headers or {}, body)


def connection(handler, slept, **target):
    return Connection(
        Target("http://h", **target), CONTRACT, httpx.MockTransport(handler), sleep=slept.append
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
    assert len(slept) >= 3
    assert sum(slept) <= WAIT_SECONDS_MAX


@pytest.mark.parametrize(
    "after", ["86400", "Fri, 31 Dec 9999 23:59:59 GMT", "inf"], ids=["seconds", "date", "inf"]
)
def test_a_catalog_that_wants_to_be_left_alone_for_long_is_left_alone(after):
    slept, recorded = [], []
    handler = answers(httpx.Response(429, headers={"Retry-After": after}), httpx.Response(200))
    with pytest.raises(Unreachable):
        connection(handler, slept).send(wire(), recorded.append)
    assert slept == []
    assert len(recorded) == 1


def test_a_retry_after_in_the_past_or_of_nonsense_is_no_obstacle():
    for after in ("Fri, 31 Dec 1999 23:59:59 GMT", "-1", "nan", "soon", ""):
        slept = []
        handler = answers(httpx.Response(429, headers={"Retry-After": after}), httpx.Response(200))
        assert connection(handler, slept).send(wire(), lambda _: None).status == 200
        assert sum(slept) <= 1


def test_a_time_out_is_tried_once_more_and_not_four_times():
    recorded = []
    with pytest.raises(Unreachable):
        connection(answers(httpx.ReadTimeout("slow")), []).send(wire(), recorded.append)
    assert len(recorded) == 2


@pytest.mark.parametrize("status", [502, 504, 524])
def test_a_gateways_page_is_no_answer(status):
    page = httpx.Response(status, html="<h1>Bad Gateway</h1>")
    handler = answers(page, page, httpx.Response(200))
    assert connection(handler, []).send(wire(), lambda _: None).status == 200
    recorded = []
    with pytest.raises(Unreachable):
        connection(answers(page), []).send(wire("POST", b"{}"), recorded.append)
    assert len(recorded) == 1


@pytest.mark.parametrize("status", [500, 502, 504])
def test_an_error_of_the_catalog_itself_is_an_answer(status):
    error = {"error": {"message": "m", "type": "t", "code": status}}
    handler = answers(httpx.Response(status, json=error))
    assert connection(handler, []).send(wire(), lambda _: None).status == status


def test_what_may_have_been_applied_is_not_asked_for_twice():
    recorded = []
    handler = answers(httpx.Response(503), httpx.Response(404))
    with pytest.raises(Unreachable):
        connection(handler, []).send(wire("POST"), recorded.append)
    assert len(recorded) == 1


TROUBLES = [httpx.Response(503), httpx.Response(502, html="<h1>no</h1>"), httpx.ReadError("reset")]


@pytest.mark.parametrize("trouble", TROUBLES, ids=["503", "page", "reset"])
@pytest.mark.parametrize("status", [204, 409, 500])
def test_what_is_idempotent_is_asked_for_again(trouble, status):
    answer = httpx.Response(status, json={"error": {}})
    handler = answers(trouble, answer)
    assert connection(handler, []).send(wire("DELETE"), lambda _: None).status == status


@pytest.mark.parametrize("trouble", TROUBLES, ids=["503", "page", "reset"])
def test_whether_something_was_there_is_not_known_after_it_was_deleted_twice(trouble):
    recorded = []
    handler = answers(trouble, httpx.Response(404))
    with pytest.raises(Unreachable, match="404"):
        connection(handler, []).send(wire("DELETE"), recorded.append)
    assert len(recorded) == 2


def test_a_second_answer_counts_if_the_first_request_was_refused_for_certain():
    handler = answers(httpx.Response(429), httpx.Response(404))
    assert connection(handler, []).send(wire("DELETE"), lambda _: None).status == 404


class Dripping(httpx.SyncByteStream):
    """An answer that never ends; each piece comes after a time in which the test's clock runs."""

    def __init__(self, clock, seconds):
        self.clock, self.seconds = clock, seconds

    def __iter__(self):
        while True:
            self.clock.seconds += self.seconds
            yield b"x" * 1_000_000


class Clock:
    seconds = 0.0

    def now(self):
        return self.seconds


def test_an_answer_that_drips_for_ever_is_a_time_out(monkeypatch):
    clock, recorded = Clock(), []
    monkeypatch.setattr("icecheck.wire.pool.time.perf_counter", clock.now)
    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=Dripping(clock, 1.0)))
    slow = Connection(
        Target("http://h", timeout_seconds=5), CONTRACT, transport, sleep=lambda _: None
    )
    with pytest.raises(Unreachable, match="not complete in time"):
        slow.send(wire(), recorded.append)
    assert [e.status for e in recorded] == [None, None]
    assert clock.seconds <= 2 * 6


def test_an_answer_without_end_is_cut_off(monkeypatch):
    monkeypatch.setattr("icecheck.wire.answers._BODY_BYTES_MAX", 3_000_000)
    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=Dripping(Clock(), 0)))
    endless = Connection(Target("http://h"), CONTRACT, transport, sleep=lambda _: None)
    with pytest.raises(Unreachable, match="longer than 3000000 bytes"):
        endless.send(wire(), lambda _: None)


def test_nothing_is_sent_after_the_stop_but_what_cleans_up():
    using = connection(answers(httpx.Response(200)), [])
    using.stopped.set()
    with pytest.raises(KeyboardInterrupt):
        using.send(wire(), lambda _: None)
    assert using.send(replace(wire(), step=Step.UNDO), lambda _: None).status == 200


# ---- tokens that end


def guarded(accepted, tokens=()):
    """A server that wants a token of `accepted`, and gives out `tokens` one after the other."""
    left = list(tokens)

    def handler(request):
        if request.url.path.endswith("tokens"):
            if not left:
                return httpx.Response(401, json={"error": "invalid_client"})
            return httpx.Response(200, json={"access_token": left.pop(0), "token_type": "bearer"})
        said = request.headers.get("authorization", "").removeprefix("Bearer ")
        return httpx.Response(200 if said in accepted else 401, json={})

    return handler


def listing(method="GET", headers=None):
    return Wire("c", 1, Step.DO, "listNamespaces", method, "http://h/v1/ns", headers or {}, None)


@pytest.mark.parametrize("how", ["token", "credential", "header"])
def test_credentials_that_have_ended_are_no_answer(how):
    accepted = {"hush-one"}
    given = {
        "token": {"token": "hush-one"},
        "credential": {"credential": "me:hush-hush"},
        "header": {"headers": {"authorization": "Bearer hush-one"}},
    }[how]
    using = connection(guarded(accepted, ["hush-one"]), [], **given)
    assert using.send(listing(), lambda _: None).status == 200
    accepted.clear()
    with pytest.raises(CredentialsEnded) as caught:
        using.send(listing("POST"), lambda _: None)
    assert "hush" not in str(caught.value)


def test_that_credentials_have_ended_is_found_out_once():
    accepted = {"hush-one"}
    using = connection(guarded(accepted, ["hush-one"]), [], token="hush-one")
    using.send(listing(), lambda _: None)
    accepted.clear()
    seen = []
    for said in (2, 3, 4):
        with pytest.raises(CredentialsEnded, match="was answered 200 before"):
            using.send(listing("DELETE"), seen.append)
        assert len(seen) == said
    accepted.add("hush-two")
    using.use_token("hush-two")
    assert using.send(listing("DELETE"), seen.append).status == 200


def test_a_401_to_a_token_that_lives_is_an_answer():
    def handler(request):
        return httpx.Response(200 if request.method == "GET" else 401, json={})

    using = connection(handler, [], token="tok")
    using.send(listing(), lambda _: None)
    recorded = []
    assert using.send(listing("POST"), recorded.append).status == 401
    assert [(e.method, e.step) for e in recorded] == [("POST", Step.DO), ("GET", Step.PROBE)]


def test_a_401_to_somebody_elses_token_costs_nothing():
    using = connection(guarded({"tok"}), [], token="tok")
    using.send(listing(), lambda _: None)
    recorded = []
    refused = using.send(listing(headers={"Authorization": "Bearer made-up"}), recorded.append)
    assert (refused.status, len(recorded)) == (401, 1)


def test_a_post_whose_answer_was_lost_is_not_sent_again():
    recorded = []
    with pytest.raises(Unreachable):
        connection(answers(httpx.ReadError("reset")), []).send(wire("POST", b"{}"), recorded.append)
    assert len(recorded) == 1


@pytest.mark.parametrize("status", [200, 404])
def test_a_post_that_changes_no_object_is_sent_again_and_its_answer_counts(status):
    post = replace(wire("POST", b"{}"), repeatable=True)
    handler = answers(httpx.ReadError("reset"), httpx.Response(status))
    assert connection(handler, []).send(post, lambda _: None).status == status


def test_a_get_whose_answer_was_lost_is_sent_again():
    handler = answers(httpx.ReadError("reset"), httpx.Response(200))
    assert connection(handler, []).send(wire(), lambda _: None).status == 200


CONFIG = {"defaults": {}, "overrides": {"token": "from-config"}, "endpoints": []}


def test_a_token_in_the_config_answer_is_used_from_then_on():
    seen = []

    def handler(request):
        seen.append(request.headers.get("authorization"))
        return httpx.Response(200, json=CONFIG)

    session = open_session(Target("http://h"), run_id="r1", transport=httpx.MockTransport(handler))
    session.connection.send(wire(), session.record)
    assert seen == [None, "Bearer from-config"]
