"""Ways to free a name and to take it again, and the judgement of a refused name."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import (
    another_shared_namespace,
    arrange,
    given_dropped,
    given_namespace,
    given_table,
)
from icecheck.client.given import shared_namespace as given_home
from icecheck.findings.statuses import ANY_SUCCESS
from icecheck.judging.probes import has_capability
from icecheck.objects.arranging import given_namespace_at
from icecheck.objects.committing import creation_updates
from icecheck.objects.metadata_view import metadata_in
from icecheck.objects.reading import not_applicable, refuses_place, supported
from icecheck.objects.views import (
    create_view_body,
    given_view,
)
from icecheck.replies.expect import NotOffered, Reply
from icecheck.targets.target import Namespace

Json = dict[str, Any]

ASSERT_CREATE = {"type": "assert-create"}
PURGE = [("purgeRequested", "true")]
_TABLE = ("createTable", "loadTable", "dropTable")
_VIEW = ("createView", "loadView", "dropView")


@dataclass(frozen=True, slots=True)
class Freed:
    """A name that stands for nothing, and how it became free.

    ``vacated``: the former object was renamed, and its files may still lie where the catalog would
    put the next object of the name.
    """

    namespace: Namespace
    name: str
    how: str
    vacated: bool = False


Freeing = Callable[[Catalog, Namespace], Freed | None]


# ---------------------------------------------------------------------------- freeing


def _table_dropped(catalog: Catalog, home: Namespace) -> Freed | None:
    table = given_table(catalog, home)
    given_dropped(catalog, home, table.name)
    return Freed(home, table.name, "a table was dropped")


def _table_purged(catalog: Catalog, home: Namespace) -> Freed | None:
    table = given_table(catalog, home)
    purged = catalog.drop_table(home, table.name, PURGE).ok
    return Freed(home, table.name, "a table was purged") if purged else None


def _table_renamed(catalog: Catalog, home: Namespace) -> Freed | None:
    if not catalog.claims("renameTable"):
        return None
    table = given_table(catalog, home)
    renamed = catalog.rename_table((home, table.name), (home, catalog.new_name())).ok
    return Freed(home, table.name, "a table was renamed", vacated=True) if renamed else None


def _table_moved(catalog: Catalog, home: Namespace) -> Freed | None:
    if not (catalog.claims("renameTable") and has_capability(catalog, "cross-namespace-rename")):
        return None
    table = given_table(catalog, home)
    away = (another_shared_namespace(catalog), table.name)
    moved = catalog.rename_table((home, table.name), away).ok
    how = "a table was moved into another namespace"
    return Freed(home, table.name, how, vacated=True) if moved else None


def _table_staged(catalog: Catalog, home: Namespace) -> Freed | None:
    if not has_capability(catalog, "stage-create"):
        return None
    name = catalog.new_name()
    body = bodies.create_table_body(name, stage_create=True)
    arrange(catalog, "createTable", lambda: catalog.create_table(home, body))
    return Freed(home, name, "a table was staged")


def _namespace_dropped(catalog: Catalog, _home: Namespace) -> Freed | None:
    namespace = given_namespace(catalog)
    table = given_table(catalog, namespace)
    given_dropped(catalog, namespace, table.name)
    arrange(catalog, "dropNamespace", lambda: catalog.drop_namespace(namespace))
    given_namespace_at(catalog, namespace)
    return Freed(namespace, table.name, "a table was dropped, and its namespace made anew")


def _inner_namespace_dropped(catalog: Catalog, home: Namespace) -> Freed | None:
    if not has_capability(catalog, "nested-namespaces"):
        return None
    inner = given_namespace(catalog, under=home)
    arrange(catalog, "dropNamespace", lambda: catalog.drop_namespace(inner))
    return Freed(home, inner[-1], "a namespace was dropped")


def _view_dropped(catalog: Catalog, home: Namespace) -> Freed | None:
    view = given_view(catalog, home)
    arrange(catalog, "dropView", lambda: catalog.drop_view(home, view.name))
    return Freed(home, view.name, "a view was dropped")


def _view_renamed(catalog: Catalog, home: Namespace) -> Freed | None:
    if not catalog.claims("renameView"):
        return None
    view = given_view(catalog, home)
    renamed = supported(catalog.rename_view((home, view.name), (home, catalog.new_name()))).ok
    return Freed(home, view.name, "a view was renamed", vacated=True) if renamed else None


_ALWAYS = (_table_dropped, _inner_namespace_dropped)
_OF_TABLES = (_table_purged, _table_moved, _table_renamed, _table_staged, _namespace_dropped)
_OF_VIEWS = (_view_dropped, _view_renamed)


def freeings_for(operation_id: str) -> tuple[Freeing, ...]:
    """Return the ways to free a name before this operation takes it.

    Every operation gets the names of dropped tables and namespaces. It takes turns with the others
    at what else frees the name of a table, and of a view.
    """
    turn = [*TAKINGS].index(operation_id)
    return (*_ALWAYS, _OF_TABLES[turn % len(_OF_TABLES)], _OF_VIEWS[turn % len(_OF_VIEWS)])


# ----------------------------------------------------------------------------- taking


@dataclass(frozen=True, slots=True)
class Taking:
    """A way to give a name to an object: the operations needed, the request, the read afterwards.

    ``places``: the catalog chooses the location of the object.
    """

    operations: tuple[str, ...]
    take: Callable[[Catalog, Namespace, str], Reply]
    look: Callable[[Catalog, Namespace, str], Reply]
    places: bool = False


def _load_view(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    return catalog.load_view(namespace, name)


def _load_table(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    return catalog.load_table(namespace, name)


def _load_namespace(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    return catalog.load_namespace_metadata((*namespace, name))


def _create_table(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    return catalog.create_table(namespace, bodies.create_table_body(name))


def _stage(catalog: Catalog, namespace: Namespace, name: str) -> tuple[Reply, list[Json]]:
    reply = catalog.create_table(namespace, bodies.create_table_body(name, stage_create=True))
    return reply, creation_updates(metadata_in(reply)) if reply.ok else []


def _commit_staged(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    staged, updates = _stage(catalog, namespace, name)
    return catalog.update_table(namespace, name, updates, [ASSERT_CREATE]) if updates else staged


def _commit_staged_together(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    staged, updates = _stage(catalog, namespace, name)
    change = {
        "identifier": {"namespace": [*namespace], "name": name},
        "requirements": [ASSERT_CREATE],
        "updates": updates,
    }
    return catalog.commit_transaction([change]) if updates else staged


def _register_table(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    table = given_table(catalog, namespace)
    if table.metadata_location is None:
        raise NotOffered("the catalog tells no metadata location")
    given_dropped(catalog, namespace, table.name)
    return catalog.register_table(namespace, name, table.metadata_location)


def _rename_table(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    table = given_table(catalog, namespace)
    return catalog.rename_table((namespace, table.name), (namespace, name))


def _create_view(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    return supported(catalog.create_view(namespace, create_view_body(name, namespace)))


def _rename_view(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    view = given_view(catalog, namespace)
    return supported(catalog.rename_view((namespace, view.name), (namespace, name)))


def _create_namespace(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    return catalog.create_namespace((*namespace, name))


TAKINGS = {
    "createTable": Taking(_TABLE, _create_table, _load_table, places=True),
    "updateTable": Taking((*_TABLE, "updateTable"), _commit_staged, _load_table, places=True),
    "commitTransaction": Taking(
        (*_TABLE, "commitTransaction"), _commit_staged_together, _load_table, places=True
    ),
    "registerTable": Taking((*_TABLE, "registerTable"), _register_table, _load_table),
    "renameTable": Taking((*_TABLE, "renameTable"), _rename_table, _load_table),
    "createView": Taking((*_TABLE, *_VIEW), _create_view, _load_view, places=True),
    "renameView": Taking((*_TABLE, *_VIEW, "renameView"), _rename_view, _load_view),
    "createNamespace": Taking(
        (*_TABLE, "createNamespace", "loadNamespaceMetadata"), _create_namespace, _load_namespace
    ),
}
"""The ways to take a name, by the operation that finally takes it."""


# ---------------------------------------------------------------------------- judging


def judge_taking(catalog: Catalog, operation_id: str) -> None:
    """Judge that an operation can take a name, however it became free.

    A refusal counts only if the same request succeeds under a name that was never used: then the
    name was the reason. Raises Violation with all the ways in which the name had become free, and
    NotOffered if the catalog refuses the operation under every name.
    """
    home, taking = given_home(catalog), TAKINGS[operation_id]
    refused: list[tuple[Freed, Reply]] = []
    judged = False
    for freeing in freeings_for(operation_id):
        freed: Freed | None = None
        with contextlib.suppress(NotOffered):  # this way to free it is not offered
            freed = freeing(catalog, home)
        if freed is None:
            continue
        reply = taking.take(catalog, freed.namespace, freed.name)
        if reply.ok:
            if freeing in _ALWAYS:  # of what took the other names, its answer is enough
                seen = taking.look(catalog, freed.namespace, freed.name)
                seen.expect(200, detail=f"the name was free: {freed.how}")
        elif freed.vacated and taking.places and refuses_place(reply):
            continue  # refused for the location, not for the name
        elif taking.take(catalog, freed.namespace, catalog.new_name()).ok:
            refused.append((freed, reply))
        else:
            continue  # refused under every name
        judged = True
    if refused:
        _, first = refused[0]
        detail = "the name was free: " + "; ".join(freed.how for freed, _ in refused)
        raise first.wrong_status(ANY_SUCCESS, detail=detail)
    if not judged:
        raise not_applicable("the catalog refuses this under every name")
