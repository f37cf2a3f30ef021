"""The kill matrix itself: the checks judged for a defect, and the conditions of a kill."""

from dataclasses import replace

from tools.kills import proven_by, reached_by

from icecheck.client.catalog import Catalog
from icecheck.contract import Level
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.mock_server.defects import Defect, defects
from icecheck.proof.defective import defective_session
from icecheck.proof.kill_matrix import aimed_at, fail_anyway, judged_with, kills, misses
from icecheck.proof.reach import changed_by
from tests.kill.killing import checks_of
from tests.kit.contracts import CONTRACT

CHECKS = checks_of("test_namespaces", "test_tables", "test_errors")
CASCADES = defects()["namespace-drop-cascades"]
MUST, SHOULD = Level.MUST, Level.SHOULD
LESSER = "dropNamespace.holds-namespace"


def aimed(breaks: str) -> Defect:
    """Return the defect that drops full namespaces, declared to break something else."""
    return Defect("aimed", "Drops what is full", breaks, "All.", CASCADES.install)


def test_a_defect_is_judged_by_the_checks_of_what_it_breaks() -> None:
    assert {check.id for check in aimed_at(CASCADES, CHECKS)} == {"dropNamespace.holds-table"}


def test_what_no_check_asks_for_is_seen_by_those_that_use_what_changes() -> None:
    judged = aimed_at(defects()["other-code-dropNamespace.404"], CHECKS)
    assert judged
    assert len(judged) < len(CHECKS)
    assert all("dropNamespace" in check.operations for check in judged)


def test_a_defect_changes_what_it_replaces_and_nothing_else() -> None:
    assert changed_by(CASCADES) == {("operations", "dropNamespace")}
    assert changed_by(defects()["update-forgotten-set-location"]) == {("updates", "set-location")}
    assert changed_by(Defect("none", "Nothing", LESSER, "Nobody.", lambda _: None)) == set()


def test_a_check_reaches_what_serves_its_requests() -> None:
    reached = reached_by(CHECKS)
    assert ("operations", "dropNamespace") in reached["dropNamespace.holds-table"]
    assert ("operations", "createTable") in reached["dropNamespace.holds-table"]
    assert ("operations", "renameTable") not in reached["dropNamespace.holds-table"]


def test_a_caught_defect_is_no_miss() -> None:
    assert misses(CASCADES, kills(CASCADES, CHECKS), CONTRACT) == ""


def test_what_fails_without_the_defect_too_proves_nothing() -> None:
    def fails(catalog: Catalog) -> None:
        catalog.drop_namespace(catalog.new_namespace_name()).expect(204)

    broken = [replace(each, function=fails) for each in aimed_at(CASCADES, CHECKS)]
    failed = kills(CASCADES, broken)
    assert misses(CASCADES, failed, CONTRACT) == ""
    assert fail_anyway(CASCADES, failed, broken) == ("dropNamespace.holds-table",)
    assert fail_anyway(CASCADES, kills(CASCADES, CHECKS), CHECKS) == ()


def test_what_passive_checks_see_of_the_faithful_mock_is_no_failure() -> None:
    defect = defects()["other-code-dropNamespace.404"]
    failed = kills(defect, CHECKS)
    assert any(verdict.passive for verdict in failed)
    assert fail_anyway(defect, failed, CHECKS) == ()


def test_what_nothing_fails_for_is_a_miss() -> None:
    assert (
        misses(CASCADES, (), CONTRACT)
        == f"no check of the broken requirement fails: {CASCADES.breaks}"
    )


def test_what_fails_beside_the_point_proves_nothing() -> None:
    failed = kills(CASCADES, CHECKS)
    assert (
        misses(aimed("loadTable.404"), failed, CONTRACT)
        == "no check of the broken requirement fails: loadTable.404"
    )


def test_a_lesser_defect_that_fails_a_must_is_a_miss() -> None:
    lesser, must = (replace(at_level(level), requirements=(LESSER,)) for level in (SHOULD, MUST))
    assert misses(aimed(LESSER), [lesser], CONTRACT) == ""
    assert (
        misses(aimed(LESSER), [lesser, must], CONTRACT)
        == f"{LESSER} is a should, and {must.check} fails"
    )


def test_a_must_that_shows_as_less_only_is_a_miss() -> None:
    lesser, must = at_level(SHOULD), at_level(MUST)
    said = f"{CASCADES.breaks} is a must, and {lesser.check} is a should"
    assert misses(CASCADES, [lesser], CONTRACT) == said
    assert misses(CASCADES, [lesser, must], CONTRACT) == ""


def at_level(level: Level) -> Verdict:
    """Return a failure for the defect, of a check of this level."""
    return replace(kills(CASCADES, CHECKS)[0], level=level)


def test_a_run_may_adapt_to_a_defect_that_was_there_before() -> None:
    nulls = defects()["table-refuses-nulls"]
    later = {v.outcome for v in judged_with([nulls], CHECKS)}
    adapted = {v.check for v in judged_with([nulls], CHECKS, from_the_start=True) if bad(v.outcome)}
    assert Outcome.BLOCKED in later
    assert adapted == {"createTable.nulls-accepted"}


def test_where_names_of_two_levels_cannot_be_found_a_run_works_with_one() -> None:
    modes = []
    for name in ("names-no-separator", "namespace-drop-200"):
        with defective_session([defects()[name].install], from_the_start=True) as (_, session):
            modes.append((session.isolation.mode, session.capabilities["nested-namespaces"]))
    # What is acknowledged and then not found is neither a capability nor a refusal.
    assert modes == [("flat", None), ("nested", True)]


def bad(outcome: Outcome) -> bool:
    return outcome not in {Outcome.PASS, Outcome.SKIP}


def test_proofs_are_the_matrix_read_the_other_way() -> None:
    assert proven_by({"b": ["one"], "a": ["two", "one"]}) == {"one": ["a", "b"], "two": ["a"]}
