"""Throttling, storms, resets and gateways: waited out, and never held against anybody."""

import threading
from hashlib import blake2s

import httpx
import msgspec
import pytest

from tests.hostile.failing_catalogs.chaos import (
    Clock,
    Door,
    LostAfterwards,
    blamed,
    gateway_page,
    missed,
    missed_required,
    namespaces_on,
    new_mock,
    refuse,
    run_through,
)
from tests.kit.shares import some


class Limiter:
    """Allows so many requests a second, and says 429 to all others; what it refuses counts too."""

    def __init__(self, clock: Clock, per_second: int, retry_after: str | None) -> None:
        self.clock, self.per_second, self.retry_after = clock, per_second, retry_after
        self.refused = 0
        self._allowance = float(per_second)
        self._at = 0.0
        self._lock = threading.Lock()

    def __call__(self, _number: int, _request: httpx.Request) -> httpx.Response | None:
        self.clock.sleep(0.001)
        with self._lock:
            now = self.clock.seconds
            self._allowance += (now - self._at) * self.per_second
            self._allowance, self._at = min(self._allowance, self.per_second), now
            if self._allowance >= 1:
                self._allowance -= 1
                return None
            self.refused += 1
            return refuse(429, self.retry_after)


@pytest.mark.parametrize("workers", some([4, 1], 2))
@pytest.mark.parametrize("retry_after", ["1", None])
def test_a_catalog_that_allows_a_hundred_requests_a_second_is_never_blamed(
    monkeypatch, workers, retry_after
):
    clock, mock = Clock(), new_mock()
    limiter = Limiter(clock, 100, retry_after)
    run = run_through(Door(mock.httpx_transport(), limiter), monkeypatch, clock, workers=workers)
    assert 0 < limiter.refused < 30  # it is not asked again and again
    assert blamed(run) == missed(run) == []
    assert run.exit_code == 0
    assert run.facts["safety"]["residue"] == namespaces_on(mock) == []
    assert clock.seconds < 30


@pytest.mark.parametrize("workers", some([4, 1], 2))
@pytest.mark.parametrize(
    "storm",
    [
        pytest.param(lambda: refuse(503, "1"), id="503-with-retry-after"),
        pytest.param(lambda: refuse(503), id="503-bare"),
        pytest.param(gateway_page, id="gateway-502"),
        pytest.param(lambda: gateway_page(504), id="gateway-504"),
    ],
)
def test_a_storm_that_passes_costs_no_verdict(monkeypatch, workers, storm):
    mock = new_mock()
    door = Door(mock.httpx_transport(), lambda n, _: storm() if 80 <= n < 100 else None)
    run = run_through(door, monkeypatch, workers=workers)
    assert door.asked > 200
    assert blamed(run) == missed(run) == []
    assert run.exit_code == 0
    assert run.facts["safety"]["residue"] == namespaces_on(mock) == []


@pytest.mark.parametrize("workers", some([4, 1], 2))
@pytest.mark.parametrize(
    "lost",
    [
        pytest.param(httpx.ReadError("connection reset by peer"), id="before-it-is-applied"),
        pytest.param(LostAfterwards(), id="after-it-is-applied"),
        pytest.param(httpx.RemoteProtocolError("Server disconnected"), id="disconnected"),
        pytest.param(httpx.ReadTimeout("timed out"), id="time-out"),
    ],
)
def test_connections_that_are_lost_now_and_then_cost_no_verdict(monkeypatch, workers, lost):
    def rule(number, _request):
        if number > 20 and number % 29 == 0:
            raise lost

    mock = new_mock()
    door = Door(mock.httpx_transport(), rule)
    run = run_through(door, monkeypatch, workers=workers)
    assert blamed(run) == []
    assert len(missed(run)) <= 2  # who is hit three times in a row
    assert run.exit_code == (4 if missed_required(run) else 0)
    assert run.facts["safety"]["residue"] == namespaces_on(mock) == []


@pytest.mark.parametrize(
    ("hit", "exit_code"), [("dropTable.without-purge", 0), ("dropTable.leaves-nothing", 4)]
)
def test_who_is_always_hit_has_no_verdict_and_only_a_required_one_decides(
    monkeypatch, hit, exit_code
):
    """What is recommended gates no run, so that its want of an answer does not either."""
    key = blake2s(hit.encode(), digest_size=3).hexdigest()

    def rule(_number, request):
        hits = request.method == "POST" and key.encode() in request.content
        return refuse(503) if hits else None

    mock = new_mock()
    run = run_through(Door(mock.httpx_transport(), rule), monkeypatch)
    assert blamed(run) == []
    assert missed(run) == [hit]
    assert run.exit_code == exit_code
    assert run.facts["safety"]["residue"] == namespaces_on(mock) == []


def test_a_storm_that_never_ends_blames_nobody_and_ends_the_run(monkeypatch):
    mock, clock = new_mock(), Clock()
    door = Door(mock.httpx_transport(), lambda n, _: refuse(503) if n > 60 and n % 2 else None)
    run = run_through(door, monkeypatch, clock)
    assert blamed(run) == []
    assert run.exit_code == 4
    assert clock.seconds < 600


@pytest.mark.parametrize("retried", ["getConfig.endpoints-served", "error.several-faults"])
@pytest.mark.parametrize("every", [41, 43])  # as many as the check sends would hit it every time
def test_a_check_of_many_requests_comes_through_where_a_few_are_refused(
    monkeypatch, every, retried
):
    """Neither a DELETE nor a POST that met a 503 without Retry-After is a verdict."""
    mock = new_mock()
    door = Door(mock.httpx_transport(), lambda n, _: refuse(503) if n % every == 0 else None)
    run = run_through(door, monkeypatch, globs=(retried, "dropTable.*", "createTable.*"))
    assert door.asked > 4 * every
    assert blamed(run) == missed(run) == []
    assert run.exit_code == 0
    assert run.facts["safety"]["residue"] == namespaces_on(mock) == []


def test_who_is_where_is_not_guessed_after_an_answer_that_was_lost(monkeypatch):
    """Client 2 always wins a race, and what sends it back gets no answer: it may be there still."""
    mock = new_mock()

    def rule(_number, request):
        body = msgspec.json.decode(request.content) if "tables/rename" in request.url.path else {}
        source = body.get("source", {}).get("name", "")
        if source.endswith("_3"):
            return refuse(503)
        return refuse(409) if source.endswith("_1") else None

    run = run_through(Door(mock.httpx_transport(), rule), monkeypatch, globs=("race.rename-table",))
    assert blamed(run) == missed(run) == []
    assert run.facts["safety"]["residue"] == namespaces_on(mock) == []
