"""Checks that all operations find a table or view under its current name and no other."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from icecheck.client.catalog import Catalog
from icecheck.judging.check import generated_check
from icecheck.objects.arranging import require
from icecheck.objects.reading import not_applicable
from icecheck.scenarios.model.routes import Routes
from icecheck.scenarios.model.world import Thing
from icecheck.scenarios.steps.step import (
    Step,
    create_namespace,
    drop,
    drop_namespace,
    refused_drop,
    rename,
)
from icecheck.scenarios.steps.tables import create_table, stage
from icecheck.scenarios.steps.views import create_view
from icecheck.scenarios.walking.walker import Walker, given_root

_HOLDS = "a namespace that holds something is kept"


@generated_check("whereabouts.table")
def test_where_a_table_is(catalog: Catalog) -> None:
    """Every operation finds a table under the name that it has now, and is refused under others."""
    require(catalog, "createNamespace", "dropNamespace", "createTable", "loadTable", "dropTable")
    _walk(catalog, "table", "view")


@generated_check("whereabouts.view")
def test_where_a_view_is(catalog: Catalog) -> None:
    """Every operation finds a view under the name that it has now, and is refused under others."""
    require(catalog, "createNamespace", "dropNamespace", "createView", "loadView", "dropView")
    _walk(catalog, "view", "table")


def _walk(catalog: Catalog, kind: str, other: str) -> None:
    """Move one object from name to name, and ask every operation after each step."""
    root = given_root(catalog)
    home, away, one, two = (catalog.new_name() for _ in range(4))
    labels = {home: "home", away: "away", one: "one", two: "two"}
    first, second = (Thing(kind, (*root, home, each)) for each in (one, two))
    far = Thing(kind, (*root, away, two))
    walker = Walker(catalog, root, labels, (kind,), brief=True)
    # What is found is judged here; what it contains, by other checks.
    walker.look = lambda world, _thing: world
    walker.listen = lambda world, _thing, _reply: world
    walker.take(create_namespace(first.namespace, {}).as_given())
    walker.take(create_namespace(far.namespace, {}).if_accepted())
    routes = Routes(walker.progress, kind, (first, second, far))
    walker.look = routes.look
    for step in _moves(first, second, far, Thing(other, first.path)):
        walker.take(step)
    for name in routes.names:
        routes.look(walker.world, name)
    if not routes.answering:
        raise not_applicable(f"the catalog makes no {kind} that anything finds")


def _moves(first: Thing, second: Thing, far: Thing, another: Thing) -> Sequence[Step]:
    """Return the steps of one object through three names; what is not accepted is left out."""
    marks = count(1)

    def make(thing: Thing) -> Step:
        mark = f"made_{next(marks)}"
        if thing.kind == "table":
            return create_table(thing, mark).if_accepted()
        return create_view(thing, f"SELECT '{mark}' AS data", mark).if_accepted()

    left = Thing("namespace", far.namespace)
    return [
        make(far),
        refused_drop(left, 409).if_accepted(_HOLDS),
        rename(far, second.path).if_accepted(),
        _where_kept(drop_namespace(left.path)),
        create_namespace(left.path, {}).if_accepted(),
        drop(second),
        drop(far),
        make(first),
        drop(first),
        make(first),
        rename(first, second.path).if_accepted(),
        make(another),
        drop(another),
        rename(second, first.path).if_accepted(),
        rename(first, far.path).if_accepted(),
        refused_drop(left, 409).if_accepted(_HOLDS),
        *((stage(first, "staged").if_accepted(),) if first.kind == "table" else ()),
        drop(second),
        drop(first),
        drop(far),
    ]


def _where_kept(step: Step) -> Step:
    """Return the step for catalogs that keep a namespace while it holds something.

    In others a drop with contents tells nothing about what is left in the namespace.
    """
    return replace(
        step,
        possible=lambda world: _HOLDS in world.supported and step.possible(world),
    )
