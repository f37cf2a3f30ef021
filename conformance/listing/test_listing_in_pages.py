"""Checks of lists in pages: only entries of the list, each on one page, at any page size."""

from collections.abc import Callable
from typing import Any

from icecheck.client.catalog import Catalog, Query
from icecheck.client.given import (
    given_namespace,
    given_table,
    shared_empty_namespace,
    shared_namespaces,
)
from icecheck.conformance.kit.paging import (
    PLACED,
    Place,
    first_page,
    of_each_list,
    tables_shared,
    views_placed,
)
from icecheck.conformance.listing.test_pagination import expect_everything
from icecheck.findings.verdict import Group
from icecheck.judging.check import check, generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects.arranging import given_namespace_at
from icecheck.objects.reading import (
    LISTING,
    PAGE_TOO_LONG,
    PAGES_MAX,
    entries_in_pages,
    namespaces_in,
    next_page_token,
    not_applicable,
    tables_in,
)
from icecheck.objects.views import given_view
from icecheck.replies.expect import Reply
from icecheck.replies.matching import show
from icecheck.targets.target import Namespace


def _expect_pages(
    ask: Callable[[Query], Reply], read: Callable[[Reply], list[Any]], due: list[Any]
) -> None:
    """Judge the entries of a list in pages of one; a list in a single answer is judged too."""
    reply, listed = entries_in_pages(ask, read, 1)
    if strangers := [entry for entry in listed if entry not in due]:
        detail = f"on a page of it is {show(strangers[0])}"
        raise reply.violation(LISTING, "a list of what is there", "another list", detail=detail)
    if missing := [entry for entry in due if entry not in listed]:
        detail = f"on no page of it is {show(missing[0])}"
        raise reply.violation(LISTING, "a list of what is there", "another list", detail=detail)


def _lookalike(catalog: Catalog, namespace: Namespace) -> Namespace:
    return given_namespace_at(catalog, (*namespace[:-1], f"{namespace[-1]}x"))


@generated_check(
    "listTables.pages-of-this-namespace",
    proves="listTables.this-namespace-only",
    needs=("pagination",),
)
def test_pages_hold_tables_of_this_namespace(catalog: Catalog) -> None:
    """No page of tables has those of another namespace, not even of one below this one."""
    namespace = given_namespace(catalog)
    due = [(namespace, given_table(catalog, namespace).name) for _ in range(2)]
    given_table(catalog, _lookalike(catalog, namespace))
    if has_capability(catalog, "nested-namespaces"):
        given_table(catalog, given_namespace(catalog, under=namespace))
    _expect_pages(lambda query: catalog.list_tables(namespace, query), tables_in, due)


@generated_check(
    "listViews.pages-without-tables",
    proves=("listViews.no-tables", "listTables.no-views"),
    needs=("pagination",),
)
def test_pages_hold_one_kind(catalog: Catalog) -> None:
    """No page of views has a table, and no page of tables has a view."""
    namespace = given_namespace(catalog)
    views = [(namespace, given_view(catalog, namespace).name) for _ in range(2)]
    tables = [(namespace, given_table(catalog, namespace).name) for _ in range(2)]
    _expect_pages(lambda query: catalog.list_views(namespace, query), tables_in, views)
    _expect_pages(lambda query: catalog.list_tables(namespace, query), tables_in, tables)


@generated_check(
    "listNamespaces.pages-of-children",
    proves="listNamespaces.children-only",
    needs=("pagination", "nested-namespaces"),
)
def test_pages_hold_children(catalog: Catalog) -> None:
    """Every page of a list of namespaces holds only children of the parent that was named."""
    tree = shared_namespaces(catalog)  # one of the children has a child
    given_namespace(catalog, under=_lookalike(catalog, tree.path))
    due = [(*tree.path, name) for name in tree.holds[:3]]
    _expect_pages(lambda query: catalog.list_namespaces(tree.path, query), namespaces_in, due)


@generated_check(
    "listNamespaces.pages-of-an-empty-parent",
    proves="listNamespaces.empty-parent",
    needs=("pagination", "nested-namespaces"),
)
def test_pages_of_an_empty_parent(catalog: Catalog) -> None:
    """With an empty parent, pages hold namespaces of the top level, as they do without one."""
    if len(shared_empty_namespace(catalog)) == 1:  # nothing is below the top level yet
        given_namespace(catalog, under=given_namespace(catalog))
    query = [("parent", ""), ("pageToken", ""), ("pageSize", "50")]
    reply = catalog.list_namespaces(query=query).expect(200)
    below = [each for each in namespaces_in(reply) if len(each) > 1]
    if below:
        detail = f"on a page of an empty parent is {show([*below[0]])}"
        raise reply.violation(LISTING, "a list of what is there", "another list", detail=detail)


# ------------------------------------------------------- page sizes that change within a list

_SIZES = (3, 1, 2)
"""The sizes of the pages in turn, starting with the largest; the last one is repeated."""


@of_each_list(
    "page-size-of-each-page",
    "page-size-bound",
    "pages-cover-all",
    lists=PLACED,
    group=Group.GENERATED,
)
def _expect_each_page(place: Place) -> None:
    """Pages of {them} are as long as each was asked to be, and show each of them once."""
    reply, size = first_page(place, _SIZES[0]), _SIZES[0]
    listed: list[Any] = []
    for page in range(1, PAGES_MAX + 1):
        if place.count(reply) > size:
            detail = f"pageSize {size}, after pages of other sizes {show([*_SIZES])}"
            raise reply.violation(PAGE_TOO_LONG, "at most pageSize entries", "more", detail=detail)
        listed += place.read(reply)
        token = next_page_token(reply)
        if not token:
            _expect_once(reply, place, listed)
            return
        size = _SIZES[min(page, len(_SIZES) - 1)]
        reply = place.ask([("pageToken", token), ("pageSize", str(size))])
        if reply.status == 400:  # the document does not say whether a size may change
            return
        reply.expect(200)
    raise not_applicable(f"the list has more than {PAGES_MAX} pages")


def _expect_once(last: Reply, place: Place, listed: list[Any]) -> None:
    for entry in place.own:
        if (times := listed.count(entry)) != 1:
            detail = f"on {times} of the pages, whose sizes are {show([*_SIZES])}, is {show(entry)}"
            raise last.violation(LISTING, "each entry on one page", "another list", detail=detail)


# ----------------------------------------------------------- pages below a server's minimum

_SMALL = 2
_HUNDRED = 101
"""More than the entries that many catalogs return by default, or have on a page at least."""


def _expect_small(place: Place) -> None:
    """Judge that a small page of a long list is no longer than requested."""
    reply = first_page(place, _SMALL)
    if place.count(reply) > _SMALL:
        detail = f"pageSize {_SMALL}, of {len(place.own)} entries"
        raise reply.violation(PAGE_TOO_LONG, "at most pageSize entries", "more", detail=detail)


@generated_check("listTables.small-page-of-many", proves="listTables.page-size-bound")
def test_a_small_page_of_many_tables(catalog: Catalog) -> None:
    """A page of many tables is as small as it was asked to be."""
    _expect_small(tables_shared(catalog, _HUNDRED))


# ---- whole lists that many catalogs would cut


@check(
    "listViews.without-token-hundred",
    proves="listViews.without-token-everything",
    disruptive=True,
)
def test_without_a_token_a_hundred_views_come_at_once(catalog: Catalog) -> None:
    """Without a pageToken, more than a hundred views come in one answer."""
    expect_everything(views_placed(catalog, _HUNDRED))


@generated_check("listTables.without-token-hundred", proves="listTables.without-token-everything")
def test_without_a_token_a_hundred_tables_come_at_once(catalog: Catalog) -> None:
    """Without a pageToken, more than a hundred tables come in one answer."""
    expect_everything(tables_shared(catalog, _HUNDRED))
