"""Opens sessions with a mock of their own that has defects, where checks are shown to fail."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from icecheck.client.adapting import adapt
from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.contract import DEFAULT_SPEC_VERSION, contract_for
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions, VendingSettings
from icecheck.mock_server.core.clock import SystemClock
from icecheck.mock_server.defects import Install
from icecheck.mock_server.planning.plans import PlanningSettings
from icecheck.targets.target import Principal, Target

ADDRESS = "http://mock.invalid"
WAREHOUSE = "kill"
SECOND_WAREHOUSE = f"{WAREHOUSE}-another"
TOKEN = "kill-token"  # noqa: S105 - what a mock wants, so that checks of credentials apply
CREDENTIAL = "kill:kill-secret"  # or a token for it, so that checks of its token endpoint do
SECOND = Principal(credential="other:other-secret")  # has no right to the objects of a run
READER = Principal(credential="reader:reader-secret")  # may read them, and no more


SEPARATOR = "%1D"
"""What a mock announces to stand between the levels of namespaces; no check has it in a name."""
PLANNED_HERE = {"scan-planning-mode": "server"}
"""The config of a table whose scans a mock plans."""


def offered(
    spec: str,
    table_config: Mapping[str, str],
    separator: str | None = SEPARATOR,
    *,
    plans: bool = True,
) -> dict[str, Any]:
    """Return settings with which a mock of a version offers what checks judge.

    ``table_config`` comes with its tables; ``plans`` False: it does not say that it plans scans.
    """
    later = contract_for(spec).is_at_least("1.11.0")
    config = {**table_config, **(PLANNED_HERE if later and plans else {})}
    return {
        "spec": spec,
        "vending": VendingSettings(
            storage="s3", table_config=config, signed_below="s3://icecheck-mock/signed"
        ),
        "namespace_separator": separator if later else None,
    }


@contextmanager
def defective_session(
    installs: Iterable[Install] = (),
    *,
    from_the_start: bool = False,
    planning: PlanningSettings | None = None,
    spec: str = DEFAULT_SPEC_VERSION,
    prepare: Callable[[MockCatalog], None] | None = None,
    separator: str | None = SEPARATOR,
    **options: Any,
) -> Iterator[tuple[MockCatalog, Session]]:
    """Open a session with a mock that then gets these defects; no socket is opened.

    The defects come after the session has found out how to work in the catalog, so that only checks
    meet them. With ``from_the_start`` they are there before, and the run adapts to them as on a
    real catalog; TargetUnusable is raised if no run can work there. The mock serves the version
    ``spec``; its files are local, in a directory of its own. Since 1.11.0 it announces a separator
    of levels, unless that is None, and knows what warehouses there are. ``prepare`` arranges what a
    user would have arranged; ``options`` are those of a Target. Where the session waits before it
    asks again, the mock's clock is moved instead.
    """
    clock = SystemClock()
    later = contract_for(spec).is_at_least("1.11.0")
    client_id, _, secret = CREDENTIAL.partition(":")
    mock = MockCatalog(
        **offered(spec, {"token": TOKEN}, separator),
        seed=1,
        clock=clock,
        token=TOKEN,
        planning=planning,
        oauth2=OAuth2Settings(
            clients=(
                Client(client_id, secret),
                client_without_rights(SECOND),
                Client("reader", "reader-secret", permissions=Permissions(read_only=True)),
            )
        ),
        warehouses=(WAREHOUSE, SECOND_WAREHOUSE) if later else None,
    )
    transport = mock.httpx_transport()
    try:
        if prepare is not None:
            prepare(mock)
        if from_the_start:
            _install(mock, installs)
        session = open_session(
            target_of_mock(**options),
            run_id="kill01",
            spec=spec,
            transport=transport,
            sleep=lambda seconds: clock.advance(round(seconds * 1000)),
        )
        # Nobody else uses this mock, so the probe for other users' objects is left out.
        session.keeps_full_namespaces = True
        if from_the_start:
            adapt(session)
        else:
            _install(mock, installs)
        yield mock, session
        session.close()
    finally:
        mock.stop()


def _install(mock: MockCatalog, installs: Iterable[Install]) -> None:
    for install in installs:
        install(mock.registries)


def client_without_rights(principal: Principal) -> Client:
    """Return a client that may read the configuration, and nothing that a run makes."""
    client_id, _, secret = str(principal.credential).partition(":")
    return Client(client_id, secret, permissions=Permissions.nothing())


def target_of_mock(**options: Any) -> Target:
    """Return the mock of a defective session as a target."""
    return Target(
        ADDRESS,
        warehouse=WAREHOUSE,
        second_warehouse=SECOND_WAREHOUSE,
        credential=CREDENTIAL,
        second=SECOND,
        reader=READER,
        **options,
    )
