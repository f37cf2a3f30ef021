"""Cookies of a target: none is kept, and only those that the user gives are sent."""

import httpx

from icecheck.targets.target import Target
from icecheck.wire.connection import Connection, Wire
from icecheck.wire.exchange import Step
from tests.kit.contracts import CONTRACT

WIRE = Wire("c", 1, Step.DO, "getConfig", "GET", "http://h/v1/config", {}, None)


def connection(handler, **target):
    return Connection(Target("http://h", **target), CONTRACT, httpx.MockTransport(handler))


def test_cookies_are_neither_kept_nor_sent_again():
    """A cookie would make one principal's requests another's, and is in no recorded request."""
    asked = []

    def handler(request):
        asked.append(request.headers.get("cookie"))
        return httpx.Response(200, headers={"Set-Cookie": f"c{len(asked)}=v; Path=/"})

    asking = connection(handler)
    for _ in range(3):
        asking.send(WIRE, lambda _: None)
    assert asked == [None] * 3


def test_a_cookie_that_the_user_gives_is_sent():
    asked = []

    def handler(request):
        asked.append(request.headers.get("cookie"))
        return httpx.Response(200)

    connection(handler, headers={"Cookie": "a=b"}).send(WIRE, lambda _: None)
    assert asked == ["a=b"]
