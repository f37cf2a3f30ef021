"""Checks of lists in pages whose names different collations sort differently."""

from collections.abc import Callable, Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Query
from icecheck.client.given import given_namespace
from icecheck.conformance.names.lookalike_names import VIEWS, Bearer
from icecheck.judging.check import generated_check
from icecheck.objects.arranging import require
from icecheck.objects.reading import (
    LISTING,
    entries_in_pages,
    namespaces_in,
    supported,
    tables_in,
)
from icecheck.replies.expect import Reply
from icecheck.replies.matching import show

PAGED = ("a_1", "A_b", "a10", "aa")
"""Names that different collations sort differently; no two differ in case only.

The orders by bytes, in small or capital letters, without underscores, by numbers and by length are
different here: a server that takes one for its pages and another for its tokens loses a name or
repeats one.
"""
PAGE_SIZE = 2

Listing = tuple[Callable[[Query], Reply], Callable[[Reply], Sequence[Any]]]


def _expect_pages(stem: str, listing: Listing, made: Sequence[str]) -> None:
    """Judge that pages hold each of these names, which have this stem, once.

    Where they do not, the whole list tells what is due: a catalog may alter names.
    """
    ask, read = listing
    reply, entries = entries_in_pages(ask, read, PAGE_SIZE)
    listed = sorted(each for each in entries if each[-1].startswith(stem))
    if [each[-1] for each in listed] == sorted(made):
        return
    due = sorted(each for each in read(ask(())) if each[-1].startswith(stem))
    if listed == due:
        return
    odd = [each for each in due if listed.count(each) != 1]
    odd = odd or [each for each in listed if each not in due]
    told = f"{show(odd[0][-1])} is {listed.count(odd[0])} times on pages of {PAGE_SIZE}"
    raise reply.violation(LISTING, "each name of the list once", "another list", detail=told)


def _pages(catalog: Catalog, make: Callable[[str], Reply], listing: Listing) -> None:
    stem = catalog.new_name("_")
    made: list[str] = []
    for ending in PAGED:
        name = f"{stem}{ending}"
        reply = supported(make(name))
        if reply.ok:
            made.append(name)
        else:  # it may be case-insensitive, or take letters only
            reply.expect(400, 403, 409, 422, detail=f"a name that ends in {ending}")
    _expect_pages(stem, listing, made)


@generated_check("alike.pages-of-namespaces", needs=("pagination", "nested-namespaces"))
def test_pages_of_namespaces_in_mixed_case(catalog: Catalog) -> None:
    """Pages hold every namespace once, where names mix case, digits and underscores."""
    require(catalog, "createNamespace", "listNamespaces")
    parent = given_namespace(catalog)
    listing = (lambda query: catalog.list_namespaces(parent, query)), namespaces_in
    _pages(catalog, lambda name: catalog.create_namespace((*parent, name)), listing)


@generated_check("alike.pages-of-tables", needs=("pagination",))
def test_pages_of_tables_in_mixed_case(catalog: Catalog) -> None:
    """Pages hold every table once, where names mix case, digits and underscores."""
    require(catalog, "createTable", "listTables")
    namespace = given_namespace(catalog)
    listing = (lambda query: catalog.list_tables(namespace, query)), tables_in

    def make(name: str) -> Reply:
        return catalog.create_table(namespace, bodies.create_table_body(name))

    _pages(catalog, make, listing)


@generated_check("alike.pages-of-views", needs=("pagination",))
def test_pages_of_views_in_mixed_case(catalog: Catalog) -> None:
    """Pages hold every view once, where names mix case, digits and underscores."""
    require(catalog, "createView", "listViews")
    namespace = given_namespace(catalog)
    listing = (lambda query: catalog.list_views(namespace, query)), tables_in

    def make(name: str) -> Reply:
        return VIEWS.create(catalog, Bearer(namespace, "", name, "nothing odd", "0"))

    _pages(catalog, make, listing)
