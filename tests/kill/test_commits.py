"""Checks of updateTable and commitTransaction: the faithful mock passes, defects fail them."""

from dataclasses import replace
from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_table
from icecheck.contract import Level
from icecheck.findings.causes import causes_of
from icecheck.findings.verdict import Outcome
from icecheck.judging.judge import judge
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.judging.probes import has_capability
from icecheck.mock_server.core.context import Call, Context, Registries
from icecheck.mock_server.core.context import Outcome as Decided
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.rewriting import alter_body, forget_effect, refuse_as
from icecheck.mock_server.protocol.problem import Problem
from icecheck.objects.committing import expect_unchanged
from tests.kill.killing import (
    checks_of,
    words,
)
from tests.kit.contracts import CONTRACT
from tests.kit.shares import some
from tests.lawful.lawful import LAWFUL, Install, lawful_session
from tests.lawful.lawful_commits import LAWFUL_COMMITS
from tests.lawful.lawful_tables import LAWFUL_TABLES, secretive

FAMILIES = {
    "protocol": ("test_commits", "test_commits_together", "test_commits_create"),
    "assertions": ("test_assertions",),
    "updates": (
        "test_updates_table",
        "test_updates_schemas",
        "test_updates_layout",
        "test_updates_snapshots",
        "test_updates_files",
        "test_columns",
        "test_metadata_laws",
    ),
    "transactions": ("test_transactions",),
}
CHECKS = checks_of(*(module for modules in FAMILIES.values() for module in modules))


def together(*names: str) -> Install:
    """Return a catalog with all these peculiarities; the later ones change answers last."""

    def install(registries: Registries) -> None:
        for name in names:
            (LAWFUL_COMMITS | LAWFUL_TABLES | LAWFUL)[name](registries)

    return install


EVERY_LAWFUL: dict[str, Install] = {
    "answers-otherwise": together(
        "newest-first", "explicit-nulls", "vending-credentials", "busy-metadata", "other-spelling"
    ),
    "stores-otherwise": together(
        "sparse-ids",
        "marks-versions",
        "empty-commit-is-a-version",
        "unsorted-order-too",
        "drops-any-column",
    ),
    "refuses-more": together(
        "refs-guard-snapshots",
        "fixed-location",
        "absent-properties-stay-absent",
        "views-are-unsupported",
        "one-change-a-table",
        "values-are-unprocessable",
    ),
    "offers-less": together("no-staging", "main-only", "no-transactions", "plain-text-400"),
    **{
        name: together(name)
        for name in (
            "client-ids",
            "current-snapshot-only",
            "read-only",
            "version-1-by-default",
            "version-2-only",
            "version-3-by-default",
        )
    },
    "secretive": secretive,
}


# --------------------------------------------------------------------- lawful catalogs


@pytest.mark.parametrize("name", some(EVERY_LAWFUL, 4))
def test_no_check_fails_on_a_lawful_catalog(name: str) -> None:
    with lawful_session(EVERY_LAWFUL[name]) as session:
        verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
    wrong = [v for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert words(wrong) == []


def _without_next_row_id(registries: Registries) -> None:
    """Leave next-row-id out of metadata: its schema requires two members (errata E36 and E40)."""

    def stripped(body: dict[str, Any]) -> dict[str, Any]:
        shown = {k: v for k, v in body["metadata"].items() if k != "next-row-id"}
        return {**body, "metadata": shown}

    for operation_id in ("createTable", "loadTable", "updateTable", "registerTable"):
        alter_body(registries, operation_id, stripped)


def test_metadata_without_next_row_id_misses_no_must() -> None:
    with lawful_session(_without_next_row_id) as session:
        verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
        verdicts += passive_verdicts(observe(session.exchanges, session.schemas), CONTRACT)
    wrong = [v for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert wrong
    assert words([v for v in wrong if v.level is Level.MUST]) == []


def test_what_a_catalog_does_not_offer_is_not_judged() -> None:
    with lawful_session(LAWFUL_COMMITS["fixed-location"]) as session:
        verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
    skipped = [v.check for v in verdicts if v.outcome is Outcome.SKIP]
    assert skipped == ["update.set-location"]


def test_a_location_that_loads_leave_out_shows_no_other_version() -> None:
    with lawful_session(secretive) as session:
        catalog = Catalog(session, "own")
        answered = given_table(catalog)
        assert answered.metadata_location is not None
        expect_unchanged(catalog, answered)
        expect_unchanged(catalog, replace(answered, metadata_location=None))
        catalog.undo()


@pytest.mark.parametrize(
    ("capability", "lacking"),
    [
        ("branches", "main-only"),
        ("snapshot-history", "current-snapshot-only"),
        ("stage-create", "no-staging"),
        ("format-version-3", "version-2-only"),
    ],
)
def test_a_capability_is_found_out_by_trying(capability: str, lacking: str) -> None:
    found = []
    for install in (together(), together(lacking)):
        with lawful_session(install) as session:
            found.append(has_capability(Catalog(session, "probing"), capability))
            assert session.residue == []
    assert found == [True, False]


# ---------------------------------------------------------- one cause is one finding


def _forgets(registries: Registries) -> None:
    """Answer every commit, and keep none."""
    forget_effect(registries, "updateTable")
    forget_effect(registries, "commitTransaction")


def _conflicts_are_400(registries: Registries) -> None:
    """Answer 400 for failed requirements."""
    refuse_as(registries, "updateTable", 409, 400)
    refuse_as(registries, "commitTransaction", 409, 400)


def _transactions_are_missing(registries: Registries) -> None:
    """Let a catalog that lists no endpoints serve no transactions."""

    def no_route(_context: Context, _state: WarehouseState, _call: Call) -> Decided:
        raise Problem(404, "NotFoundException", "No such path")

    registries.operations["commitTransaction"] = no_route


@pytest.mark.parametrize(
    ("install", "family", "symptom", "members_min", "causes_max"),
    [
        (_forgets, "updates", "effect-missing:commit", 20, 2),
        (_conflicts_are_400, "assertions", "status", 10, 1),
        (_transactions_are_missing, "transactions", "not-served", 1, 1),
    ],
)
def test_one_slip_of_a_server_is_one_cause(
    install: Install, family: str, symptom: str, members_min: int, causes_max: int
) -> None:
    with lawful_session(install) as session:
        verdicts = [judge(c, Catalog(session, c.id)) for c in checks_of(*FAMILIES[family])]
    causes = causes_of(verdicts, CONTRACT)
    assert len(causes) <= causes_max
    main = max(causes, key=lambda cause: len(cause.members))
    assert main.symptom == symptom
    assert len(main.members) + len(main.blocked) >= members_min
    assert all(v.outcome is not Outcome.ERROR for v in verdicts)
