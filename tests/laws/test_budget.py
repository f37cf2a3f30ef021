"""The cost of a run: the number of its requests; no check uses the shared namespace as its own."""

from functools import partial

import pytest

from icecheck.cli.selection import SMOKE
from icecheck.findings.verdict import Group
from icecheck.mock_server import (
    Client,
    MockCatalog,
    OAuth2Settings,
    Permissions,
    VendingSettings,
)
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Principal, Target
from icecheck.wire.exchange import Exchange, Step
from tests.kit.once import made_once
from tests.kit.shares import some
from tests.laws.test_faithful import PlainRun

REQUESTS_MAX = 2500
GENERATED_REQUESTS_MAX = 6000
"""What a default run sends more than the plain checks: the generated ones and the scenarios."""
OF_THE_COMMAND = 10
"""An upper bound of the command line's own requests, before the checks and after them."""
SMOKE_REQUESTS_MAX = 150
# Requests about a namespace itself, or about all objects in it.
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


def sent(isolation: str, *globs: str) -> tuple[Exchange, ...]:
    """Return all requests of the checks to a mock that offers everything, like the bundled one."""
    name = "-".join(["sent", isolation, *(["smoke"] if globs else [])])
    return made_once(name, partial(_sent, isolation, globs))


def _sent(isolation: str, globs: tuple[str, ...]) -> tuple[Exchange, ...]:
    nobody = Client("nobody", "law-secret", permissions=Permissions.nothing())
    mock = MockCatalog(
        seed=1,
        oauth2=OAuth2Settings(clients=(Client("law", "law-secret"), nobody)),
        vending=VendingSettings(storage="s3", table_config={"token": "law-token"}),
        token="law-token",
        warehouses=["wh"],
    )
    target = Target(
        "http://mock.invalid",
        warehouse="wh",
        credential="law:law-secret",
        second=Principal(credential="nobody:law-secret"),
        isolation=isolation,
    )
    options = RunOptions(target, run_id="law", groups=(Group.CHECKS,), globs=globs)
    exchanges: list[Exchange] = []
    run_checks(options, transport=mock.httpx_transport(), on_exchange=exchanges.append)
    mock.stop()
    return tuple(exchanges)


@pytest.mark.parametrize("isolation", some(["nested", "flat"], 2))
def test_the_checks_keep_their_budget_of_requests(isolation: str) -> None:
    assert len(sent(isolation)) <= REQUESTS_MAX - OF_THE_COMMAND


def test_the_generated_checks_and_scenarios_keep_their_budget_of_requests(plain: PlainRun) -> None:
    sent_by = plain.requests
    assert sent_by[Group.GENERATED] + sent_by[Group.SCENARIOS] <= GENERATED_REQUESTS_MAX


def test_smoke_keeps_its_budget_of_requests() -> None:
    assert len(sent("nested", *SMOKE)) <= SMOKE_REQUESTS_MAX - OF_THE_COMMAND


def test_no_check_asks_about_the_namespace_that_all_share() -> None:
    asked = {
        f"{exchange.check}: {exchange.operation}"
        for exchange in sent("nested")
        if exchange.operation in OF_A_NAMESPACE
        and "/icecheck_law_home" in exchange.url.replace("%1F", "/")
        and exchange.url.rpartition("_home")[2].partition("?")[0] in {"", "/tables", "/views"}
        and exchange.step is not Step.UNDO
    }
    assert asked == set(), "use given_namespace(catalog): others' tables are in the shared one"
