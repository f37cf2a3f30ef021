"""Lists with some entries of a check's own, to be requested in pages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Query
from icecheck.client.given import (
    given_many,
    given_namespace,
    given_table,
    shared_namespaces,
    shared_tables,
)
from icecheck.client.shared_objects import LentNamespace
from icecheck.findings.verdict import Group
from icecheck.judging.check import check
from icecheck.judging.probes import has_capability
from icecheck.objects.reading import (
    namespaces_in,
    next_page_token,
    not_applicable,
    tables_in,
)
from icecheck.objects.views import given_view, shared_views
from icecheck.replies.expect import Reply
from icecheck.targets.target import Namespace

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


def first_page(place: Place, size: int) -> Reply:
    """Ask for the first page; end the check as not applicable if the list comes whole.

    Each list is asked by itself: a catalog may page one kind of list and send others whole.
    """
    reply = place.ask([("pageToken", ""), ("pageSize", str(size))]).expect(200)
    if next_page_token(reply) is None and place.count(reply) >= len(place.own):
        raise not_applicable("the catalog does not paginate: all came in one answer")
    return reply


def namespaces_shared(catalog: Catalog) -> Place:
    """Return three namespaces that checks share, or make them at the top level if none can nest.

    Where namespaces nest, the first of the three holds another one and the others are empty.
    """
    if not has_capability(catalog, "nested-namespaces"):
        return namespaces_placed(catalog, ENTRIES_OF_A_CATALOG)
    tree = shared_namespaces(catalog)
    return _namespaces_in(catalog, tree.path, tuple((*tree.path, name) for name in tree.holds[:3]))


def tables_shared(catalog: Catalog, entries: int = ENTRIES_OF_A_CATALOG) -> Place:
    """Return tables that checks share, in a namespace that holds nothing else."""
    return _tables_in(catalog, shared_tables(catalog, entries))


def views_shared(catalog: Catalog) -> Place:
    """Return three views that checks share."""
    return _views_in(catalog, shared_views(catalog))


def namespaces_placed(catalog: Catalog, entries: int) -> Place:
    """Create namespaces below a parent of their own, or at the top level where none can nest."""
    nested = has_capability(catalog, "nested-namespaces")
    parent = given_namespace(catalog) if nested else catalog.session.isolation.base
    entries = entries if nested else ENTRIES_OF_A_CATALOG
    own = given_many(catalog, entries, lambda: given_namespace(catalog, under=parent))
    return _namespaces_in(catalog, parent, tuple(own), nested=nested)


def tables_placed(catalog: Catalog, entries: int, ending: str = "") -> Place:
    """Create tables in a namespace of their own, with this ending where the catalog accepts it."""
    namespace = given_namespace(catalog)
    names = [catalog.new_name(ending)] if ending else []
    if names and not catalog.create_table(namespace, bodies.create_table_body(names[0])).ok:
        names, ending = [], ""
    more = entries - len(names)
    names += given_many(catalog, more, lambda: given_table(catalog, namespace, hint=ending).name)
    return _tables_in(catalog, LentNamespace(namespace, tuple(names)))


def views_placed(catalog: Catalog, entries: int) -> Place:
    """Create views in a namespace of their own."""
    namespace = given_namespace(catalog)
    names = given_many(catalog, entries, lambda: given_view(catalog, namespace).name)
    return _views_in(catalog, LentNamespace(namespace, tuple(names)))


def _namespaces_in(
    catalog: Catalog, parent: Namespace, own: tuple[Namespace, ...], *, nested: bool = True
) -> Place:
    ask = partial(catalog.list_namespaces, parent or None)
    return Place(ask, namespaces_in, own, 1 if nested else 2, nested)


def _tables_in(catalog: Catalog, place: LentNamespace) -> Place:
    own = tuple((place.path, name) for name in place.holds)
    return Place(partial(catalog.list_tables, place.path), tables_in, own, 1)


def _views_in(catalog: Catalog, place: LentNamespace) -> Place:
    own = tuple((place.path, name) for name in place.holds)
    return Place(partial(catalog.list_views, place.path), tables_in, own, 1)


# ------------------------------------------------------------- one check for each list

Placing = Callable[[Catalog], Place]
Judge = Callable[[Place], None]

_ENTRIES = 5
SHARED: Mapping[str, Placing] = {
    "Namespaces": namespaces_shared,
    "Tables": tables_shared,
    "Views": views_shared,
}
"""Lists with entries that checks share, by what they list."""
PLACED: Mapping[str, Placing] = {
    "Namespaces": lambda catalog: namespaces_placed(catalog, _ENTRIES),
    "Tables": lambda catalog: tables_placed(catalog, _ENTRIES),
    "Views": lambda catalog: views_placed(catalog, _ENTRIES),
}
"""Lists with five new entries, by what they list."""
PAGED: Mapping[str, tuple[str, ...]] = {
    "Namespaces": ("pagination", "nested-namespaces"),
    "Tables": ("pagination",),
    "Views": ("pagination",),
}
"""What checks need whose pages have to be those of their own entries."""


def of_each_list(
    name: str,
    *proves: str,
    lists: Mapping[str, Placing] = SHARED,
    needs: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    group: Group = Group.CHECKS,
) -> Callable[[Judge], Judge]:
    """Declare a judge of lists to be a check of each of these: ``listTables.<name>`` and so on.

    Its docstring is the title; ``{them}`` and ``{one}`` in it stand for what is listed. ``proves``
    are ids of requirements without the operation, and the name if left out.
    """

    def declare(judge: Judge) -> Judge:
        for them, placing in lists.items():
            prefix, words = f"list{them}.", {"them": them.lower(), "one": them.lower()[:-1]}
            declared = check(
                prefix + name,
                proves=tuple(prefix + each for each in proves or (name,)),
                title=str(judge.__doc__).rstrip(".").format(**words),
                needs=needs.get(them, ()),
                group=group,
            )
            test = f"test_{name.replace('-', '_')}_of_{words['them']}"
            judge.__globals__[test] = declared(_judging(judge, placing))
        return judge

    return declare


def _judging(judge: Judge, placing: Placing) -> Callable[[Catalog], None]:
    return lambda catalog: judge(placing(catalog))
