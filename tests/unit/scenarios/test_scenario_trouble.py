"""Drawn histories where answers are lost: begun anew, or no verdict."""

import contextlib

import httpx
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.judging.judge import judge
from icecheck.scenarios.random.replaying import replay
from icecheck.targets.target import Target
from icecheck.wire.connection import Connection
from icecheck.wire.unreachable import Unreachable
from tests.unit.scenarios.test_scenario_histories import CHECK, TOUR


@pytest.mark.parametrize("for_good", [True, False])
def test_a_network_problem_is_no_failure_of_the_catalog(open_catalog, monkeypatch, for_good):
    catalog = open_catalog()
    sent, send = [], Connection.send

    def break_off(self, wire, record):
        sent.append(wire)
        if len(sent) == 9 or (for_good and len(sent) > 9):
            raise Unreachable("gone")
        return send(self, wire, record)

    monkeypatch.setattr(Connection, "send", break_off)
    with pytest.raises(Unreachable) if for_good else contextlib.nullcontext():
        replay(catalog, TOUR)
    monkeypatch.undo()


def test_a_check_without_an_answer_is_blocked_by_the_target(mock):
    inner = mock.httpx_transport()
    count, slept = [], []

    def handler(request):
        count.append(request)
        if len(count) > 40:
            raise httpx.ConnectError("refused")
        return inner.handle_request(request)

    session = open_session(
        Target("http://catalog.invalid"), run_id="t1", transport=httpx.MockTransport(handler)
    )
    session.connection._sleep = slept.append
    verdict = judge(CHECK, Catalog(session, CHECK.id))
    assert verdict.outcome == "blocked"
    assert verdict.blocked_by == ("target",)
