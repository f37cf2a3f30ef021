"""Pagination, where the catalog offers it: every entry once, in pages that come to an end."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from icecheck import bodies
from icecheck.check import check
from icecheck.client import Catalog, Query
from icecheck.conformance.reading import (
    namespaces_in,
    next_page_token,
    not_applicable,
    object_in,
    tables_in,
)
from icecheck.conformance.viewing import given_view, list_views
from icecheck.expect import ABSENT, NotOffered, Reply, show
from icecheck.probes import has_capability
from icecheck.verdict import SkipKind

_PAGES_MAX = 60
_ENTRIES = 2
"""How many entries a listing has: enough for a page that is not the last one."""
_ENTRIES_OF_A_CATALOG = 3
"""The same where a whole catalog is listed, whose pages hold two."""
ODD = "_ü東"
"""The end of a name that is found as it was created, where a catalog takes it."""
_MANY = 1_001
"""More than the thousand that stores behind catalogs give at a time."""


@dataclass(frozen=True, slots=True)
class Place:
    """A listing with some entries of the check's own.

    ``size`` is the page size to ask for: 1 where nobody else has entries, so that there are as
    many pages as entries; 2 where a whole catalog is listed. ``nested``: the entries are
    namespaces that can hold others.
    """

    ask: Callable[[Query], Reply]
    read: Callable[[Reply], list[Any]]
    own: tuple[Any, ...]
    size: int
    nested: bool = False

    def count(self, reply: Reply) -> int:
        """Return how many entries an answer has."""
        return len(self.read(reply))


# ----------------------------------------------------------------------- namespaces


@check(
    "listNamespaces.pages-cover-all",
    proves=("listNamespaces.pages-cover-all", "listNamespaces.token-progress"),
)
def test_pages_hold_every_namespace_once(catalog: Catalog) -> None:
    """Following the tokens yields every namespace exactly once, and comes to an end."""
    place = _namespaces(catalog, 3)
    if place.nested:
        # What is inside of one is no entry of this list, and must not take the place of one.
        catalog.given_namespace(under=place.own[0])
    _expect_each_once(place)


@check("listNamespaces.token-null-at-end", proves="listNamespaces.token-null-at-end")
def test_the_last_page_of_namespaces_says_null(catalog: Catalog) -> None:
    """The last page of namespaces carries a next-page-token that is null."""
    _expect_null_at_end(_namespaces(catalog))


@check("listNamespaces.page-size-bound", proves="listNamespaces.page-size-bound")
def test_no_page_of_namespaces_is_too_long(catalog: Catalog) -> None:
    """No page of namespaces holds more entries than pageSize."""
    _expect_bounded(_namespaces(catalog, 3))


@check("listNamespaces.without-token", proves="listNamespaces.without-token-everything")
def test_without_a_token_all_namespaces_come_at_once(catalog: Catalog) -> None:
    """Without a pageToken parameter all namespaces come in one answer, whatever pageSize says."""
    _expect_everything(_namespaces(catalog, 3))


@check("listNamespaces.empty-token-starts", proves="listNamespaces.empty-token-starts")
def test_an_empty_token_starts_a_list_of_namespaces(catalog: Catalog) -> None:
    """An empty pageToken is answered with the first page of namespaces, or with all of them."""
    _expect_start(_namespaces(catalog))


@check("listNamespaces.bad-page-size", proves="listNamespaces.400")
def test_a_bad_page_size_for_namespaces_is_refused(catalog: Catalog) -> None:
    """A list of namespaces with a pageSize that is no positive integer is refused with 400."""
    _expect_bad_size_refused(_namespaces(catalog))


# --------------------------------------------------------------------------- tables


@check(
    "listTables.pages-cover-all",
    proves=("listTables.pages-cover-all", "listTables.token-progress"),
)
def test_pages_hold_every_table_once(catalog: Catalog) -> None:
    """Following the tokens yields every table exactly once, and comes to an end."""
    # A token may be made from a name, and the next page may begin after any of them.
    _expect_each_once(_tables(catalog, 3, ending=ODD))


@check("listTables.token-null-at-end", proves="listTables.token-null-at-end")
def test_the_last_page_of_tables_says_null(catalog: Catalog) -> None:
    """The last page of tables carries a next-page-token that is null."""
    _expect_null_at_end(_tables(catalog))


@check("listTables.page-size-bound", proves="listTables.page-size-bound")
def test_no_page_of_tables_is_too_long(catalog: Catalog) -> None:
    """No page of tables holds more entries than pageSize."""
    _expect_bounded(_tables(catalog, 3))


@check("listTables.without-token", proves="listTables.without-token-everything")
def test_without_a_token_all_tables_come_at_once(catalog: Catalog) -> None:
    """Without a pageToken parameter all tables come in one answer, whatever pageSize says."""
    _expect_everything(_tables(catalog, 3))


@check("listTables.empty-token-starts", proves="listTables.empty-token-starts")
def test_an_empty_token_starts_a_list_of_tables(catalog: Catalog) -> None:
    """An empty pageToken is answered with the first page of tables, or with all of them."""
    _expect_start(_tables(catalog))


@check("listTables.bad-page-size", proves="listTables.400")
def test_a_bad_page_size_for_tables_is_refused(catalog: Catalog) -> None:
    """A list of tables with a pageSize that is no positive integer is refused with 400."""
    _expect_bad_size_refused(_tables(catalog))


# ---------------------------------------------------------------------------- views


@check(
    "listViews.pages-cover-all",
    proves=("listViews.pages-cover-all", "listViews.token-progress"),
)
def test_pages_hold_every_view_once(catalog: Catalog) -> None:
    """Following the tokens yields every view exactly once, and comes to an end."""
    _expect_each_once(_views(catalog, 3))


@check("listViews.token-null-at-end", proves="listViews.token-null-at-end")
def test_the_last_page_of_views_says_null(catalog: Catalog) -> None:
    """The last page of views carries a next-page-token that is null."""
    _expect_null_at_end(_views(catalog))


@check("listViews.page-size-bound", proves="listViews.page-size-bound")
def test_no_page_of_views_is_too_long(catalog: Catalog) -> None:
    """No page of views holds more entries than pageSize."""
    _expect_bounded(_views(catalog, 3))


@check("listViews.without-token", proves="listViews.without-token-everything")
def test_without_a_token_all_views_come_at_once(catalog: Catalog) -> None:
    """Without a pageToken parameter all views come in one answer, whatever pageSize says."""
    _expect_everything(_views(catalog, 3))


@check("listViews.empty-token-starts", proves="listViews.empty-token-starts")
def test_an_empty_token_starts_a_list_of_views(catalog: Catalog) -> None:
    """An empty pageToken is answered with the first page of views, or with all of them."""
    _expect_start(_views(catalog))


@check("listViews.bad-page-size", proves="listViews.400")
def test_a_bad_page_size_for_views_is_refused(catalog: Catalog) -> None:
    """A list of views with a pageSize that is no positive integer is refused with 400."""
    _expect_bad_size_refused(_views(catalog))


# ---------------------------------------------------------------------- a great many


@check(
    "listNamespaces.without-token-many",
    proves="listNamespaces.without-token-everything",
    needs=("nested-namespaces",),
    disruptive=True,
)
def test_without_a_token_a_thousand_namespaces_come_at_once(catalog: Catalog) -> None:
    """More than a thousand namespaces come in one answer to who has asked for no pages."""
    _expect_everything(_namespaces(catalog, _MANY))


@check(
    "listTables.without-token-many",
    proves="listTables.without-token-everything",
    disruptive=True,
)
def test_without_a_token_a_thousand_tables_come_at_once(catalog: Catalog) -> None:
    """More than a thousand tables come in one answer to who has asked for no pages."""
    _expect_everything(_tables(catalog, _MANY))


# ------------------------------------------------------------------------- arranging


def _namespaces(catalog: Catalog, entries: int = _ENTRIES) -> Place:
    """Arrange namespaces below a parent of their own, or at the top where none can nest."""
    base = catalog.session.isolation.base
    nested = has_capability(catalog, "nested-namespaces")
    parent = catalog.given_namespace() if nested else base
    entries = entries if nested else _ENTRIES_OF_A_CATALOG
    own = tuple(catalog.given_namespace(under=parent) for _ in range(entries))

    def ask(query: Query) -> Reply:
        return catalog.list_namespaces(parent or None, query)

    return Place(ask, namespaces_in, own, 1 if nested else 2, nested)


def _tables(catalog: Catalog, entries: int = _ENTRIES, ending: str = "") -> Place:
    """Arrange tables in a namespace of their own, with this ending where the catalog takes it."""
    namespace = catalog.given_namespace()
    names = [catalog.new_name(ending)] if ending else []
    if names and not catalog.create_table(namespace, bodies.create_table_body(names[0])).ok:
        names, ending = [], ""
    more = range(entries - len(names))
    names += [catalog.given_table(namespace, hint=ending).name for _ in more]

    def ask(query: Query) -> Reply:
        return catalog.list_tables(namespace, query)

    return Place(ask, tables_in, tuple((namespace, name) for name in names), 1)


def _views(catalog: Catalog, entries: int = _ENTRIES) -> Place:
    namespace = catalog.given_namespace()
    views = [given_view(catalog, namespace) for _ in range(entries)]

    def ask(query: Query) -> Reply:
        return list_views(catalog, namespace, query)

    return Place(ask, tables_in, tuple((namespace, view.name) for view in views), 1)


def _pages(place: Place) -> Iterator[Reply]:
    """Walk through the pages; a check that needs them is not applicable where there is only one."""
    token: str | None = ""
    for number in range(_PAGES_MAX):
        reply = place.ask([("pageToken", token or ""), ("pageSize", str(place.size))])
        reply.expect(200)
        before, token = token, next_page_token(reply)
        if number == 0 and token is None and place.count(reply) >= len(place.own):
            raise not_applicable("the catalog does not paginate: all came in one answer")
        yield reply
        if token is None:
            return
        if token in {"", before}:
            got = "an empty token" if token == "" else "the token just used"
            raise reply.violation("pagination-without-end", "a new token, or null", got)
    if place.size > 1:
        reason = f"the catalog lists more than {_PAGES_MAX * place.size} namespaces"
        raise NotOffered(reason, SkipKind.SAFETY_LEVEL)
    raise reply.violation(
        "pagination-without-end",
        "an end of the listing",
        f"more than {_PAGES_MAX} pages",
        detail=f"{len(place.own)} entries, {place.size} to a page",
    )


# -------------------------------------------------------------------------- judging


def _expect_each_once(place: Place) -> None:
    seen: list[Any] = []
    for reply in _pages(place):
        seen += place.read(reply)
    counts = [seen.count(entry) for entry in place.own]
    if any(count != 1 for count in counts):
        what = "an entry is repeated" if max(counts) > 1 else "an entry is missing"
        raise reply.violation("pages-incomplete", "every entry once", what)


def _expect_null_at_end(place: Place) -> None:
    *_, last = _pages(place)
    found = object_in(last).get("next-page-token", ABSENT)
    if found is not None:
        raise last.violation("last-page-token", "null", show(found), pointer="/next-page-token")


def _expect_bounded(place: Place) -> None:
    entries = 0
    for reply in _pages(place):
        entries += place.count(reply)
        if place.count(reply) > place.size:
            raise reply.violation(
                "page-too-long", "at most pageSize entries", "more", detail=f"pageSize {place.size}"
            )
    if entries < len(place.own):
        raise reply.violation("pages-incomplete", "every entry once", "an entry is missing")


def _expect_everything(place: Place) -> None:
    for query in ((), (("pageSize", "1"),)):
        reply = place.ask(query)
        listed = place.read(reply)
        detail = "with pageSize=1" if query else "with neither parameter"
        if any(entry not in listed for entry in place.own):
            expected = "every entry in one answer"
            raise reply.violation("cut-short-without-token", expected, "some", detail=detail)
        token = next_page_token(reply)
        if token is not None:
            raise reply.violation(
                "cut-short-without-token", "no further token", show(token), detail=detail
            )


def _expect_start(place: Place) -> None:
    reply = place.ask([("pageToken", "")])
    listed = place.read(reply)
    if next_page_token(reply) is None and any(entry not in listed for entry in place.own):
        raise reply.violation(
            "pages-incomplete", "a first page and a token, or everything", "neither"
        )
    if not listed:
        raise reply.violation("pages-incomplete", "a first page with entries", "none")


def _expect_bad_size_refused(place: Place) -> None:
    next(_pages(place))  # says that there is no pagination, if there is none
    for size in ("0", "-1", "ten"):
        place.ask([("pageToken", ""), ("pageSize", size)]).expect(400, detail=f"pageSize={size}")
