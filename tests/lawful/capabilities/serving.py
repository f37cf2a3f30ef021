"""Judges checks in process on mocks that lack something from the beginning."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from icecheck.client.catalog import Catalog
from icecheck.client.deletion_probe import require_deletion
from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.findings.capability_assessment import capabilities_of
from icecheck.findings.causes import causes_of
from icecheck.findings.verdict import Capability, Cause, Group, Outcome, Verdict
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.judging.probes import CAPABILITIES
from icecheck.judging.settling import settled_with_passive
from icecheck.judging.undeclared import try_undeclared
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, VendingSettings
from icecheck.run.collect import collect
from icecheck.targets.target import Target
from tests.kill.killing import ADDRESS, CREDENTIAL, TOKEN, WAREHOUSE
from tests.kit.contracts import CONTRACT
from tests.kit.shares import is_plain, share
from tests.lawful.lawful import Install

GROUPS = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)
WRONG = frozenset({Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR})


def every_check() -> tuple[Check, ...]:
    """Return the checks that need no engine, in the order in which a run judges them.

    Of the generated ones that need no capability the usual command has a share.
    """
    every = collect(GROUPS, CONTRACT)
    return share(every, 0, 8, always=lambda check: is_plain(check) or bool(check.needs))


@dataclass(frozen=True, slots=True)
class Said:
    """The result for one catalog: verdicts, claims, capabilities, and objects left behind."""

    verdicts: tuple[Verdict, ...]
    claims: tuple[Capability, ...]
    capabilities: dict[str, bool | None]
    residue: tuple[str, ...]

    @property
    def wrong(self) -> list[str]:
        """The failed and blocked checks, one line each."""
        return [f"{v.outcome} {v.check}: {v.summary}" for v in self.verdicts if v.outcome in WRONG]

    @property
    def lacking(self) -> set[str]:
        """The capabilities that are reported as not offered."""
        rows = [row for row in self.claims if row.assessment == "not-supported"]
        return {kind.partition(":")[2] for row in rows if (kind := row.id).startswith("capability")}

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The findings, grouped."""
        return causes_of(self.verdicts, CONTRACT)

    def claim(self, row_id: str) -> Capability:
        """Return the row of an endpoint or a capability."""
        return next(row for row in self.claims if row.id == row_id)


@contextmanager
def serving(
    install: Install | None = None,
    *,
    hidden: Iterable[str] = (),
    spec: str = CONTRACT.version,
    **target: object,
) -> Iterator[tuple[MockCatalog, Session]]:
    """Yield a mock that lacks this from the start, and a session with it."""
    client_id, _, secret = CREDENTIAL.partition(":")
    hidden = tuple(hidden)
    mock = MockCatalog(
        seed=1,
        token=TOKEN,
        oauth2=OAuth2Settings(clients=(Client(client_id, secret),)),
        vending=VendingSettings(storage="s3", table_config={"token": TOKEN}),
        hidden=hidden,
    )
    if install is not None:
        install(mock.registries)
    # Without a token endpoint no client gets a token: then the user has one.
    secrets = {"token": TOKEN} if "getToken" in hidden else {"credential": CREDENTIAL}
    options = replace(Target(ADDRESS, warehouse=WAREHOUSE), **(secrets | target))
    try:
        transport = mock.httpx_transport()
        session = open_session(options, run_id="lack", spec=spec, transport=transport)
        try:
            yield mock, session
        finally:
            session.close()
    finally:
        mock.stop()


def said_of(
    checks: Sequence[Check],
    install: Install | None = None,
    *,
    hidden: Iterable[str] = (),
    each: Callable[[Check], None] = lambda _: None,
    settle: bool = True,
    **target: object,
) -> Said:
    """Judge checks on such a catalog as a run does; ``each`` is called before each check.

    Without ``settle`` the verdicts are those of checks whose run also has all others.
    """
    with serving(install, hidden=hidden, **target) as (_, session):
        require_deletion(session)
        verdicts = []
        for check in checks:
            each(check)
            verdicts.append(judge(check, Catalog(session, check.id)))
        session.undeclared |= try_undeclared(session, checks)
        observed = observe(session.exchanges, session.schemas)
        known = verdicts, passive_verdicts(observed, CONTRACT)
        if settle:
            known = settled_with_passive(verdicts, session.permitted, observed, CONTRACT)
        verdicts = [each for part in known for each in part]
    summary = session.summary()
    claims = capabilities_of(
        verdicts,
        session.offer,
        CONTRACT,
        undeclared=summary.undeclared,
        probed=summary.capabilities,
        needed_by=summary.needed_by,
        traits={name: (trait.operation, trait.loses) for name, trait in CAPABILITIES.items()},
    )
    return Said(tuple(verdicts), claims, summary.capabilities, tuple(summary.residue))
