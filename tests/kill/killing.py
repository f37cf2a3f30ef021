"""Helpers of the kill tests of all families: judge checks in process on mocks with defects."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from icecheck import conformance, scenarios
from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.contract import DEFAULT_SPEC_VERSION, Contract
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.judging.check import Check, check_of
from icecheck.judging.judge import judge
from icecheck.mock_server.defects import defects
from icecheck.mock_server.mock import MockCatalog
from icecheck.mock_server.planning.plans import PlanningSettings
from icecheck.proof.defective import (
    ADDRESS,
    CREDENTIAL,
    SECOND,
    TOKEN,
    WAREHOUSE,
    client_without_rights,
    defective_session,
    target_of_mock,
)
from icecheck.proof.kill_matrix import judged_with
from icecheck.targets.target import Namespace
from tests.kit.contracts import CONTRACT

__all__ = [
    "ADDRESS",
    "CREDENTIAL",
    "GIVEN_PARENT",
    "ISOLATIONS",
    "MODULES",
    "SECOND",
    "TOKEN",
    "WAREHOUSE",
    "checks_of",
    "client_without_rights",
    "defects_of",
    "mock_session",
    "open_flat",
    "run_check",
    "run_checks",
    "words",
]

GIVEN_PARENT: Namespace = ("given_parent",)
ISOLATIONS = ("nested", "flat", "parent")
"""The three modes in which every check must work; "parent" is made before the session opens."""


MODULES = {
    info.name.rpartition(".")[2]: info.name
    for package in (conformance, scenarios)
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
}
"""The short name of each module of checks, and its full one."""


def checks_of(*modules: str, contract: Contract = CONTRACT) -> tuple[Check, ...]:
    """Return the checks of these modules of the conformance folder, in order of definition."""
    found: dict[str, Check] = {}
    for module in modules:
        members = vars(importlib.import_module(MODULES[module]))
        for name, value in members.items():
            check = check_of(value, contract) if name.startswith("test_") else None
            if check is not None:
                assert check.id not in found, f"two checks are called {check.id}"
                found[check.id] = check
    return tuple(found.values())


def defects_of(*modules: str) -> tuple[str, ...]:
    """Return the names of the defects that these modules of the mock's defects folder declare."""
    homes = {f"icecheck.mock_server.defects.{module}" for module in modules}
    return tuple(name for name, d in defects().items() if d.module in homes)


@contextmanager
def mock_session(
    defect_names: Iterable[str] = (),
    *,
    isolation: str = "auto",
    planning: PlanningSettings | None = None,
    spec: str = DEFAULT_SPEC_VERSION,
) -> Iterator[tuple[MockCatalog, Session]]:
    """Yield a mock with these defects, and a session with it in this mode of isolation."""
    installs = [defects()[name].install for name in defect_names]
    options: dict[str, Any] = {"isolation": isolation}
    if isolation == "parent":
        options = {"namespace": GIVEN_PARENT, "prepare": _make_parent}
    with defective_session(installs, planning=planning, spec=spec, **options) as (mock, session):
        yield mock, session


def _make_parent(mock: MockCatalog) -> None:
    with open_flat(mock) as flat:
        Catalog(flat, "parent").create_namespace(GIVEN_PARENT).expect(200)


@contextmanager
def open_flat(mock: MockCatalog) -> Iterator[Session]:
    """Yield a plain session for the setup that a user would have done."""
    session = open_session(
        target_of_mock(isolation="flat"), run_id="given", transport=mock.httpx_transport()
    )
    session.connection.guard = lambda _: None  # a user may make other objects than a run
    try:
        yield session
    finally:
        session.close()


def run_check(
    check: Check,
    defect_names: Iterable[str] = (),
    *,
    isolation: str = "auto",
    spec: str = DEFAULT_SPEC_VERSION,
) -> Verdict:
    """Return the verdict of one check on a mock with these defects (none: the faithful mock)."""
    with mock_session(defect_names, isolation=isolation, spec=spec) as (_, session):
        return judge(check, Catalog(session, check.id))


def run_checks(checks: Iterable[Check], defect_names: Iterable[str] = ()) -> dict[str, Verdict]:
    """Return check id -> verdict of several checks on one such mock, the passive ones included."""
    planted = [defects()[name] for name in defect_names]
    return {verdict.check: verdict for verdict in judged_with(planted, checks)}


def words(verdicts: Iterable[Verdict]) -> list[str]:
    """Return one line per verdict that is no pass, for an assertion's message."""
    return [
        f"{v.check}: {v.outcome} {v.summary or v.skip}"
        for v in verdicts
        if v.outcome is not Outcome.PASS
    ]
