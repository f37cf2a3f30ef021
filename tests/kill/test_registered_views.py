"""Registrations and entity tags of 1.11.0: no lawful catalog is at fault, whatever it refuses."""

from collections.abc import Iterable

import msgspec
import pytest

from icecheck.client.catalog import Catalog
from icecheck.contract import DEFAULT_SPEC_VERSION, Level, load
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.mock_server.defects import defects
from icecheck.proof.defective import defective_session
from icecheck.proof.kill_matrix import kills, planted_in
from tests.kill.killing import checks_of, words
from tests.kit.shares import some
from tests.lawful.lawful import Install
from tests.lawful.lawful_1_11_registration import (
    LAWFUL_REGISTRATIONS,
    RECOMMENDED,
    no_table_files,
)
from tests.lawful.lawful_tables import LAWFUL_TABLES
from tests.lawful.lawful_views import LAWFUL_VIEWS

SPEC = "1.11.0"
CONTRACT = load(SPEC)
_MODULES = (
    "test_register_view", "test_register", "test_view_names", "test_table_loading",
    "test_referenced_snapshots", "test_metadata_laws", "test_authorization",
)  # fmt: skip
CHECKS = tuple(
    check
    for check in checks_of(*_MODULES, contract=CONTRACT)
    if check.id.startswith(("registerView.", "registerTable.", "etag."))
    or check.id in {"loadTable.referenced-snapshots-only", "update.add-snapshot.added-rows"}
)
OF_REGISTRATION = frozenset(each.id for each in CHECKS if each.id.startswith("registerView."))
"""The checks of registerView."""
FILES = frozenset(
    {
        "registerView.succeeds", "registerView.keeps-identity", "registerView.keeps-location",
        "registerView.accepts-commits", "registerView.leaves-others",
    }
)  # fmt: skip
"""Those that need a file which the catalog registers."""


def verdicts_on(install: Install, checks: Iterable[Check] = CHECKS) -> list[Verdict]:
    """Return the verdicts on a catalog that has been so from the start, passive ones included."""
    with defective_session([install], from_the_start=True, spec=SPEC) as (_, session):
        session.exchanges.clear()
        verdicts = [judge(check, Catalog(session, check.id)) for check in checks]
        verdicts += passive_verdicts(observe(session.exchanges, session.schemas), CONTRACT)
        drops = session.offer.claims("dropView", CONTRACT)
    assert session.residue == [] or not drops
    return verdicts


def ended(verdicts: Iterable[Verdict], *outcomes: Outcome) -> set[str]:
    return {verdict.check for verdict in verdicts if verdict.outcome in outcomes}


@pytest.mark.parametrize("name", LAWFUL_REGISTRATIONS)
def test_no_check_fails_on_a_lawful_catalog(name: str) -> None:
    verdicts = verdicts_on(LAWFUL_REGISTRATIONS[name])
    wrong = [v for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert words(wrong) == []


@pytest.mark.parametrize("name", some({**LAWFUL_TABLES, **LAWFUL_VIEWS}, 6))
def test_no_check_fails_on_a_lawful_catalog_of_before(name: str) -> None:
    install = {**LAWFUL_TABLES, **LAWFUL_VIEWS}[name]
    verdicts = verdicts_on(install, [each for each in CHECKS if each.id in OF_REGISTRATION])
    assert ended(verdicts, Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR) & OF_REGISTRATION == set()


def test_who_registers_no_tables_is_not_blamed_for_headers_and_names() -> None:
    asked = {"registerTable.tolerates-delegation-header", "registerTable.view-in-the-way"}
    verdicts = verdicts_on(no_table_files, [each for each in CHECKS if each.id in asked])
    assert ended(verdicts, Outcome.SKIP) == asked


@pytest.mark.parametrize("name", RECOMMENDED)
def test_what_is_recommended_only_is_missed_as_such(name: str) -> None:
    install, due = RECOMMENDED[name]
    verdicts = verdicts_on(install)
    failed = [v for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert {v.check for v in failed} == due
    assert {v.level for v in failed} == {Level.SHOULD}


@pytest.mark.parametrize(
    ("name", "skipped"),
    [
        ("no-registration-of-views", OF_REGISTRATION),
        ("no-views", OF_REGISTRATION | {"registerTable.view-in-the-way"}),
        ("no-file-of-its-own", FILES),
        ("files-of-others-only", FILES),
        ("one-view-a-file", frozenset({"registerView.leaves-others"})),
        ("newest-file-only", frozenset()),
        ("files-of-the-namespace-only", frozenset()),
        ("one-dialect", frozenset()),
        ("keeps-dialects", frozenset()),
        ("deletes-view-files", frozenset()),
        ("deletes-view-files-later", frozenset()),
    ],
)
def test_only_what_a_catalog_does_not_do_is_not_judged(name: str, skipped: frozenset[str]) -> None:
    checks = [each for each in CHECKS if each.id.startswith(("registerView", "registerTable.view"))]
    verdicts = verdicts_on(LAWFUL_REGISTRATIONS[name], checks)
    assert ended(verdicts, Outcome.SKIP) >= skipped
    assert ended(verdicts, Outcome.PASS) >= {each.id for each in checks} - skipped - {
        "registerView.missing-namespace", "registerView.table-in-the-way",
        "registerView.already-exists",
    }  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["view-register-copies-the-file", "view-register-tells-a-link", "etag-of-both-modes",
     "etag-of-the-log"],
)  # fmt: skip
def test_a_defect_of_a_should_fails_no_check_of_a_must(name: str) -> None:
    verdicts = verdicts_on(defects()[name].install)
    levels = {v.check: v.level for v in verdicts if v.outcome is Outcome.FAIL}
    assert {*levels.values()} == {Level.SHOULD}


def test_a_defect_of_a_new_operation_is_planted_where_that_is_served() -> None:
    defect = defects()["permits-all-registerView"]
    assert defect.breaks in load(DEFAULT_SPEC_VERSION).requirements
    assert planted_in(defect) == SPEC
    asked = checks_of("test_strangers", contract=CONTRACT)
    (every_route,) = (c for c in asked if c.id == "auth.second-principal-on-every-route")
    assert [v.check for v in kills(defect, [every_route])] == [every_route.id]
    assert kills(msgspec.structs.replace(defect, install=lambda _: None), [every_route]) == ()


def test_an_operation_of_another_document_is_not_claimed() -> None:
    with defective_session() as (_, session):
        assert not Catalog(session, "older").claims("registerView")
    with defective_session(spec=SPEC) as (_, session):
        assert Catalog(session, "newer").claims("registerView")
