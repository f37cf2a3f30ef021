"""A second principal: a defect proves each check, and each check needs such a principal."""

from typing import Any

from tests.kill.killing import (
    ADDRESS,
    CREDENTIAL,
    SECOND,
    WAREHOUSE,
    checks_of,
    client_without_rights,
    words,
)

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.findings.verdict import Outcome, SkipKind, Verdict
from icecheck.judging.judge import judge
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions, VendingSettings
from icecheck.targets.target import Principal, Target

CHECKS = tuple(
    check
    for check in checks_of("test_second_principal", "test_strangers")
    if check.id.startswith("auth.second-principal")
)


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


def test_what_a_defective_catalog_lets_others_make_is_removed_too() -> None:
    everything = Client("all", "secret-all")
    verdicts = verdicts_with(Principal(credential="all:secret-all"), everything)
    assert {v.outcome for v in verdicts.values()} == {Outcome.FAIL, Outcome.PASS}
    changed = verdicts["auth.second-principal-on-every-route"]
    assert changed.findings[0].symptom.slug == "leak:other-principal-writes"


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
