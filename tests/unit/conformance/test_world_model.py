"""What a small world is due to be after steps, and what is said where another one is shown."""

import pytest

from icecheck.findings.verdict import Outcome
from icecheck.scenarios.model.world import Thing, World
from tests.kill.killing import checks_of, run_check

ROOT = ("root",)
A, B = Thing("namespace", ("root", "a")), Thing("namespace", ("root", "b"))
TABLE, VIEW = Thing("table", ("root", "a", "x")), Thing("view", ("root", "a", "x"))
MOVED = Thing("table", ("root", "b", "x"))
MODULES = ("test_world", "test_world_arrivals")
CHECKS = {check.id: check for module in MODULES for check in checks_of(module)}


def world() -> World:
    made = World(ROOT, {}).made(A, {}).made(B, {})
    return made.made(TABLE, {"table-uuid": "u", "location": "here", "metadata-location": "m"})


def test_a_name_is_free_for_no_kind_while_one_has_it() -> None:
    assert not world().is_free(VIEW)
    assert world().without(TABLE).is_free(VIEW)
    assert not world().without(A).is_free(Thing("table", (*A.path, "y")))


def test_what_has_moved_is_the_same_in_a_place_that_the_catalog_chooses() -> None:
    moved = world().moved(TABLE, MOVED)
    assert moved.held[MOVED].state == world().held[TABLE].state
    assert moved.held[MOVED].due == {"table-uuid": "u"}
    assert moved.gone == moved.vacated == frozenset({TABLE})
    assert moved.named(B.path, "table") == [MOVED.path]


def test_what_is_made_anew_is_another_thing_and_no_longer_gone() -> None:
    again = world().without(TABLE).made(TABLE, {})
    assert again.held[TABLE].state != world().held[TABLE].state
    assert TABLE not in again.gone


def test_only_a_drop_that_keeps_the_files_leaves_something_to_register() -> None:
    assert world().without(TABLE).last == {TABLE: world().held[TABLE].due}
    assert world().without(TABLE, purged=True).last == {}
    assert world().moved(TABLE, MOVED).last == {}


def test_a_change_keeps_what_it_does_not_name() -> None:
    changed = world().changed(TABLE, {"refs": {}})
    assert changed.held[TABLE].due == {**world().held[TABLE].due, "refs": {}}
    assert changed.held[TABLE].state != world().held[TABLE].state


SAID = {
    "world-registration-brings-the-old-name-back": (
        "world.tables",
        "effect-missing:existence",
        "table two.t; after registering a table (two.u, two.t)",
    ),
    "world-old-children-are-listed-again": (
        "world.namespaces",
        "listing",
        'namespaces in a.b: it has ["a.b.a"], due is []; after creating a namespace',
    ),
    "world-dropped-namespace-lists-no-tables": (
        "world.namespaces",
        "effect-missing:drop-namespace",
        "the list of tables in what is not there; after dropping a namespace (a.b)",
    ),
    "world-moved-table-has-no-credentials": (
        "world.tables",
        "effect-missing:rename",
        "table one.v; after renaming a table into another namespace (one.one.t, one.v)",
    ),
    "rename-conflict-writes": (
        "world.tables",
        "changed-although-refused",
        "the refused rename of a table (one.t, one.v)",
    ),
}


@pytest.mark.parametrize("defect", SAID)
def test_a_finding_names_the_thing_the_member_and_the_step(defect: str) -> None:
    check_id, symptom, words = SAID[defect]
    verdict = run_check(CHECKS[check_id], [defect])
    assert verdict.outcome is Outcome.FAIL
    (found,) = verdict.findings
    assert found.symptom.slug == symptom
    assert words in found.detail


@pytest.mark.parametrize("check_id", ["world.views", "world.tables"])
def test_a_world_is_walked_through_where_no_namespace_nests_in_another(check_id: str) -> None:
    verdict = run_check(CHECKS[check_id], isolation="flat")
    assert verdict.outcome is Outcome.PASS, verdict.summary
