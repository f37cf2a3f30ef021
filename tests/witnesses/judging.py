"""Judges checks with real clients on a mock in this process, with or without a defect."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.session import SessionSummary
from icecheck.findings.verdict import Group, Verdict
from icecheck.judging.judge import judge
from icecheck.mock_server.defects import Install, defects
from icecheck.proof.defective import defective_session
from icecheck.run.collect import collect
from icecheck.wire.exchange import Exchange
from tests.kit.contracts import CONTRACT

CHECKS = {check.id: check for check in collect((Group.CLIENTS,), CONTRACT)}
WITH_SPARK = frozenset(
    check_id
    for check_id, check in CHECKS.items()
    if "spark_if_installed" in check.function.__code__.co_varnames
)
ALONE = sorted(set(CHECKS) - WITH_SPARK)


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, the run's summary at its end, and the exchanges of the check."""

    verdict: Verdict
    summary: SessionSummary
    exchanges: tuple[Exchange, ...]

    @property
    def words(self) -> str:
        return f"{self.verdict.outcome}: {self.verdict.summary}"


def judged_on(
    check_id: str,
    *defect_names: str,
    install: Install | None = None,
    resources: Mapping[str, Any] | None = None,
    **target: Any,
) -> Judged:
    """Judge one check on a mock with these defects."""
    installs: Iterable[Install] = [defects()[name].install for name in defect_names]
    installs = [*installs, *([install] if install else [])]
    with defective_session(installs, **target) as (_, session):
        catalog = Catalog(session, check_id)
        verdict = judge(CHECKS[check_id], catalog, resources)
    return Judged(verdict, session.summary(), tuple(catalog.exchanges))
