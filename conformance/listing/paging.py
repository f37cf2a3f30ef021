"""Lists with some entries of a check's own, to be requested in pages."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Query
from icecheck.client.given import given_namespace, given_table
from icecheck.judging.probes import has_capability
from icecheck.objects.reading import namespaces_in, tables_in
from icecheck.objects.views import given_view
from icecheck.replies.expect import Reply
from icecheck.targets.target import Namespace

__all__ = ["ODD", "Place", "namespaces_placed", "tables_placed", "views_placed"]

ENTRIES = 2
"""The number of entries in a list: enough for a page that is not the last one."""
ENTRIES_OF_A_CATALOG = 3
"""The number of entries if a whole catalog is listed, with pages of two entries."""
ODD = "_ü東"
"""The ending of an odd name, where a catalog accepts it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A list with some entries of the check's own.

    ``size`` is the page size to request: 1 where the list has no other entries, so that there is a
    page for each entry; 2 where a whole catalog is listed. ``nested``: the entries are namespaces
    that can hold others.
    """

    ask: Callable[[Query], Reply]
    read: Callable[[Reply], list[Any]]
    own: tuple[Any, ...]
    size: int
    nested: bool = False

    def count(self, reply: Reply) -> int:
        """Return the number of entries in an answer."""
        return len(self.read(reply))


def namespaces_placed(catalog: Catalog, entries: int = ENTRIES) -> Place:
    """Create namespaces below a parent of their own, or at the top level where none can nest."""
    base = catalog.session.isolation.base
    nested = has_capability(catalog, "nested-namespaces")
    parent = given_namespace(catalog) if nested else base
    entries = entries if nested else ENTRIES_OF_A_CATALOG
    own = tuple(given_namespace(catalog, under=parent) for _ in range(entries))

    def ask(query: Query) -> Reply:
        return catalog.list_namespaces(parent or None, query)

    return Place(ask, namespaces_in, own, 1 if nested else 2, nested)


def tables_placed(
    catalog: Catalog,
    entries: int = ENTRIES,
    ending: str = "",
    namespace: Namespace | None = None,
) -> Place:
    """Create tables in a namespace of their own, with this ending where the catalog accepts it."""
    namespace = given_namespace(catalog) if namespace is None else namespace
    names = [catalog.new_name(ending)] if ending else []
    if names and not catalog.create_table(namespace, bodies.create_table_body(names[0])).ok:
        names, ending = [], ""
    more = range(entries - len(names))
    names += [given_table(catalog, namespace, hint=ending).name for _ in more]

    def ask(query: Query) -> Reply:
        return catalog.list_tables(namespace, query)

    return Place(ask, tables_in, tuple((namespace, name) for name in names), 1)


def views_placed(
    catalog: Catalog, entries: int = ENTRIES, namespace: Namespace | None = None
) -> Place:
    """Create views in a namespace of their own."""
    namespace = given_namespace(catalog) if namespace is None else namespace
    views = [given_view(catalog, namespace) for _ in range(entries)]

    def ask(query: Query) -> Reply:
        return catalog.list_views(namespace, query)

    return Place(ask, tables_in, tuple((namespace, view.name) for view in views), 1)
