"""Strangers, tokens and spellings: forged tokens are refused, and no lawful catalog is at fault."""

from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.conformance.kit.every_route import Asked
from icecheck.conformance.security.forged_tokens import (
    claims_of,
    forged_tokens,
    own_token,
    unsigned_jwt,
)
from icecheck.conformance.security.test_strangers import in_turn
from icecheck.findings.verdict import Level, SkipKind, Verdict
from icecheck.findings.verdict import Outcome as Ending
from icecheck.judging.judge import judge
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol.problem import Problem
from icecheck.targets.target import Target
from tests.kill.killing import (
    ADDRESS,
    CREDENTIAL,
    TOKEN,
    WAREHOUSE,
    checks_of,
    mock_session,
    run_check,
    words,
)
from tests.kit.contracts import CONTRACT

CHECKS = {
    check.id: check
    for check in checks_of("test_strangers", "test_token_answers", "test_load_combinations")
}


def verdict_on(mock: MockCatalog, check_id: str, **target: Any) -> Verdict:
    options = {"token": TOKEN, **target}
    session = open_session(
        Target(ADDRESS, warehouse=WAREHOUSE, **options),
        run_id="kill",
        transport=mock.httpx_transport(),
    )
    try:
        return judge(CHECKS[check_id], Catalog(session, check_id))
    finally:
        session.close()
        mock.stop()


# ------------------------------------------------------------------------------- forging


def test_the_claims_of_a_token_are_read_and_those_of_anything_else_are_none() -> None:
    assert claims_of(unsigned_jwt({"sub": "a", "exp": 7})) == {"sub": "a", "exp": 7}
    assert claims_of("opaque") is None
    assert claims_of("not.a.jwt") is None
    assert claims_of("e30.Ww.e30") is None  # its claims are a list


@pytest.mark.parametrize("kind", ["signed", "opaque"])
def test_a_forged_token_is_not_the_token_and_is_not_shown(kind: str) -> None:
    given: Any = {"credential": CREDENTIAL} if kind == "signed" else {"token": TOKEN}
    client_id, _, secret = CREDENTIAL.partition(":")
    oauth2 = OAuth2Settings(clients=(Client(client_id, secret),))
    mock = MockCatalog(seed=1, token=TOKEN, oauth2=oauth2)
    session = open_session(
        Target(ADDRESS, warehouse=WAREHOUSE, **given),
        run_id="kill",
        transport=mock.httpx_transport(),
    )
    catalog = Catalog(session, "forging")
    own, forged = own_token(catalog), forged_tokens(catalog)
    assert own is not None
    assert own not in forged.values()
    assert len(set(forged.values())) == len(forged) == (6 if kind == "signed" else 4)
    for token in forged.values():
        headers = {"Authorization": f"Bearer {token}"}
        assert catalog.call("listNamespaces", headers=headers).status == 401
        assert token not in repr(session.exchanges)
    session.close()
    mock.stop()


# -------------------------------------------------------------------------------- lawful catalogs


@pytest.mark.parametrize("check_id", ["auth.strangers-on-every-route", "auth.strangers-are-told"])
def test_a_catalog_that_is_open_to_anybody_is_not_asked_for_strangers(check_id: str) -> None:
    verdict = verdict_on(MockCatalog(seed=1), check_id)
    assert verdict.skip is not None
    assert verdict.skip.kind is SkipKind.NOT_APPLICABLE


def _without_signing(registries: Registries) -> None:
    """Refuse remote signing as an unknown mechanism."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if "remote-signing" in call.request.headers.get("x-iceberg-access-delegation", ""):
            raise Problem(400, "BadRequestException", "Unsupported access delegation mode")
        return faithful(state, call)

    wrap(registries, "loadTable", around)


def test_who_refuses_a_mechanism_is_told_by_no_must() -> None:
    for check_id in ("loadTable.every-combination", "etag.every-combination"):
        with mock_session() as (mock, session):
            _without_signing(mock.registries)
            verdict = judge(CHECKS[check_id], Catalog(session, check_id))
        assert verdict.level is Level.MUST
        assert words([verdict]) == []
    with mock_session() as (mock, session):
        _without_signing(mock.registries)
        refused = CHECKS["loadTable.access-however-asked"]
        verdict = judge(refused, Catalog(session, refused.id))
    assert (verdict.outcome, verdict.level) == (Ending.FAIL, Level.INTEROP)


# ------------------------------------------------------------------------------- symptoms


def test_a_leak_says_which_form_of_which_operation_and_to_whom() -> None:
    verdict = run_check(CHECKS["auth.strangers-on-every-route"], ["auth-purge-open"])
    assert verdict.findings[0].symptom.slug == "leak:without-credentials"
    assert "dropTable (purgeRequested=true)" in verdict.findings[0].detail
    verdict = run_check(CHECKS["auth.strangers-on-every-route"], ["auth-signature-unchecked"])
    assert verdict.findings[0].symptom.slug == "leak:forged-token"
    told = "answered to an expired token: updateTable, commitTransaction"
    assert verdict.findings[0].detail == told


# --------------------------------------------------------------------------------- taking turns


REQUESTS = [Asked(operation_id, {}) for operation_id in CONTRACT.operations]
CREDENTIALS = ["another scheme", "an unsigned token", "an expired token", "a token cut short"]


def test_a_new_operation_does_not_change_which_credentials_the_others_are_sent_with() -> None:
    every = in_turn(REQUESTS, CREDENTIALS)
    for left_out in REQUESTS:
        others = in_turn([each for each in REQUESTS if each != left_out], CREDENTIALS)
        without = {w: [e for e in mine if e != left_out] for w, mine in every.items()}
        assert others == without


@pytest.mark.parametrize("many", [0, 1, len(REQUESTS)])
def test_each_request_gets_one_of_the_credentials_and_each_of_these_is_sent(many: int) -> None:
    turns = in_turn(REQUESTS[:many], CREDENTIALS)
    sent = [each for mine in turns.values() for each in mine]
    assert {str(each) for each in sent} == {str(each) for each in REQUESTS[:many]}
    assert all(turns.values()) is (many > 0)
    assert len(sent) == (max(many, len(CREDENTIALS)) if many else 0)


def test_where_no_credentials_are_forged_nothing_is_sent() -> None:
    assert in_turn(REQUESTS, []) == {}
