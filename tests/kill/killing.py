"""Judges checks in process on mocks with defects: what the kill tests of all families share."""

import importlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from icecheck.check import Check, check_of
from icecheck.client import Catalog
from icecheck.contract import load
from icecheck.judge import judge
from icecheck.mock_server import Client, OAuth2Settings, Permissions, VendingSettings
from icecheck.mock_server.defects import defects
from icecheck.mock_server.mock import MockCatalog
from icecheck.mock_server.planning.plans import PlanningSettings
from icecheck.passive import observe, passive_verdicts
from icecheck.session import Session, open_session
from icecheck.target import Namespace, Principal, Target
from icecheck.verdict import Outcome, Verdict

WAREHOUSE = "kill"
ADDRESS = "http://mock.invalid"
TOKEN = "kill-token"  # what the mock wants, so that checks of credentials apply
CREDENTIAL = "kill:kill-secret"  # or a token for this, so that those of its token endpoint do
SECOND = Principal(credential="other:other-secret")  # who may do nothing with what a run makes
GIVEN_PARENT: Namespace = ("given_parent",)
ISOLATIONS = ("nested", "flat", "parent")
"""The three modes every check must work in; "parent" is made before the session opens."""


def checks_of(*modules: str) -> tuple[Check, ...]:
    """The checks of these modules of the conformance folder, in the order of their definition."""
    found: dict[str, Check] = {}
    for module in modules:
        members = vars(importlib.import_module(f"icecheck.conformance.{module}"))
        for name, value in members.items():
            check = check_of(value) if name.startswith("test_") else None
            if check is not None:
                assert check.id not in found, f"two checks are called {check.id}"
                found[check.id] = check
    return tuple(found.values())


def defects_of(*modules: str) -> tuple[str, ...]:
    """The names of the defects that these modules of the mock's defects folder declare."""
    homes = {f"icecheck.mock_server.defects.{module}" for module in modules}
    return tuple(name for name, d in defects().items() if d.install.__module__ in homes)


@contextmanager
def mock_session(
    defect_names: Iterable[str] = (),
    *,
    isolation: str = "auto",
    planning: PlanningSettings | None = None,
) -> Iterator[tuple[MockCatalog, Session]]:
    """A session with a mock of its own that has these defects; no socket is opened.

    The defects are installed after the session has probed its isolation, so that only checks
    meet them; capabilities are still probed with them, as on a real catalog. Its files are on
    this machine, in a directory of its own.
    """
    client_id, _, secret = CREDENTIAL.partition(":")
    mock = MockCatalog(
        seed=1,
        token=TOKEN,
        planning=planning,
        oauth2=OAuth2Settings(clients=(Client(client_id, secret), client_without_rights(SECOND))),
        vending=VendingSettings(storage="s3", table_config={"token": TOKEN}),
    )
    transport = mock.httpx_transport()
    try:
        if isolation == "parent":
            with open_flat(mock) as flat:
                Catalog(flat, "parent").create_namespace(GIVEN_PARENT).expect(200)
            target = _target(namespace=GIVEN_PARENT)
        else:
            target = _target(isolation=isolation)
        session = open_session(target, run_id="kill", transport=transport)
        for name in defect_names:
            defects()[name].install(mock.registries)
        yield mock, session
        session.close()
    finally:
        mock.stop()


def client_without_rights(principal: Principal) -> Client:
    """A client that may ask for the configuration, and for nothing that a run makes."""
    client_id, _, secret = str(principal.credential).partition(":")
    return Client(client_id, secret, permissions=Permissions.nothing())


def _target(**options: Any) -> Target:
    return Target(ADDRESS, warehouse=WAREHOUSE, credential=CREDENTIAL, second=SECOND, **options)


@contextmanager
def open_flat(mock: MockCatalog) -> Iterator[Session]:
    """A plain session for arranging what a user would have arranged."""
    session = open_session(
        _target(isolation="flat"), run_id="given", transport=mock.httpx_transport()
    )
    try:
        yield session
    finally:
        session.close()


def run_check(
    check: Check, defect_names: Iterable[str] = (), *, isolation: str = "auto"
) -> Verdict:
    """The verdict of one check on a mock with these defects (none: the faithful mock)."""
    with mock_session(defect_names, isolation=isolation) as (_, session):
        return judge(check, Catalog(session, check.id))


def run_checks(
    checks: Iterable[Check], defect_names: Iterable[str] = (), *, isolation: str = "auto"
) -> dict[str, Verdict]:
    """Check id -> verdict, the passive ones included, of several checks on one such mock."""
    with mock_session(defect_names, isolation=isolation) as (_, session):
        session.exchanges.clear()
        verdicts = [judge(check, Catalog(session, check.id)) for check in checks]
        observed = observe(session.exchanges, session.schemas)
        verdicts += passive_verdicts(observed, load(session.contract.version))
    return {verdict.check: verdict for verdict in verdicts}


def words(verdicts: Iterable[Verdict]) -> list[str]:
    """One line per verdict that is no pass, for an assertion's message."""
    return [
        f"{v.check}: {v.outcome} {v.summary or v.skip}"
        for v in verdicts
        if v.outcome is not Outcome.PASS
    ]
