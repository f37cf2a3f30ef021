"""Ways to free a name and to take it again, and the judgement of a refused name."""

import contextlib
import json
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


@dataclass(frozen=True, slots=True)
class Made:
    """An object that an operation has made under a name that was free: a check may use it up."""

    namespace: Namespace
    name: str
    metadata_location: str | None = None


@dataclass(frozen=True, slots=True)
class Freeing:
    """A way to free a name, and the kind of object that it takes the name from.

    ``free`` gets the namespace, and the name of such an object in it if there is one to use up.
    """

    kind: str
    free: Callable[[Catalog, Namespace, str | None], Freed | None]


# ---------------------------------------------------------------------------- freeing


def _table_dropped(catalog: Catalog, home: Namespace, made: str | None) -> Freed | None:
    name = made or given_table(catalog, home).name
    given_dropped(catalog, home, name)
    return Freed(home, name, "a table was dropped")


def _table_purged(catalog: Catalog, home: Namespace, made: str | None) -> Freed | None:
    name = made or given_table(catalog, home).name
    purged = catalog.drop_table(home, name, PURGE).ok
    return Freed(home, name, "a table was purged") if purged else None


def _table_renamed(catalog: Catalog, home: Namespace, made: str | None) -> Freed | None:
    if not catalog.claims("renameTable"):
        return None
    name = made or given_table(catalog, home).name
    renamed = catalog.rename_table((home, name), (home, catalog.new_name())).ok
    return Freed(home, name, "a table was renamed", vacated=True) if renamed else None


def _table_moved(catalog: Catalog, home: Namespace, made: str | None) -> Freed | None:
    if not (catalog.claims("renameTable") and has_capability(catalog, "cross-namespace-rename")):
        return None
    name = made or given_table(catalog, home).name
    moved = catalog.rename_table((home, name), (another_shared_namespace(catalog), name)).ok
    how = "a table was moved into another namespace"
    return Freed(home, name, how, vacated=True) if moved else None


def _table_staged(catalog: Catalog, home: Namespace, _made: str | None) -> Freed | None:
    if not has_capability(catalog, "stage-create"):
        return None
    name = catalog.new_name()
    body = bodies.create_table_body(name, stage_create=True)
    arrange(catalog, "createTable", lambda: catalog.create_table(home, body))
    return Freed(home, name, "a table was staged")


def _namespace_dropped(catalog: Catalog, _home: Namespace, _made: str | None) -> Freed | None:
    namespace = given_namespace(catalog)
    table = given_table(catalog, namespace)
    given_dropped(catalog, namespace, table.name)
    arrange(catalog, "dropNamespace", lambda: catalog.drop_namespace(namespace))
    given_namespace_at(catalog, namespace)
    return Freed(namespace, table.name, "a table was dropped, and its namespace made anew")


def _inner_namespace_dropped(catalog: Catalog, home: Namespace, made: str | None) -> Freed | None:
    if not has_capability(catalog, "nested-namespaces"):
        return None
    inner = (*home, made) if made else given_namespace(catalog, under=home)
    arrange(catalog, "dropNamespace", lambda: catalog.drop_namespace(inner))
    return Freed(home, inner[-1], "a namespace was dropped")


def _view_dropped(catalog: Catalog, home: Namespace, made: str | None) -> Freed | None:
    name = made or given_view(catalog, home).name
    arrange(catalog, "dropView", lambda: catalog.drop_view(home, name))
    return Freed(home, name, "a view was dropped")


def _view_renamed(catalog: Catalog, home: Namespace, made: str | None) -> Freed | None:
    if not catalog.claims("renameView"):
        return None
    name = made or given_view(catalog, home).name
    renamed = supported(catalog.rename_view((home, name), (home, catalog.new_name()))).ok
    return Freed(home, name, "a view was renamed", vacated=True) if renamed else None


_ALWAYS = (Freeing("table", _table_dropped), Freeing("namespace", _inner_namespace_dropped))
_OF_TABLES = (
    Freeing("table", _table_purged),
    Freeing("table", _table_moved),
    Freeing("table", _table_renamed),
    Freeing("", _table_staged),
    Freeing("", _namespace_dropped),
)
_OF_VIEWS = (Freeing("view", _view_dropped), Freeing("view", _view_renamed))


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

    ``take`` gets the object that took a name in this way before if it ``moves`` it on; else it
    makes one. ``places``: the catalog chooses the location of the object.
    """

    kind: str
    operations: tuple[str, ...]
    take: Callable[[Catalog, Namespace, str, Made | None], Reply]
    look: Callable[[Catalog, Namespace, str], Reply]
    places: bool = False
    moves: bool = False


def _load_view(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    return catalog.load_view(namespace, name)


def _load_table(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    return catalog.load_table(namespace, name)


def _load_namespace(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    return catalog.load_namespace_metadata((*namespace, name))


def _create_table(catalog: Catalog, namespace: Namespace, name: str, _made: Made | None) -> Reply:
    return catalog.create_table(namespace, bodies.create_table_body(name))


def _stage(catalog: Catalog, namespace: Namespace, name: str) -> tuple[Reply, list[Json]]:
    reply = catalog.create_table(namespace, bodies.create_table_body(name, stage_create=True))
    return reply, creation_updates(metadata_in(reply)) if reply.ok else []


def _commit_staged(catalog: Catalog, namespace: Namespace, name: str, _made: Made | None) -> Reply:
    staged, updates = _stage(catalog, namespace, name)
    return catalog.update_table(namespace, name, updates, [ASSERT_CREATE]) if updates else staged


def _commit_staged_together(
    catalog: Catalog, namespace: Namespace, name: str, _made: Made | None
) -> Reply:
    staged, updates = _stage(catalog, namespace, name)
    change = {
        "identifier": {"namespace": [*namespace], "name": name},
        "requirements": [ASSERT_CREATE],
        "updates": updates,
    }
    return catalog.commit_transaction([change]) if updates else staged


def _register_table(catalog: Catalog, namespace: Namespace, name: str, made: Made | None) -> Reply:
    location = made.metadata_location if made else None
    if made is None or location is None or not catalog.drop_table(namespace, made.name).ok:
        table = given_table(catalog, namespace)
        location = table.metadata_location
        if location is None:
            raise NotOffered("the catalog tells no metadata location")
        given_dropped(catalog, namespace, table.name)
    return catalog.register_table(namespace, name, location)


def _rename_table(catalog: Catalog, namespace: Namespace, name: str, made: Made | None) -> Reply:
    table = made or given_table(catalog, namespace)
    return catalog.rename_table((namespace, table.name), (namespace, name))


def _create_view(catalog: Catalog, namespace: Namespace, name: str, _made: Made | None) -> Reply:
    return supported(catalog.create_view(namespace, create_view_body(name, namespace)))


def _rename_view(catalog: Catalog, namespace: Namespace, name: str, made: Made | None) -> Reply:
    view = made or given_view(catalog, namespace)
    return supported(catalog.rename_view((namespace, view.name), (namespace, name)))


def _create_namespace(
    catalog: Catalog, namespace: Namespace, name: str, _made: Made | None
) -> Reply:
    return catalog.create_namespace((*namespace, name))


TAKINGS = {
    "createTable": Taking("table", _TABLE, _create_table, _load_table, places=True),
    "updateTable": Taking(
        "table", (*_TABLE, "updateTable"), _commit_staged, _load_table, places=True
    ),
    "commitTransaction": Taking(
        "table", (*_TABLE, "commitTransaction"), _commit_staged_together, _load_table, places=True
    ),
    "registerTable": Taking(
        "table", (*_TABLE, "registerTable"), _register_table, _load_table, moves=True
    ),
    "renameTable": Taking(
        "table", (*_TABLE, "renameTable"), _rename_table, _load_table, moves=True
    ),
    "createView": Taking("view", (*_TABLE, *_VIEW), _create_view, _load_view, places=True),
    "renameView": Taking(
        "view", (*_TABLE, *_VIEW, "renameView"), _rename_view, _load_view, moves=True
    ),
    "createNamespace": Taking(
        "namespace",
        (*_TABLE, "createNamespace", "loadNamespaceMetadata"),
        _create_namespace,
        _load_namespace,
    ),
}
"""The ways to take a name, by the operation that finally takes it."""


# ---------------------------------------------------------------------------- judging


class _Taker:
    """Frees names and has an operation take them, with what it has made before as far as that goes.

    So most names need no object of their own that is dropped again: one hops from name to name, or
    is dropped, purged or renamed to free the next name.
    """

    def __init__(self, catalog: Catalog, taking: Taking) -> None:
        self.catalog = catalog
        self.taking = taking
        self.home = given_home(catalog)
        self.made: Made | None = None

    def free_and_take(self, freeing: Freeing) -> tuple[Freed, Reply] | None:
        """Return the freed name and the answer of what takes it; None if this is not offered.

        What is refused with an object that was made before is tried again without: the object may
        be the reason, and not the name.
        """
        had = self.made
        result = self._once(freeing)
        if result is None or result[1].ok or had is None:
            return result
        self.made = None
        return self._once(freeing)

    def _once(self, freeing: Freeing) -> tuple[Freed, Reply] | None:
        freed: Freed | None = None
        use = None
        if self.made and freeing.kind == self.taking.kind and not self.taking.moves:
            use, self.made = self.made.name, None
        with contextlib.suppress(NotOffered):  # this way to free it is not offered
            freed = freeing.free(self.catalog, self.home, use)
        return None if freed is None else (freed, self.take(freed.namespace, freed.name))

    def take(self, namespace: Namespace, name: str) -> Reply:
        """Have a name taken, by the object made before if it is moved on and is there."""
        at_home = namespace == self.home
        moved = self.made if self.taking.moves and at_home else None
        reply = self.taking.take(self.catalog, namespace, name, moved)
        if at_home:
            self.made = Made(namespace, name, _location(reply)) if reply.ok else None
        return reply


def _location(reply: Reply) -> str | None:
    """Return the metadata location that an answer tells, if it tells one."""
    body: Any = None
    with contextlib.suppress(ValueError):
        body = json.loads(reply.exchange.response_body)
    location = body.get("metadata-location") if isinstance(body, dict) else None
    return location if isinstance(location, str) else None


def judge_taking(catalog: Catalog, operation_id: str) -> None:
    """Judge that an operation can take a name, however it became free.

    A refusal counts only if the same request succeeds under a name that was never used: then the
    name was the reason. Raises Violation with all the ways in which the name had become free, and
    NotOffered if the catalog refuses the operation under every name.
    """
    taking = TAKINGS[operation_id]
    taker = _Taker(catalog, taking)
    refused: list[tuple[Freed, Reply]] = []
    judged = False
    for freeing in freeings_for(operation_id):
        result = taker.free_and_take(freeing)
        if result is None:
            continue
        freed, reply = result
        if reply.ok:
            if freeing in _ALWAYS:  # of what took the other names, its answer is enough
                seen = taking.look(catalog, freed.namespace, freed.name)
                seen.expect(200, detail=f"the name was free: {freed.how}")
        elif freed.vacated and taking.places and refuses_place(reply):
            continue  # refused for the location, not for the name
        elif taker.take(freed.namespace, catalog.new_name()).ok:
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
