"""Sequences of steps over namespaces, tables and views, with all objects judged after each step."""

from icecheck.client.catalog import Catalog
from icecheck.judging.check import generated_check
from icecheck.objects.arranging import require
from icecheck.scenarios.model.world import ADDED, KEPT, MARK, Thing
from icecheck.scenarios.steps.commits import (
    commit_snapshot,
    commit_together,
    name_snapshot,
    refused_together,
)
from icecheck.scenarios.steps.step import (
    create_namespace,
    drop,
    drop_namespace,
    refused_drop,
    refused_namespace,
    refused_properties,
    refused_rename,
    rename,
    spoiled_namespace,
    update_properties,
)
from icecheck.scenarios.steps.tables import (
    create_table,
)
from icecheck.scenarios.steps.views import (
    create_view,
    refused_create_view,
    refused_replace,
    replace_query,
    roll_back,
    set_on_view,
    spoiled_view,
)
from icecheck.scenarios.walking.walker import given_root, walk

_FIRST, _SECOND, _THIRD, _FOURTH = (f"SELECT {n} AS id, '{n}' AS data" for n in (1, 2, 3, 4))


def _names(catalog: Catalog, *labels: str) -> tuple[dict[str, str], list[str]]:
    """Return a map from new names to these labels, and the new names."""
    names = [catalog.new_name() for _ in labels]
    return dict(zip(names, labels, strict=True)), names


@generated_check("world.namespaces")
def test_a_world_of_namespaces(catalog: Catalog) -> None:
    """After every step among namespaces that look alike, each one is as the steps left it."""
    require(catalog, "createNamespace", "loadNamespaceMetadata", "dropNamespace")
    root = given_root(catalog)
    labels, (a_name, b_name) = _names(catalog, "a", "b")
    # In SQL's LIKE an underscore matches any character; a child may have its parent's name.
    longer, alike, capital = f"{a_name}_x", f"{a_name}qx", f"{a_name}_X"
    labels |= {longer: "a_x", alike: "aqx", capital: "a_X"}
    a, b, a_x, aqx = ((*root, each) for each in (a_name, b_name, longer, alike))
    inner, innermost = (*a, b_name), (*a, b_name, a_name)
    steps = [
        create_namespace(a, {MARK: "a", KEPT: "a too"}).as_given(),
        create_namespace(a_x, {MARK: "a_x", KEPT: "a_x too"}).as_given(),
        create_namespace(inner, {}).if_nested(),
        spoiled_namespace(aqx),
        create_namespace(aqx, {}),
        create_namespace(innermost, {MARK: "a.b.a"}).if_nested(),
        create_namespace(b, {MARK: "b"}),
        update_properties(a, {ADDED: "to a", KEPT: None}),
        update_properties(a, {KEPT: "to a", ADDED: None}),
        update_properties(inner, {MARK: "a.b", ADDED: "to a.b"}),
        update_properties(inner, {MARK: None, ADDED: None}),
        update_properties(inner, {ADDED: "to a.b again"}),
        refused_namespace(a),
        refused_properties(a, 422),
        create_namespace((*root, capital), {MARK: "a_X"}).in_capitals(Thing("namespace", a_x)),
        drop_namespace(a_x),
        refused_drop(Thing("namespace", a_x), 404),
        refused_properties(a_x, 404),
        create_namespace(a_x, {}),
        drop_namespace(aqx),
        drop_namespace(innermost),
        drop_namespace(inner),
        create_namespace(inner, {KEPT: "a.b too"}).if_nested(),
        update_properties(b, {MARK: None, ADDED: "to b"}),
        drop_namespace(b),
        create_namespace(b, {}),
        drop_namespace((*root, capital)),
        drop_namespace(inner),
        drop_namespace(a),
        create_namespace(a, {}),
    ]
    walk(catalog, root, labels, steps)


@generated_check("world.views")
def test_a_world_of_views(catalog: Catalog) -> None:
    """After every step among views that are called alike, each one is as the steps left it."""
    require(catalog, "createNamespace", "createView", "loadView", "dropView", "replaceView")
    root = given_root(catalog)
    labels, (one_name, two_name, v, w) = _names(catalog, "one", "two", "v", "w")
    one, two = (*root, one_name), (*root, two_name)
    first, second = (Thing("view", (*each, v)) for each in (one, two))
    other, away = (Thing("view", (*each, w)) for each in (one, two))
    steps = [
        create_namespace(one, {MARK: "one"}).as_given(),
        create_namespace(two, {}).as_given(),
        create_view(first, _FIRST, "one_v").as_given(),
        spoiled_view(second),
        create_view(second, _SECOND, "two_v"),
        replace_query(first, _THIRD),
        set_on_view(second, {ADDED: "to two_v"}),
        refused_replace(second, 409),
        roll_back(first, _FIRST),
        refused_create_view(first, 409),
        rename(first, other.path),
        refused_replace(first, 404),
        refused_rename(first, away.path, 404),
        create_view(first, _SECOND, "one_v_again"),
        refused_rename(other, first.path, 409),
        rename(second, away.path),
        drop(first),
        refused_drop(first, 404),
        rename(other, second.path),
        replace_query(second, _FOURTH),
        refused_drop(Thing("namespace", two), 409),
        drop_namespace(one),
        refused_create_view(first, 404),
        refused_rename(away, first.path, 404),
        create_namespace(one, {}),
        create_view(first, _THIRD, "one_v_third"),
        drop(first),
        rename(away, first.path),
        rename(second, other.path),
        refused_drop(Thing("namespace", one), 409),
        create_view(second, _FIRST, "two_v_again"),
        drop(other),
        drop(second),
        drop_namespace(two),
    ]
    walk(catalog, root, labels, steps)


@generated_check("world.together")
def test_a_world_of_all_kinds(catalog: Catalog) -> None:
    """After every step among all kinds of things, each one is as the steps left it."""
    require(catalog, "createNamespace", "createTable", "loadTable", "dropTable", "updateTable")
    root = given_root(catalog)
    labels, (one_name, two_name, x, y, z) = _names(catalog, "one", "two", "x", "y", "z")
    one, two = (*root, one_name), (*root, two_name)
    table, view = Thing("table", (*one, x)), Thing("view", (*two, x))
    left, right = Thing("table", (*two, y)), Thing("view", (*one, y))
    same_view, same_table = Thing("view", table.path), Thing("table", right.path)
    there, elsewhere = Thing("view", (*one, z)), Thing("table", (*two, z))
    steps = [
        create_namespace(one, {MARK: "one", KEPT: "one too"}).as_given(),
        create_namespace(two, {MARK: "two"}).as_given(),
        create_table(table, "one_x").as_given(),
        create_table(left, "two_y").as_given(),
        create_view(view, _FIRST, "two_x"),
        create_view(right, _SECOND, "one_y"),
        commit_snapshot(left, 1),
        name_snapshot(left, "kept-tag", "tag"),
        commit_together({table: "one_x_1", left: "two_y_1"}),
        refused_together(table, left),
        update_properties(one, {ADDED: "to one", KEPT: None}),
        replace_query(view, _THIRD),
        refused_rename(table, view.path, 409),
        refused_rename(right, table.path, 409),
        refused_drop(same_view, 404),
        refused_drop(Thing("table", view.path), 404),
        drop(table),
        create_view(same_view, _THIRD, "one_x_view"),
        drop(right),
        rename(left, right.path),
        commit_together({left: "two_y_2", same_table: "one_y_1"}),
        rename(view, left.path),
        drop(same_view),
        create_view(there, _FIRST, "one_z"),
        create_table(table, "one_x_again"),
        create_table(elsewhere, "two_z"),
        drop(elsewhere),
        rename(table, elsewhere.path),
        rename(elsewhere, table.path),
        commit_together({table: "one_x_2", same_table: "one_y_2"}),
        roll_back(Thing("view", left.path), _FIRST),
        refused_drop(Thing("namespace", two), 409),
        drop(Thing("view", left.path)),
        drop_namespace(two),
        create_namespace(two, {}),
        rename(same_table, left.path),
    ]
    walk(catalog, root, labels, steps)
