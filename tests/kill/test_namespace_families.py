"""Configuration, namespaces, lists, names, errors, credentials: a defect proves each check."""

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.session import Session
from icecheck.conformance.listing import test_pagination
from icecheck.contract import Level
from icecheck.findings.verdict import Outcome, SkipKind, Verdict
from icecheck.judging.envelopes import REQUIREMENT
from icecheck.judging.judge import judge
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.wire.exchange import Step
from tests.kill.killing import (
    checks_of,
    mock_session,
    run_checks,
    words,
)
from tests.kit.contracts import CONTRACT
from tests.kit.findings import told
from tests.kit.shares import some
from tests.lawful.lawful import LAWFUL, OPEN, lawful_session, without_empty_properties

MODULES = (
    "test_config",
    "test_namespaces",
    "test_namespace_properties",
    "test_listing",
    "test_pagination",
    "test_names",
    "test_errors",
    "test_error_types",
    "test_authorization",
)


@pytest.fixture(autouse=True)
def _a_dozen_is_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are judged with a dozen objects: a thousand take most of a catalog's time, and differ
    only for the defects of tests/laws, which are judged with them."""
    monkeypatch.setattr(test_pagination, "_MANY", 12)


def all_verdicts(session: Session) -> list[Verdict]:
    session.exchanges.clear()
    verdicts = [judge(check, Catalog(session, check.id)) for check in checks_of(*MODULES)]
    observed = observe(session.exchanges, session.schemas)
    return verdicts + passive_verdicts(observed, CONTRACT)


# --------------------------------------------------------------------- lawful catalogs
@pytest.mark.parametrize("name", some(LAWFUL, 4))
def test_no_check_fails_on_a_lawful_catalog(name: str) -> None:
    with lawful_session(LAWFUL[name]) as session:
        verdicts = all_verdicts(session)
    wrong = [v for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert words(wrong) == []
    assert sum(v.outcome is Outcome.PASS for v in verdicts) > 5


def test_what_a_catalog_does_not_offer_is_skipped_with_its_reason() -> None:
    with lawful_session(LAWFUL["no-pagination"]) as session:
        skipped = {v.check: v.skip for v in all_verdicts(session) if v.outcome is Outcome.SKIP}
    assert {check.split(".")[1] for check in skipped} == {
        "pages-cover-all",
        "token-null-at-end",
        "page-size-bound",
        "bad-page-size",
        "token-again",
    }
    assert {skip.kind for skip in skipped.values() if skip} == {SkipKind.NOT_APPLICABLE}


def test_an_open_catalog_is_blamed_for_nothing() -> None:
    with lawful_session(OPEN) as session:
        failed = [v.check for v in all_verdicts(session) if v.outcome is Outcome.FAIL]
    assert failed == []


def test_leaving_out_empty_properties_of_namespaces_misses_no_must() -> None:
    with lawful_session(without_empty_properties) as session:
        asked = checks_of(*MODULES, "test_namespace_states")
        verdicts = [judge(check, Catalog(session, check.id)) for check in asked]
    failed = [v for v in verdicts if v.outcome is Outcome.FAIL]
    assert [(v.check, v.level) for v in failed] == [
        ("loadNamespaceMetadata.none-set", Level.SHOULD)
    ]


# --------------------------------------------------------- one cause is one finding
def test_own_type_names_are_one_cause() -> None:
    checks = checks_of("test_errors", "test_error_types", "test_names")
    verdicts = run_checks(checks, ("error-own-type-names",))
    failed = [v for v in verdicts.values() if v.outcome is Outcome.FAIL]
    missing = {"error.type-of-missing-namespace", "error.type-of-what-is-missing"}
    assert {v.check for v in failed} == {REQUIREMENT, *missing}
    assert len({finding.key for v in failed for finding in v.findings}) == 1
    assert all(v.level is not Level.MUST for v in failed)


def test_properties_that_are_not_kept_are_one_cause() -> None:
    verdicts = run_checks(checks_of("test_namespace_properties"), ("properties-update-forgotten",))
    failed = [v for v in verdicts.values() if v.outcome is Outcome.FAIL]
    assert len(failed) > 4
    assert len({finding.key for v in failed for finding in v.findings}) == 1


def test_a_finding_shows_the_request_that_proves_it() -> None:
    check = next(c for c in checks_of("test_namespaces") if c.id == "dropNamespace.holds-table")
    with mock_session(("namespace-drop-cascades",)) as (_, session):
        verdict = judge(check, Catalog(session, check.id))
    assert told(verdict.findings[0]) == ("status", "409", "204")
    assert verdict.evidence[-1].step == Step.DO
    assert "curl" in verdict.evidence[-1].curl
    assert "$ICECHECK_TOKEN" in verdict.evidence[-1].curl
