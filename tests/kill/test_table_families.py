"""Tables, register, rename, metrics: a defect proves each check, no lawful catalog is at fault."""

import pytest

from icecheck.client.catalog import Catalog
from icecheck.contract import Level
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.mock_server.defects.kit.rewriting import answer_status
from tests.kill.killing import (
    checks_of,
    mock_session,
    run_check,
    words,
)
from tests.kit.shares import some
from tests.lawful.lawful import LAWFUL, Install, lawful_session
from tests.lawful.lawful_commits import LAWFUL_COMMITS
from tests.lawful.lawful_tables import (
    LAWFUL_TABLES,
    alter_metadata,
    forgetful,
    incurious,
    secretive,
)

CHECKS = checks_of(
    "test_tables",
    "test_tables_limits",
    "test_tables_staged",
    "test_table_loading",
    "test_table_removal",
    "test_register",
    "test_rename",
    "test_metrics",
)
NAME_RESOLUTION = checks_of("test_name_resolution")
NAMES_OF_TABLES = [
    check
    for check in checks_of("test_alike_names", "test_roundtrip_names")
    if "createTable" in check.operations or "table" in check.id
]
OF_ALL = ("one-level-namespaces", "plain-text-400", "no-endpoints-listed", "narrow-names")
EVERY_LAWFUL = {**{name: LAWFUL[name] for name in OF_ALL}, **LAWFUL_TABLES}


def verdicts_on(install: Install) -> list[Verdict]:
    with lawful_session(install) as session:
        return [judge(check, Catalog(session, check.id)) for check in CHECKS]


# --------------------------------------------------------------------- lawful catalogs


@pytest.mark.parametrize("name", some(EVERY_LAWFUL, 4))
def test_no_check_fails_on_a_lawful_catalog(name: str) -> None:
    verdicts = verdicts_on(EVERY_LAWFUL[name])
    wrong = [v for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert words(wrong) == []


@pytest.mark.parametrize(
    ("install", "checks"),
    [
        (forgetful, {"dropTable.without-purge"}),
        (secretive, {"loadTable.has-metadata-location"}),
        (incurious, {"reportMetrics.malformed-refused", "reportMetrics.wrong-members"}),
    ],
)
def test_a_catalog_that_could_do_better_misses_no_must(install: Install, checks: set[str]) -> None:
    wrong = [v for v in verdicts_on(install) if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert {(v.check, v.outcome) for v in wrong} == {(check, Outcome.FAIL) for check in checks}
    assert {v.level for v in wrong} == {Level.SHOULD}


def test_a_catalog_that_lacks_an_operation_is_not_judged_by_it() -> None:
    skipped = {
        v.check: v.skip.reason
        for v in verdicts_on(LAWFUL_TABLES["without-listTables"])
        if v.skip is not None
    }
    assert "listTables" in skipped["createTable.exists-at-once"]


def test_a_check_whose_arranging_fails_names_what_it_is_blocked_by() -> None:
    (twice,) = [check for check in CHECKS if check.id == "dropTable.twice"]
    with mock_session() as (mock, session):
        answer_status(mock.registries, "dropTable", 500)
        verdict = judge(twice, Catalog(session, twice.id))
    assert (verdict.outcome, verdict.blocked_by) == (Outcome.BLOCKED, ("dropTable.204",))


def test_lost_properties_are_not_told_as_a_fault_of_name_resolution() -> None:
    (check,) = (each for each in NAME_RESOLUTION if each.id == "whereabouts.table")
    assert run_check(check, ["table-properties-lost"]).outcome is Outcome.PASS


def test_a_commit_that_is_held_against_a_staged_table_is_no_fault_of_name_resolution() -> None:
    (check,) = (each for each in NAME_RESOLUTION if each.id == "whereabouts.table")
    with mock_session() as (mock, session):
        LAWFUL_COMMITS["staged-tables-conflict"](mock.registries)
        verdict = judge(check, Catalog(session, check.id))
    assert verdict.outcome is Outcome.PASS


def test_a_location_that_is_not_told_is_not_taken_for_a_shared_one() -> None:
    (check,) = (each for each in checks_of("test_names") if each.id == "names.locations")
    with mock_session() as (mock, session):
        for operation_id in ("createTable", "loadTable"):
            alter_metadata(mock.registries, operation_id, lambda each: each | {"location": None})
        verdict = judge(check, Catalog(session, check.id))
    assert verdict.outcome is Outcome.PASS


@pytest.mark.parametrize("check", NAMES_OF_TABLES, ids=lambda check: str(check.id))
def test_a_table_that_has_lost_its_properties_is_not_told_as_another_one(check: Check) -> None:
    verdict = run_check(check, ["table-properties-lost"])
    assert verdict.outcome is Outcome.PASS
