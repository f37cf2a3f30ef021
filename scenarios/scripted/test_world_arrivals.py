"""A sequence of steps in which tables come to exist in every way and are then used in every way."""

from dataclasses import replace

from icecheck.client.catalog import Catalog
from icecheck.judging.check import generated_check
from icecheck.objects.arranging import require
from icecheck.scenarios.model.world import ADDED, KEPT, MARK, Thing
from icecheck.scenarios.steps.commits import (
    commit,
    commit_snapshot,
    commit_together,
    name_snapshot,
    refused_commit,
)
from icecheck.scenarios.steps.step import (
    Step,
    create_namespace,
    drop,
    drop_namespace,
    refused_drop,
    refused_rename,
    rename,
)
from icecheck.scenarios.steps.tables import (
    commit_staged,
    create_beside,
    create_namesake,
    create_table,
    purge,
    refused_create,
    refused_register,
    register,
    spoiled_create,
    spoiled_register,
    stage,
    stage_beside,
)
from icecheck.scenarios.walking.walker import given_root, walk


def _worked_on(table: Thing, beside: Thing, new: Thing, mark: str) -> list[Step]:
    """Use the only table of a namespace in every way, then drop it."""
    return [
        refused_drop(Thing("namespace", table.namespace), 409),
        commit(table, {ADDED: f"to {mark}"}),
        commit_together({table: f"{mark}_1", beside: f"beside_{mark}"}),
        rename(table, new.path),
        commit_together({beside: f"beside_{mark}_2", new: f"{mark}_2"}),
        rename(new, table.path),
        drop(table),
    ]


def _moved_out(table: Thing, new: Thing, beside: Thing) -> list[Step]:
    """Move a table out of a namespace that is dropped, and refuse all that is in its way."""
    left = table.namespace
    return [
        create_table(table, "inner_t"),
        commit_snapshot(table, 1),
        name_snapshot(table, "kept-branch", "branch"),
        name_snapshot(table, "kept-tag", "tag"),
        rename(table, new.path),
        commit(new, {MARK: "one_v", KEPT: None}),
        drop_namespace(left),
        refused_create(table, 404),
        refused_rename(beside, table.path, 404),
        create_namespace(left, {MARK: "inner"}).if_nested(),
        refused_commit(table, 404),
        refused_commit(new, 409),
        refused_create(new, 409),
        refused_rename(beside, new.path, 409),
    ]


@generated_check("world.tables")
def test_a_world_of_tables(catalog: Catalog) -> None:
    """However a table came to have its name, every operation knows it, and knows it no longer."""
    require(catalog, "createNamespace", "createTable", "loadTable", "dropTable", "updateTable")
    root = given_root(catalog)
    shown = ("one", "two", "t", "u", "v")
    names = {label: catalog.new_name() for label in shown}
    labels = {name: label for label, name in names.items()}
    t, u, v = (names[label] for label in shown[2:])
    longer, capital = f"{t}_x", f"{t}_X"
    labels |= {longer: "t_x", capital: "t_X"}
    one, two = (*root, names["one"]), (*root, names["two"])
    inner = Thing("namespace", (*one, names["one"]))
    stays, comes = Thing("table", (*one, t)), Thing("table", (*one, u))
    first, second, third = (Thing("table", (*two, each)) for each in (t, u, v))
    deep, kept = Thing("table", (*inner.path, t)), Thing("table", (*one, v))
    twin, twin_in_capitals = Thing("table", (*one, longer)), Thing("table", (*one, capital))
    steps = [
        create_namespace(one, {MARK: "one"}).as_given(),
        create_namespace(two, {MARK: "two"}).as_given(),
        create_namespace(inner.path, {MARK: "inner"}).if_nested(),
        create_table(stays, "one_t").as_given(),
        *_moved_out(deep, kept, stays),
        spoiled_create(first),
        spoiled_register(first, stays),
        create_table(first, "two_t"),
        *_worked_on(first, stays, third, "two_t"),
        refused_register(kept, first),
        drop_namespace(two),
        create_namespace(two, {}),
        spoiled_register(second, stays),
        register(second, first),
        *_worked_on(second, stays, third, "two_u"),
        stage(second, "two_u_again"),
        stage_beside(second, "two_u_beside"),
        commit_staged(second),
        *_worked_on(second, stays, third, "two_u_again"),
        create_table(comes, "one_u"),
        rename(comes, third.path),
        create_table(comes, "one_u_again"),
        *_worked_on(third, stays, second, "two_v"),
        rename(comes, first.path),
        drop(first),
        drop_namespace(two),
        create_namesake(inner, "one_one"),
        drop(Thing("table", inner.path)),
        create_beside(twin, "one_t_x", stays),
        create_table(twin_in_capitals, "one_t_X").in_capitals(twin),
        drop(twin_in_capitals),
        _proven_free(rename(twin, twin_in_capitals.path)),
        purge(stays),
    ]
    walk(catalog, root, labels, steps)


def _proven_free(step: Step) -> Step:
    """Return the step with the condition that both spellings of the name have existed at once."""
    _, target = step.touched
    return replace(
        step,
        possible=lambda world: target in world.gone and step.possible(world),
    )
