"""A door in front of the mock that lets things go wrong, and a clock that only moves when asked."""

import itertools
import threading
from collections.abc import Callable
from functools import partial

import httpx

from icecheck.findings.verdict import Group, Level, Outcome, Run
from icecheck.judging.breaker import Breaker
from icecheck.mock_server import MockCatalog
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target
from icecheck.wire.connection import Connection

WAREHOUSE = "sick"
TOKEN = "sick-token"
ADDRESS = "http://mock.invalid"
FEW = ("createNamespace.*", "createTable.*", "dropTable.*", "listTables.*", "updateTable.*")
"""Enough checks to be in the middle of something whenever the catalog stops answering."""
HTML = b"<html><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>"


class Clock:
    """Time that passes while somebody sleeps, and a little with every request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.seconds = 0.0

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.seconds += seconds

    def now(self) -> float:
        return self.seconds


class LostAfterwards(Exception):
    """The request goes through, and its answer is lost."""


Rule = Callable[[int, httpx.Request], httpx.Response | None]


class Door(httpx.BaseTransport):
    """Asks its rule about every request, numbered from 1, before it lets it through.

    A rule may answer in the catalog's place, raise what a lost connection raises, or raise
    LostAfterwards.
    """

    def __init__(self, inner: httpx.BaseTransport, rule: Rule) -> None:
        self.inner = inner
        self.rule = rule
        self.asked = 0
        self._count = itertools.count(1)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked = number = next(self._count)
        try:
            answer = self.rule(number, request)
        except LostAfterwards:
            self.inner.handle_request(request)
            raise httpx.ReadError("connection reset by peer") from None
        return self.inner.handle_request(request) if answer is None else answer


def refuse(status: int, retry_after: str | None = None) -> httpx.Response:
    """What a catalog says that wants to be left alone."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    error = {"message": "slow down", "type": "SlowDownException", "code": status}
    return httpx.Response(status, headers=headers, json={"error": error})


def gateway_page(status: int = 502) -> httpx.Response:
    """What stands between a client and a catalog that is not there."""
    return httpx.Response(status, headers={"Content-Type": "text/html"}, content=HTML)


def new_mock(**settings: object) -> MockCatalog:
    """A faithful mock that wants a token."""
    return MockCatalog(seed=1, warehouses=[WAREHOUSE], **{"token": TOKEN, **settings})


def namespaces_on(mock: MockCatalog) -> list[tuple[str, ...]]:
    """What is left on a mock."""
    return [path for path, _ in mock.state(WAREHOUSE).namespaces.after()]


def run_through(
    transport: httpx.BaseTransport, monkeypatch, clock: Clock | None = None, **options: object
) -> Run:
    """A run through a door; whoever waits waits by the clock."""
    clock = clock or Clock()
    for place, made in (
        ("icecheck.client.opening.Connection", Connection),
        ("icecheck.run.check_runner.Breaker", Breaker),
    ):
        monkeypatch.setattr(place, partial(_by_the_clock, made, clock))
    target = {"warehouse": WAREHOUSE, "token": TOKEN, **options.pop("target", {})}
    if "credential" in target:
        target["token"] = None
    chosen = {"run_id": "sick", "groups": (Group.CHECKS,), "globs": FEW, **options}
    return run_checks(RunOptions(Target(ADDRESS, **target), **chosen), transport=transport)


def _by_the_clock(made, clock, *given, sleep=None, **named):
    """Make what waits, so that it waits by this clock."""
    assert sleep is None
    return made(*given, sleep=clock.sleep, now=clock.now, **named)


def blamed(run: Run) -> list[str]:
    """The checks that a run holds against the catalog, or against itself."""
    wrong = {Outcome.FAIL, Outcome.ERROR}
    return [f"{v.check}: {v.outcome} {v.summary}" for v in run.verdicts if v.outcome in wrong]


def missed(run: Run) -> list[str]:
    """The checks that came to no verdict for want of an answer."""
    return [v.check for v in run.verdicts if v.outcome is Outcome.BLOCKED]


def missed_required(run: Run) -> list[str]:
    """Those of them that a verdict needs: without them there is none."""
    must = {v.check for v in run.verdicts if v.level is Level.MUST}
    return [check for check in missed(run) if check in must]
