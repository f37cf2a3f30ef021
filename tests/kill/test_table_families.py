"""Tables, register, rename, metrics: each check is proven by a defect and blames no lawful one."""

import pytest
from tests.kill.killing import (
    ISOLATIONS,
    checks_of,
    defects_of,
    killed_by,
    mock_session,
    not_caught,
    not_killed,
    residue_of,
    run_checks,
    words,
)
from tests.kill.lawful import LAWFUL, Install, lawful_session
from tests.kill.lawful_tables import LAWFUL_TABLES, forgetful, secretive

from icecheck.client import Catalog
from icecheck.contract import Level
from icecheck.judge import judge
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.rewriting import answer_status
from icecheck.verdict import Outcome, Verdict

FAMILIES = {
    "tables": (
        ("test_tables", "test_tables_limits", "test_tables_staged"),
        ("tables", "table_definitions", "table_properties", "table_staging"),
    ),
    "loading": (("test_table_loading",), ("table_loading", "entity_tags")),
    "removal": (("test_table_removal",), ("table_removal",)),
    "register": (("test_register",), ("register",)),
    "rename": (("test_rename",), ("rename",)),
    "metrics": (("test_metrics",), ("metrics",)),
}
CHECKS = checks_of(*(module for modules, _ in FAMILIES.values() for module in modules))
OF_ALL = ("one-level-namespaces", "plain-text-400", "no-endpoints-listed", "narrow-names")
EVERY_LAWFUL = {**{name: LAWFUL[name] for name in OF_ALL}, **LAWFUL_TABLES}


def verdicts_on(install: Install) -> list[Verdict]:
    with lawful_session(install) as session:
        return [judge(check, Catalog(session, check.id)) for check in CHECKS]


# ------------------------------------------------------------------- the faithful mock


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_every_check_passes_on_the_faithful_mock(isolation: str) -> None:
    verdicts = run_checks(CHECKS, isolation=isolation)
    assert set(verdicts) >= {check.id for check in CHECKS}
    assert words(verdicts.values()) == []


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_nothing_is_left_behind_and_nothing_foreign_is_touched(isolation: str) -> None:
    assert residue_of(CHECKS, isolation=isolation) == ([], [])


def test_the_families_stay_small() -> None:
    with mock_session() as (_, session):
        session.exchanges.clear()
        for check in CHECKS:
            judge(check, Catalog(session, check.id))
        assert len(session.exchanges) < 600


# ---------------------------------------------------------------------------- killing


@pytest.mark.parametrize("family", FAMILIES)
def test_every_check_is_failed_by_a_defect(family: str) -> None:
    assert not_killed(*FAMILIES[family]) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_every_defect_fails_a_check(family: str) -> None:
    assert not_caught(*FAMILIES[family]) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_a_defect_fails_what_proves_the_requirement_it_breaks(family: str) -> None:
    modules, homes = FAMILIES[family]
    passive = {"load-without-last-column-id"}  # a missing member is the schema verdict's
    for name in defects_of(*homes):
        aimed = {c.id for c in checks_of(*modules) if defects()[name].breaks in c.proves}
        aimed |= {"schema.loadTable.200"} if name in passive else set()
        assert aimed & killed_by(name, modules), name


def test_a_defect_says_who_suffers() -> None:
    for name in defects_of(*(home for _, homes in FAMILIES.values() for home in homes)):
        assert defects()[name].suffering.endswith("."), name


# --------------------------------------------------------------------- what is lawful


@pytest.mark.parametrize("name", EVERY_LAWFUL)
def test_no_check_fails_on_a_lawful_catalog(name: str) -> None:
    verdicts = verdicts_on(EVERY_LAWFUL[name])
    wrong = [v for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert words(wrong) == []


@pytest.mark.parametrize(
    ("install", "check"),
    [(forgetful, "dropTable.without-purge"), (secretive, "loadTable.has-metadata-location")],
)
def test_a_catalog_that_could_do_better_is_told_so_once(install: Install, check: str) -> None:
    wrong = [v for v in verdicts_on(install) if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert [(v.check, v.outcome, v.level) for v in wrong] == [(check, Outcome.FAIL, Level.SHOULD)]


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
