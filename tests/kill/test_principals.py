"""A second principal: each check is proven by a defect, and needs somebody to ask."""

from typing import Any

import pytest
from tests.kill.killing import (
    ADDRESS,
    CREDENTIAL,
    ISOLATIONS,
    SECOND,
    WAREHOUSE,
    checks_of,
    client_without_rights,
    defects_of,
    killed_by,
    not_caught,
    not_killed,
    residue_of,
    run_checks,
    words,
)

from icecheck.client import Catalog
from icecheck.judge import judge
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions, VendingSettings
from icecheck.mock_server.defects import defects
from icecheck.session import open_session
from icecheck.target import Principal, Target
from icecheck.verdict import Outcome, SkipKind, Verdict

CHECKS_IN, DEFECTS_IN = ("test_second_principal",), ("principals",)
CHECKS = checks_of(*CHECKS_IN)


def verdicts_with(second: Principal | None, *clients: Client, **mock: Any) -> dict[str, Verdict]:
    client_id, _, secret = CREDENTIAL.partition(":")
    server = MockCatalog(
        seed=1, oauth2=OAuth2Settings(clients=(Client(client_id, secret), *clients)), **mock
    )
    target = Target(ADDRESS, warehouse=WAREHOUSE, credential=CREDENTIAL, second=second)
    session = open_session(target, run_id="kill", transport=server.httpx_transport())
    try:
        return {check.id: judge(check, Catalog(session, check.id)) for check in CHECKS}
    finally:
        session.close()
        server.stop()


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_every_check_passes_on_the_faithful_mock(isolation: str) -> None:
    verdicts = run_checks(CHECKS, isolation=isolation)
    assert set(verdicts) >= {check.id for check in CHECKS}
    assert words(verdicts.values()) == []


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_nothing_is_left_behind_and_nothing_foreign_is_touched(isolation: str) -> None:
    assert residue_of(CHECKS, isolation=isolation) == ([], [])


def test_every_check_is_failed_by_a_defect() -> None:
    assert not_killed(CHECKS_IN, DEFECTS_IN) == []


def test_every_defect_fails_a_check() -> None:
    assert not_caught(CHECKS_IN, DEFECTS_IN) == []


def test_a_defect_fails_what_proves_the_requirement_it_breaks() -> None:
    for name in defects_of(*DEFECTS_IN):
        aimed = {c.id for c in CHECKS if defects()[name].breaks in c.proves}
        assert aimed & killed_by(name, CHECKS_IN), name


def test_what_a_defective_catalog_lets_others_make_is_removed_too() -> None:
    everything = Client("all", "secret-all")
    verdicts = verdicts_with(Principal(credential="all:secret-all"), everything)
    assert {v.outcome for v in verdicts.values()} == {Outcome.FAIL, Outcome.PASS}
    changed = verdicts["auth.second-principal-changes-nothing"]
    assert changed.findings[0].symptom == "leak:other-principal-writes"


def test_without_a_second_principal_nothing_is_asked() -> None:
    for verdict in verdicts_with(None).values():
        assert verdict.skip is not None
        assert verdict.skip.kind is SkipKind.MISSING_FIXTURE
        assert "--second-token" in verdict.skip.reason


def test_a_token_that_the_catalog_does_not_know_proves_nothing() -> None:
    for verdict in verdicts_with(Principal("made-up-token")).values():
        assert verdict.skip is not None
        assert "does not know" in verdict.skip.reason


def test_a_catalog_that_hides_what_is_forbidden_is_lawful() -> None:
    denied = Client(
        "hidden", "secret-h", permissions=Permissions(denied_namespaces=("icecheck_kill",))
    )
    verdicts = verdicts_with(Principal(credential="hidden:secret-h"), denied)
    assert words(verdicts.values()) == []


def test_views_and_credentials_are_asked_for_where_there_are_any() -> None:
    few = ("createView", "listViews", "loadView", "viewExists", "dropView", "loadCredentials")
    verdicts = verdicts_with(SECOND, client_without_rights(SECOND), hidden=few)
    assert words(verdicts.values()) == []
    verdicts = verdicts_with(
        SECOND, client_without_rights(SECOND), vending=VendingSettings(storage="s3"), root="s3://k"
    )
    assert words(verdicts.values()) == []
