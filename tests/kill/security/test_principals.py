"""A second principal: a defect proves each check, and each check needs such a principal."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.findings.verdict import Outcome, SkipKind, Verdict
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions, VendingSettings
from icecheck.mock_server.core.context import Registries, Reply, Request
from icecheck.mock_server.defects import Install, defects
from icecheck.mock_server.defects.kit.places import FaithfulGate, alter_gate
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import alter_body, refuse_as
from icecheck.mock_server.defects.security.bearer_tokens import is_at
from icecheck.mock_server.defects.security.permissions import is_restricted
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.security.callers import Security
from icecheck.proof.defective import defective_session
from icecheck.targets.target import Principal, Target
from tests.kill.killing import (
    ADDRESS,
    CREDENTIAL,
    SECOND,
    WAREHOUSE,
    checks_of,
    client_without_rights,
    mock_session,
    words,
)

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


# ------------------------------------------------------------- readers and other warehouses

READER = next(c for c in checks_of("test_strangers") if c.id == "auth.reader-on-every-route")
ELSEWHERE = next(
    c for c in checks_of("test_strangers") if c.id == "auth.second-warehouse-on-every-route"
)


def verdict_of(check: Check, *clients: Client, **target: Any) -> Verdict:
    client_id, _, secret = CREDENTIAL.partition(":")
    served = target.pop("served", {})
    server = MockCatalog(
        seed=1, oauth2=OAuth2Settings(clients=(Client(client_id, secret), *clients)), **served
    )
    described = Target(ADDRESS, warehouse=WAREHOUSE, credential=CREDENTIAL, **target)
    session = open_session(described, run_id="kill", transport=server.httpx_transport())
    try:
        return judge(check, Catalog(session, check.id))
    finally:
        session.close()
        server.stop()


@pytest.mark.parametrize("check", [READER, ELSEWHERE])
def test_without_a_reader_or_another_warehouse_nothing_is_asked(check: Check) -> None:
    verdict = verdict_of(check)
    assert verdict.skip is not None
    assert verdict.requests == 0


def test_a_reader_who_may_change_everything_is_found() -> None:
    verdict = verdict_of(READER, Client("all", "s"), reader=Principal(credential="all:s"))
    assert verdict.findings[0].symptom.slug == "leak:reader-writes"


def test_a_reader_who_may_not_even_read_proves_nothing() -> None:
    nobody = Client("no", "s", permissions=Permissions.nothing())
    verdict = verdict_of(READER, nobody, reader=Principal(credential="no:s"))
    assert verdict.skip is not None
    assert "refused" in verdict.skip.reason


def test_two_names_of_one_warehouse_are_no_finding() -> None:
    ignoring = [defects()["config-ignores-warehouse"].install]
    with defective_session(ignoring, from_the_start=True) as (_, session):
        verdict = judge(ELSEWHERE, Catalog(session, ELSEWHERE.id))
    assert verdict.skip is not None
    assert "address of this one" in verdict.skip.reason


def test_a_warehouse_that_is_not_there_is_no_finding() -> None:
    verdict = verdict_of(ELSEWHERE, second_warehouse="gone", served={"warehouses": [WAREHOUSE]})
    assert verdict.skip is not None
    assert "answers 400" in verdict.skip.reason


def test_what_another_warehouse_drops_in_vain_is_removed_all_the_same() -> None:
    with mock_session(["warehouses-share-drops"]) as (_, session):
        assert judge(ELSEWHERE, Catalog(session, ELSEWHERE.id)).outcome is Outcome.FAIL
    assert session.residue == []


def test_a_warehouse_that_sends_other_headers_each_time_is_still_the_same() -> None:
    """One warehouse whose config has a session of its own for each client that asks."""

    def with_session(registries: Registries) -> None:
        asked = itertools.count()

        def altered(body: Json) -> Json:
            session = {"header.X-Session": f"session-{next(asked)}"}
            return body | {"overrides": body["overrides"] | session}

        alter_body(registries, "getConfig", altered)

    ignoring = defects()["config-ignores-warehouse"].install
    with defective_session([ignoring, with_session], from_the_start=True) as (_, session):
        verdict = judge(ELSEWHERE, Catalog(session, ELSEWHERE.id))
    assert verdict.skip is not None
    assert "address of this one" in verdict.skip.reason


def test_nothing_is_made_or_renamed_in_another_warehouse() -> None:
    with mock_session() as (_, session):
        catalog = Catalog(session, ELSEWHERE.id)
        assert judge(ELSEWHERE, catalog).outcome is Outcome.PASS
    elsewhere = {e.operation for e in catalog.exchanges if f"/{WAREHOUSE}-another/" in e.url}
    making = ("createNamespace", "createTable", "registerTable", "renameTable", "renameView")
    assert elsewhere >= {"updateTable", "dropTable", "dropNamespace"}
    assert elsewhere.isdisjoint(making)


def test_another_warehouse_may_answer_success_to_dropping_what_is_not_there() -> None:
    def idempotent(registries: Registries) -> None:
        for operation_id in ("dropTable", "dropView", "dropNamespace"):
            refuse_as(registries, operation_id, 404, 204)

    with defective_session([idempotent]) as (_, session):
        verdict = judge(ELSEWHERE, Catalog(session, ELSEWHERE.id))
    assert words([verdict]) == []
    assert session.residue == []


def gate_for_reader(may: Callable[[Request], bool]) -> Install:
    """An installation that lets every reader do what `may` holds for, and nothing else."""

    def asked(faithful: FaithfulGate, request: Request, security: Security) -> Reply | None:
        limited = is_restricted(request, security) and not is_at(request, "getConfig")
        security.restricts = False
        if limited and not may(request):
            return replies.error_reply(403, "ForbiddenException", "No")
        return faithful(request, security)

    return lambda registries: alter_gate(registries, asked)


def reader_who(may: Callable[[Request], bool]) -> Verdict:
    with defective_session([gate_for_reader(may)]) as (_, session):
        return judge(READER, Catalog(session, READER.id))


def test_a_reader_may_stage_a_table_which_makes_nothing() -> None:
    def reads_or_stages(request: Request) -> bool:
        staged = b'"stage-create":true' in request.body.replace(b" ", b"")
        return request.method in {"GET", "HEAD"} or staged

    assert words([reader_who(reads_or_stages)]) == []


def test_a_reader_who_reads_nothing_and_writes_everything_is_found() -> None:
    verdict = reader_who(lambda request: request.method not in {"GET", "HEAD"})
    assert verdict.findings[0].symptom.slug == "leak:reader-writes"
