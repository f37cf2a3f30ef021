"""The token endpoint and credentials: a defect proves each check, no lawful catalog is at fault."""

from collections.abc import Callable
from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.findings.verdict import Outcome as Ending
from icecheck.findings.verdict import SkipKind, Verdict
from icecheck.judging.judge import judge
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, VendingSettings
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, wrap
from icecheck.targets.target import Target
from tests.kill.killing import (
    ADDRESS,
    CREDENTIAL,
    TOKEN,
    WAREHOUSE,
    checks_of,
    mock_session,
    words,
)

CHECKS = checks_of("test_oauth2", "test_credentials")


def verdicts_on(mock: MockCatalog, **options: Any) -> dict[str, Verdict]:
    """Return the verdicts of these checks on a server, with these options of a Target."""
    target = Target(ADDRESS, warehouse=WAREHOUSE, **options)
    session = open_session(target, run_id="kill", transport=mock.httpx_transport())
    try:
        return {check.id: judge(check, Catalog(session, check.id)) for check in CHECKS}
    finally:
        session.close()
        mock.stop()


def server(**options: Any) -> MockCatalog:
    client_id, _, secret = CREDENTIAL.partition(":")
    oauth2 = OAuth2Settings(clients=(Client(client_id, secret),))
    faithful = {"seed": 1, "oauth2": oauth2, "root": "s3://kill", "token": TOKEN}
    return MockCatalog(**{**faithful, **options})


def vending(storage: Any = "s3") -> VendingSettings:
    """Return settings that vend storage credentials, and a catalog token with every table."""
    return VendingSettings(storage=storage, table_config={"token": TOKEN})


# ------------------------------------------------------------------- the faithful mock


@pytest.mark.parametrize("storage", ["s3", "gcs", "adls"])
def test_every_shape_of_credentials_passes(storage: Any) -> None:
    mock = server(vending=vending(storage), root="memory://kill")
    due = set() if storage == "s3" else {"loadCredentials.s3-complete"}
    assert set(skipped(verdicts_on(mock, credential=CREDENTIAL))) == due


def test_no_secret_is_recorded() -> None:
    with mock_session() as (_, session):
        for check in CHECKS:
            judge(check, Catalog(session, check.id))
        recorded = repr(session.exchanges)
    assert "kill-secret" not in recorded
    assert "eyJ" not in recorded  # the beginning of every JWT
    assert "ICECHECK" not in recorded  # the beginning of the mock's key ids


# --------------------------------------------------------------------- lawful catalogs


def skipped(verdicts: dict[str, Verdict]) -> dict[str, SkipKind]:
    """Return the skipped checks with their reasons; everything else must have passed."""
    wrong = [v for v in verdicts.values() if v.outcome not in {Ending.PASS, Ending.SKIP}]
    assert words(wrong) == []
    return {id_: v.skip.kind for id_, v in verdicts.items() if v.skip is not None}


def test_a_catalog_without_credentials_for_storage_is_not_judged_by_them() -> None:
    verdicts = verdicts_on(server(), credential=CREDENTIAL)
    assert skipped(verdicts) == dict.fromkeys(
        [
            "loadCredentials.covers-the-table",
            "loadCredentials.covers-a-moved-table",
            "loadCredentials.usable",
            "loadCredentials.s3-complete",
            "loadTable.storage-credentials",
            "loadCredentials.refresh",
            "loadCredentials.refresh-after-rename",
            "loadTable.token-of-the-table",
            "loadTable.tag-per-access",
            "loadTable.token-of-the-table",
        ],
        SkipKind.NOT_APPLICABLE,
    )


def test_a_catalog_that_does_not_announce_them_is_not_asked() -> None:
    mock = server(vending=vending(), hidden=("loadCredentials",))
    found = skipped(verdicts_on(mock, credential=CREDENTIAL))
    assert {id_ for id_, kind in found.items() if kind is SkipKind.NOT_DECLARED} == {
        id_ for id_ in found if id_.startswith("loadCredentials.")
    }
    assert len(found) == 8


OTHER_SERVER = "http://other.invalid/v1/oauth/tokens"


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ({"token": TOKEN}, 0),
        ({"credential": CREDENTIAL, "oauth2_server_uri": OTHER_SERVER}, 1),
    ],
)
def test_no_token_is_asked_for_without_a_credential_for_this_server(
    options: dict[str, str], asked: int
) -> None:
    """In process every address is the mock: only the session's own token is requested."""
    mock = server(vending=vending())
    found = skipped(verdicts_on(mock, **options))
    assert set(found) == {check.id for check in checks_of("test_oauth2")}
    assert mock.journal.count("getToken") == asked


def test_an_open_catalog_that_gives_anybody_a_token_is_only_told_of_its_errors() -> None:
    mock = MockCatalog(seed=1, root="s3://kill", vending=vending())
    assert skipped(verdicts_on(mock, credential=CREDENTIAL)) == {
        "getToken.wrong-secret": SkipKind.NOT_APPLICABLE
    }


def _fresh_each_time(registries: Registries) -> None:
    """Vend new credentials in every load, which then has no entity tag."""
    turn = iter(range(10_000))

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        headers = tuple(h for h in outcome.reply.headers if h[0] != "etag")
        reply = outcome.reply
        return Outcome(
            outcome.state,
            type(reply)(reply.status, (*headers, ("x-turn", str(next(turn)))), reply.body),
        )

    wrap(registries, "loadTable", around)


def _for_the_bucket(registries: Registries) -> None:
    """Vend credentials for the whole bucket, with the scheme's other spelling."""

    def alter(body: dict[str, list[dict[str, object]]]) -> dict[str, list[dict[str, object]]]:
        return {
            "storage-credentials": [
                {**each, "prefix": "s3a://kill"} for each in body["storage-credentials"]
            ]
        }

    alter_body(registries, "loadCredentials", alter)


@pytest.mark.parametrize("install", [_fresh_each_time, _for_the_bucket])
def test_no_check_fails_on_a_lawful_catalog(install: Callable[[Registries], None]) -> None:
    mock = server(vending=vending())
    install(mock.registries)
    skipped(verdicts_on(mock, credential=CREDENTIAL))
