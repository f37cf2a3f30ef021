"""What a config tells clients to do is done: another address, and headers."""

from collections.abc import Iterator
from typing import Any

import pytest

from icecheck.client.opening import open_session
from icecheck.findings.verdict import Outcome
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target
from icecheck.wire.connection import TargetUnusable
from icecheck.wire.exchange import Exchange
from tests.kit.serving import Sent, gateway

SECRET = "gateway-key-93475"


@pytest.fixture
def mock() -> Iterator[MockCatalog]:
    catalog = MockCatalog(seed=1, warehouses=["wh"])
    yield catalog
    catalog.stop()


def told(mock: MockCatalog, defaults: dict[str, Any], overrides: dict[str, Any]) -> None:
    def alter(body: dict[str, Any]) -> dict[str, Any]:
        return body | {
            "defaults": body["defaults"] | defaults,
            "overrides": body["overrides"] | overrides,
        }

    alter_body(mock.registries, "getConfig", alter)


def test_requests_go_where_the_config_sends_clients(mock: MockCatalog) -> None:
    first: list[Sent] = []
    second: list[Sent] = []
    with (
        gateway(mock, lambda sent: first.append(sent) or True) as front,
        gateway(mock, lambda sent: second.append(sent) or True) as behind,
    ):
        told(
            mock,
            {"header.X-Route": "blue", "header.X-Mine": "no"},
            {
                "uri": f"{behind}/",
                "header.X-Api-Key": SECRET,
            },
        )
        recorded: list[Exchange] = []
        allowed = (behind.partition("//")[2],)
        target = Target(front, warehouse="wh", headers={"X-Mine": "yes"}, allow_hosts=allowed)
        globs = ("loadTable.*", "getConfig.*", "race.create-table")
        run = run_checks(RunOptions(target, "r1", globs=globs), on_exchange=recorded.append)
    wrong = [v for v in run.verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert [(v.check, v.summary) for v in wrong] == []
    assert {sent.path.partition("?")[0] for sent in first} == {"/v1/config"}
    assert len(second) > 20
    for sent in second:
        found = [sent.headers.get(f"x-{name}") for name in ("route", "mine", "api-key")]
        assert found == ["blue", "yes", SECRET]
    assert SECRET not in repr(recorded)
    assert run.facts["target"]["url"] == front


def test_an_address_that_is_none_is_one_line(mock: MockCatalog) -> None:
    told(mock, {}, {"uri": "not a url"})
    with pytest.raises(TargetUnusable, match="the config tells clients"):
        open_session(Target("http://m"), run_id="r", transport=mock.httpx_transport())


def test_what_is_malformed_in_a_config_is_for_the_checks(mock: MockCatalog) -> None:
    told(mock, {"header.X-Odd": 1}, {"uri": None, "oauth2-server-uri": 3})
    session = open_session(Target("http://m"), run_id="r", transport=mock.httpx_transport())
    assert session.target == Target("http://m")
    session.close()
