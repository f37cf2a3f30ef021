"""Races: what is sent, recorded and entered in the ledger does not depend on who is faster."""

import json
import threading
from dataclasses import replace

import httpx
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.histories.history import Answer, Release, Seen, Take
from icecheck.histories.racing import Move, race
from icecheck.ownership.ledger import Entry
from icecheck.targets.target import Target
from icecheck.wire.connection import TargetUnusable
from icecheck.wire.exchange import Step

CONFIG = {"defaults": {}, "overrides": {}}


def catalog_that(answers, **target):
    """A catalog whose answers are given by a function of the request."""

    def handler(request):
        if request.url.path == "/v1/config":
            return httpx.Response(200, json=CONFIG)
        return answers(request)

    reached = Target("http://h", isolation="flat", **target)
    session = open_session(reached, run_id="r1", transport=httpx.MockTransport(handler))
    session.connection._sleep = lambda _: None  # waiting takes no time here
    return Catalog(session, "racing")


def creation(catalog, contender):
    namespace = ("icecheck_r1_n",)
    body = {"namespace": [*namespace], "properties": {"by": contender}}
    return Move("createNamespace", body=body, deeds=(Take("n", contender),))


def drop(name):
    return Move("dropNamespace", {"namespace": (name,)}, deeds=(Release(name),))


def test_racers_are_under_way_at_the_same_time():
    meeting = threading.Barrier(3)

    def answers(_request):
        meeting.wait(10)  # nobody is answered before all have asked
        return httpx.Response(200, json={"namespace": ["n"]})

    catalog = catalog_that(answers)
    events = race(catalog, {contender: [creation(catalog, contender)] for contender in "abc"})
    assert [event.answer for event in events] == [Answer.OK] * 3
    latest_start = max(event.invoked_ns for event in events)
    assert all(event.answered_ns > latest_start for event in events)


def test_who_watches_begins_when_the_others_have_begun():
    catalog = catalog_that(lambda _: httpx.Response(200, json={"namespace": ["n"]}))
    look = Move("loadNamespaceMetadata", {"namespace": ("n",)}, reads=lambda _: ())
    for _ in range(50):
        racers = {"reader": [look, look], "writer": [creation(catalog, "writer")]}
        first, _, written = race(catalog, racers, watching=["reader"])
        assert written.process == "writer"
        assert first.answered_ns > written.invoked_ns


def test_a_move_may_have_a_query():
    asked = []
    catalog = catalog_that(lambda r: (asked.append(r.url.query), httpx.Response(200, json={}))[1])
    query = (("parent", "a\x1fb"), ("pageSize", "1"))
    race(catalog, {"a": [Move("listNamespaces", query=query, reads=lambda _: ())]})
    assert asked == [b"parent=a%1Fb&pageSize=1"]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (200, [Answer.OK, Answer.UNKNOWN]),
        (409, [Answer.REFUSED]),
        (500, [Answer.UNKNOWN, Answer.UNKNOWN]),
    ],
)
def test_what_a_request_perhaps_does_besides_is_unknown_unless_it_is_refused(status, told):
    catalog = catalog_that(lambda _: httpx.Response(status, json={}))
    made = replace(creation(catalog, "a"), besides=(Take("home", ""),))
    events = race(catalog, {"a": [made]})
    assert [event.answer for event in events] == told
    for event in events[1:]:
        assert (event.deeds, event.answered_ns) == ((Take("home", ""),), None)


def test_exchanges_are_recorded_in_the_order_of_the_racers():
    first_is_answered = threading.Event()

    def answers(request):
        by = json.loads(request.content)["properties"]["by"]
        if by == "a":
            assert first_is_answered.wait(10)  # the first racer is the last to be answered
            return httpx.Response(409, json={})
        first_is_answered.set()
        return httpx.Response(200, json={})

    catalog = catalog_that(answers)
    events = race(catalog, {"a": [creation(catalog, "a")], "b": [creation(catalog, "b")]})
    assert [(e.process, e.answer, e.exchange) for e in events] == [
        ("a", Answer.REFUSED, 1),
        ("b", Answer.OK, 2),
    ]
    assert [(e.ordinal, e.status, e.step) for e in catalog.exchanges] == [
        (1, 409, Step.DO),
        (2, 200, Step.DO),
    ]
    assert [e.label for e in events] == ["createNamespace, 409", "createNamespace, 200"]


def test_what_the_winner_was_given_is_hidden_in_what_the_loser_is_told():
    secret = "vended/canary+0123456789"

    def answers(request):
        if json.loads(request.content)["properties"]["by"] == "a":
            return httpx.Response(409, json={"error": {"message": f"taken with {secret}"}})
        return httpx.Response(200, json={"config": {"s3.session-token": secret}})

    catalog = catalog_that(answers)
    race(catalog, {"a": [creation(catalog, "a")], "b": [creation(catalog, "b")]})
    assert [each.status for each in catalog.session.exchanges[-2:]] == [409, 200]
    assert "canary" not in repr(catalog.session.exchanges[-2:])


@pytest.mark.parametrize(
    ("statuses", "left"),
    [({"a": 409, "b": 200}, 1), ({"a": 409, "b": 409}, 0), ({"a": 500, "b": 409}, 1)],
    ids=["one-made-it", "nobody-made-it", "perhaps-somebody"],
)
def test_the_ledger_keeps_what_somebody_may_have_made(statuses, left):
    def answers(request):
        by = json.loads(request.content)["properties"]["by"]
        return httpx.Response(statuses[by], json={})

    catalog = catalog_that(answers)
    race(catalog, {contender: [creation(catalog, contender)] for contender in statuses})
    assert len(catalog.ledger) == left
    assert catalog.ledger.created == left


def test_the_ledger_has_an_object_before_the_first_request_is_sent():
    seen = []
    catalog = catalog_that(lambda _: (seen.append(len(catalog.ledger)), httpx.Response(200))[1])
    race(catalog, {contender: [creation(catalog, contender)] for contender in "ab"})
    assert seen == [1, 1]


def test_what_was_surely_dropped_leaves_the_ledger():
    catalog = catalog_that(lambda _: httpx.Response(204))
    mine = Entry("namespace", ("icecheck_r1_n",))
    catalog.ledger.add(mine)
    race(catalog, {"a": [drop("icecheck_r1_n")]})
    assert mine not in catalog.ledger
    # Not if somebody else may have made it again.
    catalog.ledger.add(mine)
    race(catalog, {"a": [drop("icecheck_r1_n")], "b": [creation(catalog, "b")]})
    assert mine in catalog.ledger


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, Answer.OK),
        (204, Answer.OK),
        (404, Answer.REFUSED),
        (409, Answer.REFUSED),
        (302, Answer.UNKNOWN),
        (408, Answer.UNKNOWN),
        (429, Answer.UNKNOWN),
        (500, Answer.UNKNOWN),
        (503, Answer.UNKNOWN),
    ],
)
def test_only_clear_answers_count(status, answer):
    catalog = catalog_that(lambda _: httpx.Response(status))
    (event,) = race(catalog, {"a": [creation(catalog, "a")]})
    assert event.answer is answer


def test_a_racer_without_an_answer_says_no_more():
    def answers(request):
        if request.method == "DELETE":
            raise httpx.ReadError("cut")
        return httpx.Response(200)

    catalog = catalog_that(answers)
    script = [creation(catalog, "a"), drop("icecheck_r1_n"), creation(catalog, "a")]
    events = race(catalog, {"a": script, "b": [creation(catalog, "b")]})
    tries = sum(exchange.method == "DELETE" for exchange in catalog.exchanges)
    assert [(e.process, e.answer, e.answered_ns is None) for e in events] == [
        ("a", Answer.OK, False),
        *[("a", Answer.UNKNOWN, True)] * tries,
        ("b", Answer.OK, False),
    ]
    assert events[1].label == "dropNamespace, no answer"
    assert len(catalog.ledger) == 1


def test_an_earlier_try_that_may_have_had_its_effect_is_an_event_of_its_own():
    """A drop whose answer was lost is repeated: it may drop what was made in between."""
    tries = []

    def answers(request):
        tries.append(request)
        if len(tries) == 1:
            raise httpx.ReadError("cut")
        return httpx.Response(204)

    catalog = catalog_that(answers)
    lost, told = race(catalog, {"a": [drop("icecheck_r1_n")]})
    assert (lost.answer, lost.answered_ns, lost.deeds) == (Answer.UNKNOWN, None, told.deeds)
    assert (told.answer, len(tries)) == (Answer.OK, 2)


@pytest.mark.parametrize("status", [429, 503])
def test_a_try_that_the_catalog_turned_away_is_no_event(status):
    left = [status]

    def answers(_request):
        turned_away = {"Retry-After": "0"}
        return httpx.Response(left.pop(), headers=turned_away) if left else httpx.Response(200)

    catalog = catalog_that(answers)
    (event,) = race(catalog, {"a": [creation(catalog, "a")]})
    assert (event.answer, left) == (Answer.OK, [])


def test_what_a_404_shows_is_an_event_beside_the_refusal():
    def told(status):
        catalog = catalog_that(lambda _: httpx.Response(status))
        gone = (Seen("n", present=False),)
        move = replace(drop("icecheck_r1_n"), missed=gone, words="drop n")
        return [(e.answer, e.deeds, e.label) for e in race(catalog, {"a": [move]})]

    refused = Answer.REFUSED, (Release("icecheck_r1_n"),)
    assert told(404) == [
        (*refused, "drop n, 404"),
        (Answer.OK, (Seen("n", present=False),), "drop n, 404"),
    ]
    assert told(409) == [(*refused, "drop n, 409")]


def test_a_look_says_what_the_answer_shows_and_otherwise_nothing():
    def reads(reply):
        return (Seen("n", present=reply.ok),) if reply.status in {200, 404} else ()

    def looked_at(status):
        catalog = catalog_that(lambda _: httpx.Response(status))
        move = Move("loadNamespaceMetadata", {"namespace": ("n",)}, reads=reads)
        (event,) = race(catalog, {"reader": [move]})
        return event.answer, event.deeds

    assert looked_at(200) == (Answer.OK, (Seen("n", present=True),))
    assert looked_at(404) == (Answer.OK, (Seen("n", present=False),))
    assert looked_at(500) == (Answer.UNKNOWN, ())


def test_what_goes_wrong_in_a_thread_is_raised_where_the_race_was_started():
    def answers(request):
        if request.url.path.endswith("/oauth/tokens"):
            return httpx.Response(401)
        return httpx.Response(200)

    catalog = catalog_that(answers)
    connection = catalog.session.connection
    connection.follow(Target("http://h", credential="id:secret"))
    with pytest.raises(TargetUnusable):
        race(catalog, {contender: [creation(catalog, contender)] for contender in "ab"})
    assert len(catalog.ledger) == 1  # nobody knows what was sent
