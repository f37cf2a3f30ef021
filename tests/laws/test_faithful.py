"""Law 1: the whole suite passes on the faithful mock, in any way of running, and leaves nothing."""

import contextlib
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, given_table
from icecheck.client.opening import open_session
from icecheck.contract import DEFAULT_SPEC_VERSION
from icecheck.findings.verdict import Group, Outcome, Run
from icecheck.judging.check import Check
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions
from icecheck.mock_server.serving.warehouses import WarehouseDeclaration
from icecheck.objects.views import given_view
from icecheck.proof.defective import READER, offered
from icecheck.run.collect import collect, select
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Given, Target
from icecheck.wire.exchange import Exchange
from tests.kill.killing import ISOLATIONS, SECOND, client_without_rights
from tests.kit.contracts import CONTRACT
from tests.kit.shares import has_turn, in_shares, is_plain, share

WAREHOUSE = "wh"
CREDENTIAL = "law:law-secret"
TOKEN = "law-token"  # vended with tables
PARENT = "given_parent"
ADDRESS = "http://mock.invalid"


def faithful(
    prefix: str | None = None, *, secured: bool = True, spec: str = DEFAULT_SPEC_VERSION
) -> MockCatalog:
    """Return the mock with tokens and storage credentials, so that no check is skipped."""
    client_id, _, secret = CREDENTIAL.partition(":")
    reader = Client("reader", "reader-secret", permissions=Permissions(read_only=True))
    clients = (Client(client_id, secret), client_without_rights(SECOND), reader)
    return MockCatalog(
        seed=1,
        oauth2=OAuth2Settings(clients=clients) if secured else None,
        token=TOKEN if secured else None,
        **offered(spec, {"token": TOKEN}),
        warehouses=[WarehouseDeclaration(WAREHOUSE, prefix=prefix), "another"],
    )


def target(
    mock: MockCatalog, isolation: str, url: str = ADDRESS, *, secured: bool = True
) -> Target:
    """Return the run's target; for "parent", after making the namespace that a user would make."""
    access: Any = {"warehouse": WAREHOUSE, "second_warehouse": "another"}
    access |= {"credential": CREDENTIAL, "second": SECOND, "reader": READER} if secured else {}
    plain = Target(url, isolation="flat", **access)
    if isolation != "parent":
        return Target(url, isolation=isolation, **access)
    session = open_session(plain, run_id="given", transport=mock.httpx_transport())
    session.connection.guard = lambda _: None  # a user may make other objects than a run
    Catalog(session, "parent").create_namespace((PARENT,)).expect(200)
    session.close()
    return Target(url, namespace=(PARENT,), **access)


def left_on(mock: MockCatalog) -> list[tuple[str, ...]]:
    """Return the namespaces that a run has left on the mock, except the given parent."""
    found = [namespace for namespace, _ in mock.state(WAREHOUSE).namespaces.after()]
    return [namespace for namespace in found if namespace != (PARENT,)]


class Cell(NamedTuple):
    """The access to a catalog, and the isolation of a run."""

    isolation: str
    prefix: str | None
    secured: bool


PREFIXES = {"none": "", "of-two-segments": "cat/prod", "percent-encoded": "caf%C3%A9%2Fprod"}
CELLS = {
    f"{isolation}-{prefix}-{'secured' if secured else 'open'}": Cell(
        isolation, PREFIXES[prefix], secured
    )
    for isolation, prefix, secured in itertools.product(ISOLATIONS, PREFIXES, (True, False))
}


# Every pair of settings is in one of these. The plain run judges all checks; these cells share out
# the plain ones, and a quarter of the generated ones.
PAIRS = (
    "flat-percent-encoded-secured", "flat-none-open", "flat-of-two-segments-secured",
    "parent-none-open", "parent-of-two-segments-open", "parent-percent-encoded-secured",
    "nested-of-two-segments-open", "nested-none-secured", "nested-percent-encoded-open",
)  # fmt: skip
CELLS_BY_TIER = [
    name
    if name in PAIRS
    else pytest.param(name, marks=pytest.mark.complete("each pair of its settings is in another"))
    for name in CELLS
]
GROUPS = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)


def checks_in(name: str) -> tuple[Check, ...]:
    """Return the checks that are judged in a cell."""
    turn = PAIRS.index(name) if name in PAIRS else 0
    return share(
        collect(GROUPS, CONTRACT),
        turn,
        4 * len(PAIRS),
        always=lambda check: is_plain(check) and has_turn(check, turn, len(PAIRS)),
    )


def direct_run(
    cell: Cell,
    workers: int,
    order: int | None,
    checks: Iterable[Check] | None = None,
    on_exchange: Callable[[Exchange], None] | None = None,
    served: str = DEFAULT_SPEC_VERSION,
    spec: str = DEFAULT_SPEC_VERSION,
) -> tuple[Run, list[tuple[str, ...]]]:
    """Return a run in process, in the checks' own order or a random one, and its residue.

    Some of the ``checks`` are judged, or all. The mock has the version ``served``, and is held to
    ``spec``.
    """
    mock = faithful(cell.prefix, secured=cell.secured, spec=served)
    where = target(mock, cell.isolation, secured=cell.secured)
    with choosing(order, checks):
        options = RunOptions(where, run_id="law", workers=workers, groups=GROUPS, spec=spec)
        run = run_checks(options, transport=mock.httpx_transport(), on_exchange=on_exchange)
    left = left_on(mock)
    mock.stop()
    return run, left


@contextlib.contextmanager
def choosing(order: int | None, some: Iterable[Check] | None = None) -> Iterator[None]:
    """Let runs judge some of their checks, and in a random order, the same for the same number."""
    wanted = None if some is None else {check.id for check in some}

    def chosen(checks: Iterable[Check], globs: Iterable[str]) -> tuple[Check, ...]:
        listed = [c for c in select(checks, globs) if wanted is None or c.id in wanted]
        if order is not None:
            random.Random(order).shuffle(listed)  # noqa: S311 - an order is no secret
        return tuple(listed)

    with patch("icecheck.run.runner.select", chosen):
        yield


class PlainRun(NamedTuple):
    """What checks of a run ended with, and how many requests each group of them has sent."""

    outcomes: dict[str, str]
    requests: dict[str, int]


def plain_run() -> PlainRun:
    """Run one check after the other, in their own order."""
    asking: Counter[str] = Counter()
    run, left = direct_run(
        Cell("nested", None, secured=True),
        workers=1,
        order=None,
        on_exchange=lambda exchange: asking.update([exchange.check]),
    )
    expect_faithful(run, left)
    assert run.status == "conformant"
    requests: Counter[str] = Counter()
    for check in collect(GROUPS, CONTRACT):
        requests[check.group] += asking[check.id]
    return PlainRun(outcomes(run), requests)


def outcomes(run: Run) -> dict[str, str]:
    return {verdict.check: str(verdict.outcome) for verdict in run.verdicts}


def expect_faithful(run: Run, left: list[tuple[str, ...]]) -> None:
    wrong = [v for v in run.verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert [f"{v.check}: {v.outcome} {v.summary}" for v in wrong] == []
    # A run that judges a share of the checks says so.
    assert run.status in {"conformant", "partial"}
    assert run.exit_code == 0
    assert run.facts["safety"]["residue"] == []
    assert run.facts["safety"]["touched_foreign"] == []
    assert left == []


def test_every_check_passes_and_the_mock_is_empty_afterwards(plain: PlainRun) -> None:
    assert {check: o for check, o in plain.outcomes.items() if o != "pass"} == {}


@in_shares
@pytest.mark.parametrize("name", CELLS_BY_TIER)
def test_the_verdicts_are_the_same_however_the_catalog_is_reached(
    name: str, plain: PlainRun
) -> None:
    """Each cell has four workers and its own random order."""
    cell = CELLS[name]
    checks = checks_in(name)
    run, left = direct_run(cell, 4, [*CELLS].index(name), checks)
    expect_faithful(run, left)
    assert run.facts["config"]["isolation"] == cell.isolation
    assert run.facts["target"]["prefix"] == cell.prefix
    found = outcomes(run)
    expected = plain.outcomes
    others = {check for check, outcome in found.items() if expected.get(check) != outcome}
    others |= {check.id for check in checks if check.id in expected} - found.keys()
    # A catalog without a prefix skips the check of the prefix.
    if not cell.prefix:
        others.discard("getConfig.prefix-serves")
    if cell.secured:
        assert others == set()
    else:
        # An open one skips the checks of access; no other check may be missing.
        assert {found.get(check, "skip") for check in others} <= {"skip"}
        assert [check for check in others if not about_access(check)] == []


def about_access(check: str) -> bool:
    words = ("token", "401", "403", "auth", "credential", "principal", "grant", "scope", "client")
    return any(word in check.lower() for word in words)


def test_a_run_that_may_only_read_finds_nothing_wrong_and_changes_nothing() -> None:
    mock = faithful()
    where = target(mock, "flat")
    session = open_session(where, run_id="given", transport=mock.httpx_transport())
    theirs = Catalog(session, "theirs")
    namespace = given_namespace(theirs)
    table, view = given_table(theirs, namespace), given_view(theirs, namespace)
    before = mock.state(WAREHOUSE)
    given = Given(namespace, (namespace, table.name), (namespace, view.name))
    where = replace(where, read_only=True, given=given)
    with choosing(1):
        run = run_checks(
            RunOptions(where, run_id="law", workers=4), transport=mock.httpx_transport()
        )
    wrong = [v for v in run.verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert [f"{v.check}: {v.outcome} {v.summary}" for v in wrong] == []
    assert run.exit_code == 0
    assert mock.state(WAREHOUSE) is before
    theirs.undo()
    session.close()
    mock.stop()


def test_every_pair_of_settings_is_in_a_cell_of_the_usual_command() -> None:
    def pairs(names: Iterable[str]) -> set[tuple[object, ...]]:
        cells = [CELLS[name] for name in names]
        return {pair for c in cells for pair in itertools.combinations(enumerate(c), 2)}

    assert pairs(PAIRS) == pairs(CELLS)
