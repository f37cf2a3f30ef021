"""What a run costs: how many requests it sends, and that nobody asks more of what is shared."""

from functools import cache

import pytest

from icecheck.assembly.run import RunOptions, run_checks
from icecheck.cli.selection import SMOKE
from icecheck.exchange import Exchange, Step
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, VendingSettings
from icecheck.target import Target
from icecheck.verdict import Group

REQUESTS_MAX = 2500
SMOKE_REQUESTS_MAX = 150
# Requests about a namespace itself, or about all that is in it.
OF_A_NAMESPACE = frozenset(
    {
        "loadNamespaceMetadata",
        "namespaceExists",
        "dropNamespace",
        "updateProperties",
        "listTables",
        "listViews",
    }
)


@cache
def sent(isolation: str, *globs: str) -> tuple[Exchange, ...]:
    """All that the checks send to a mock that offers everything."""
    mock = MockCatalog(
        seed=1,
        oauth2=OAuth2Settings(clients=(Client("law", "law-secret"),)),
        vending=VendingSettings(storage="s3"),
        warehouses=["wh"],
    )
    target = Target(
        "http://mock.invalid", warehouse="wh", credential="law:law-secret", isolation=isolation
    )
    options = RunOptions(target, run_id="law", groups=(Group.CHECKS,), globs=globs)
    exchanges: list[Exchange] = []
    run_checks(options, transport=mock.httpx_transport(), on_exchange=exchanges.append)
    mock.stop()
    return tuple(exchanges)


@pytest.mark.parametrize("isolation", ["nested", "flat"])
def test_the_checks_keep_their_budget_of_requests(isolation: str) -> None:
    assert len(sent(isolation)) <= REQUESTS_MAX


def test_smoke_keeps_its_budget_of_requests() -> None:
    assert len(sent("nested", *SMOKE)) <= SMOKE_REQUESTS_MAX


def test_no_check_asks_about_the_namespace_that_all_share() -> None:
    asked = {
        f"{exchange.check}: {exchange.operation}"
        for exchange in sent("nested")
        if exchange.operation in OF_A_NAMESPACE
        and "/icecheck_law_home" in exchange.url.replace("%1F", "/")
        and exchange.url.rpartition("_home")[2].partition("?")[0] in {"", "/tables", "/views"}
        and exchange.step is not Step.UNDO
    }
    assert asked == set(), "use catalog.given_namespace(): others' tables are in the shared one"
