"""Views, their names and commits: a defect proves each check, no lawful catalog is at fault."""

from functools import cache

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.contract import Level
from icecheck.findings.verdict import Outcome, SkipKind, Verdict
from icecheck.judging.judge import judge
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.mock_server.defects.kit.rewriting import forget_effect
from icecheck.objects.reading import supported
from icecheck.objects.views import (
    create_view_body,
    given_view,
)
from icecheck.ownership.ledger import Entry
from icecheck.replies.expect import Blocked
from tests.kill.killing import (
    checks_of,
    mock_session,
    words,
)
from tests.kit.contracts import CONTRACT
from tests.kit.shares import some
from tests.lawful.lawful import LAWFUL, Install, lawful_session
from tests.lawful.lawful_tables import LAWFUL_TABLES
from tests.lawful.lawful_views import (
    LAWFUL_VIEWS,
    OPERATIONS,
    other_refusals,
    plain_definitions_only,
    unsupported,
)

CHECKS = checks_of("test_views", "test_view_names", "test_view_commits", "test_view_references")
OF_ALL = (
    "one-level-namespaces",
    "plain-text-400",
    "no-endpoints-listed",
    "narrow-names",
    "no-head",
    "read-only",
)
EVERY_LAWFUL: dict[str, Install] = {
    **{name: LAWFUL[name] for name in OF_ALL},
    "no-table-rename": LAWFUL_TABLES["no-rename"],
    **LAWFUL_VIEWS,
}


@cache
def verdicts_on(name: str) -> tuple[list[Verdict], list[str]]:
    """Return the verdicts of all checks on a lawful catalog, passive ones too, and its residue."""
    with lawful_session(EVERY_LAWFUL[name]) as session:
        session.exchanges.clear()
        verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
        verdicts += passive_verdicts(observe(session.exchanges, session.schemas), CONTRACT)
    return verdicts, session.residue


# --------------------------------------------------------------------- lawful catalogs


@pytest.mark.parametrize("name", some(EVERY_LAWFUL, 4))
def test_no_check_fails_on_a_lawful_catalog(name: str) -> None:
    verdicts, residue = verdicts_on(name)
    wrong = [v for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert words(wrong) == []
    assert residue == []


def test_refusing_what_no_sentence_demands_of_definitions_misses_no_must() -> None:
    with lawful_session(plain_definitions_only) as session:
        modules = "test_tables", "test_roundtrip_tables", "test_roundtrip_views", "test_view_states"
        asked = (*CHECKS, *checks_of(*modules))
        verdicts = [judge(check, Catalog(session, check.id)) for check in asked]
    assert _wrong(verdicts) == {
        "createView.unknown-default-namespace": Level.INTEROP,
        "createTable.field-ids-from-zero": Level.INTEROP,
    }
    judged = {v.check for v in verdicts if v.outcome is Outcome.PASS}
    assert {"createView.keeps-version", "roundtrip.createTable.columns"} < judged


def test_another_status_for_what_views_do_not_have_misses_no_must() -> None:
    with lawful_session(other_refusals) as session:
        asked = (*CHECKS, *checks_of("test_view_states"))
        verdicts = [judge(check, Catalog(session, check.id)) for check in asked]
    assert {*_wrong(verdicts).values()} == {Level.SHOULD}


def _wrong(verdicts: list[Verdict]) -> dict[str, Level | None]:
    return {v.check: v.level for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}}


def test_a_catalog_that_claims_no_views_is_not_asked_about_them() -> None:
    verdicts, _ = verdicts_on("views-undeclared")
    skipped = [v for v in verdicts if v.check in {check.id for check in CHECKS}]
    assert {v.skip.kind for v in skipped if v.skip is not None} <= {
        SkipKind.NOT_DECLARED,
        SkipKind.MISSING_FIXTURE,
    }
    assert {v.outcome for v in skipped} == {Outcome.SKIP}
    with lawful_session(EVERY_LAWFUL["views-undeclared"]) as session:
        session.exchanges.clear()
        for check in CHECKS:
            judge(check, Catalog(session, check.id))
        assert {e.operation for e in session.exchanges}.isdisjoint(OPERATIONS)


def test_406_to_a_claimed_creation_of_views_is_a_finding() -> None:
    """The table of createView has no 406, as those of other operations do."""
    with lawful_session(unsupported) as session:
        catalog = Catalog(session, "unsupported")
        with pytest.raises(Blocked, match="406"):
            given_view(catalog)
        catalog.undo()
        (check,) = (check for check in CHECKS if check.id == "createView.succeeds")
        assert judge(check, Catalog(session, check.id)).outcome is Outcome.FAIL


# ------------------------------------------------------------------------- the ledger


def test_views_are_entered_moved_and_removed() -> None:
    with mock_session() as (_, session):
        catalog = Catalog(session, "ledger")
        view = given_view(catalog)
        assert Entry("view", view.namespace, view.name) in catalog.ledger
        name = catalog.new_name()
        supported(catalog.rename_view((view.namespace, view.name), (view.namespace, name))).expect(
            204
        )
        assert Entry("view", view.namespace, view.name) not in catalog.ledger
        assert Entry("view", view.namespace, name) in catalog.ledger
        catalog.undo()
    assert session.residue == []


def test_a_view_nobody_entered_is_swept_with_its_namespace() -> None:
    with mock_session() as (_, session):
        catalog = Catalog(session, "sweep")
        namespace = given_namespace(catalog)
        name = catalog.new_name()
        supported(catalog.create_view(namespace, create_view_body(name, namespace))).expect(200)
        catalog.ledger.forget(Entry("view", namespace, name), deleted=False)
        catalog.undo()
    assert session.residue == []


def test_a_view_that_cannot_be_dropped_is_residue() -> None:
    with mock_session() as (mock, session):
        forget_effect(mock.registries, "dropView")
        catalog = Catalog(session, "residue")
        view = given_view(catalog)
        catalog.undo()
    assert any(view.namespace[-1] in left for left in session.residue)
