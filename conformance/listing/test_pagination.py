"""Checks of pagination, where the catalog offers it: every entry once, in finitely many pages."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.given import shared_empty_namespace
from icecheck.conformance.kit.paging import (
    ODD,
    PAGED,
    SHARED,
    Place,
    first_page,
    namespaces_placed,
    namespaces_shared,
    of_each_list,
    tables_placed,
    tables_shared,
    views_shared,
)
from icecheck.findings.shared_symptoms import CHANGE
from icecheck.findings.symptoms import NOT_ALL_SEEN, Severity, declare
from icecheck.findings.verdict import Group, SkipKind
from icecheck.judging.check import check
from icecheck.objects.reading import (
    PAGE_TOO_LONG,
    PAGES_MAX,
    next_page_token,
    object_in,
)
from icecheck.replies.expect import NotOffered, Reply
from icecheck.replies.matching import ABSENT, show

_PAGE_TOKENS = declare(
    "page-tokens",
    "Asks for page tokens, or gives them out, otherwise than documented",
    Severity.SHAPE,
    told=CHANGE,
    answer_in_id=False,
)
_CUT_SHORT_WITHOUT_TOKEN = declare(
    "cut-short-without-token",
    "Cuts a list short and gives no token for the rest",
    Severity.FALSE_OR_LOST,
    NOT_ALL_SEEN,
    family=_PAGE_TOKENS,
)
_LAST_PAGE_TOKEN = declare(
    "last-page-token",
    "Ends a list otherwise than with a null token",
    Severity.SHAPE,
    family=_PAGE_TOKENS,
)
_PAGE_USED_UP = declare(
    "page-used-up",
    "Answers a page that is asked for again with the next one",
    Severity.FALSE_OR_LOST,
    NOT_ALL_SEEN,
)
_PAGES_INCOMPLETE = declare(
    "pages-incomplete",
    "The pages of a list do not have every entry once",
    Severity.FALSE_OR_LOST,
    NOT_ALL_SEEN,
)
_PAGINATION_WITHOUT_END = declare(
    "pagination-without-end", "The pages of a list never end", Severity.REFUSED
)

_ROOM = 10
"""A page size that exceeds the number of entries that a check has made."""
_MANY = 1_001
"""More than the 1000 entries that stores behind catalogs return at once."""

# --------------------------------------------------------------------------- following tokens


def _pages(place: Place, more: int = 0) -> Iterator[Reply]:
    """Yield the pages; end the check as not applicable if there is only one.

    Requests ``more`` entries per page than the place's own size, but never as many as all of its
    own: whether the list has others may depend on what other checks have made.
    """
    size = min(place.size + more, len(place.own) - 1)
    reply = first_page(place, size)
    used = {""}
    for _ in range(PAGES_MAX):
        yield reply
        token = next_page_token(reply)
        if token is None:
            return
        if token in used:
            got = "an empty token" if token == "" else "a token that was used"
            raise reply.violation(_PAGINATION_WITHOUT_END, "a new token, or null", got)
        used.add(token)
        reply = place.ask([("pageToken", token), ("pageSize", str(size))]).expect(200)
    # Pages may be short, even empty (L1893), and a namespace that others use may hold much.
    raise NotOffered(f"the list has more than {PAGES_MAX} pages", SkipKind.SAFETY_LEVEL)


# ------------------------------------------------------- checks of each of the three lists


@of_each_list(
    "pages-cover-all",
    "pages-cover-all",
    "token-progress",
    # A token may be made from a name, and any name may be the last one of a page.
    # The namespace in one of the shared ones is no entry and must not take the place of one.
    lists={**SHARED, "Tables": lambda catalog: tables_placed(catalog, 3, ending=ODD)},
)
def _expect_each_once(place: Place) -> None:
    """Following the tokens yields every {one} exactly once, and comes to an end."""
    for more in (0, 1):  # full pages only, and a last page that is not full
        seen: list[Any] = []
        for reply in _pages(place, more):
            seen += place.read(reply)
        counts = [seen.count(entry) for entry in place.own]
        if any(count != 1 for count in counts):
            what = "an entry is repeated" if max(counts) > 1 else "an entry is missing"
            raise reply.violation(_PAGES_INCOMPLETE, "every entry once", what)


@of_each_list("token-null-at-end")
def _expect_null_at_end(place: Place) -> None:
    """The last page of {them} carries a next-page-token that is null."""
    *_, last = _pages(place, 1)
    found = object_in(last).get("next-page-token", ABSENT)
    if found is not None:
        raise last.violation(_LAST_PAGE_TOKEN, "null", show(found), pointer="/next-page-token")


@of_each_list("page-size-bound")
def _expect_bounded(place: Place) -> None:
    """No page of {them} holds more entries than pageSize."""
    entries = 0
    for reply in _pages(place):
        entries += place.count(reply)
        if place.count(reply) > place.size:
            raise reply.violation(
                PAGE_TOO_LONG, "at most pageSize entries", "more", detail=f"pageSize {place.size}"
            )
    if entries < len(place.own):
        raise reply.violation(_PAGES_INCOMPLETE, "every entry once", "an entry is missing")


@of_each_list("without-token", "without-token-everything")
def expect_everything(place: Place) -> None:
    """Without a pageToken parameter all {them} come in one answer, whatever pageSize says."""
    for query in ((), (("pageSize", "1"),)):
        reply = place.ask(query)
        listed = place.read(reply)
        detail = "with pageSize=1" if query else "with neither parameter"
        if any(entry not in listed for entry in place.own):
            expected = "every entry in one answer"
            raise reply.violation(_CUT_SHORT_WITHOUT_TOKEN, expected, "some", detail=detail)
        token = next_page_token(reply)
        if token is not None:
            raise reply.violation(
                _CUT_SHORT_WITHOUT_TOKEN, "no further token", show(token), detail=detail
            )


def _expect_start(place: Place) -> None:
    for query in ([("pageToken", "")], [("pageToken", ""), ("pageSize", str(_ROOM))]):
        reply = place.ask(query)
        listed = place.read(reply)
        if next_page_token(reply) is None and any(entry not in listed for entry in place.own):
            raise reply.violation(
                _PAGES_INCOMPLETE, "a first page and a token, or everything", "neither"
            )


def _expect_nothing(place: Place) -> None:
    """Judge that an empty list is empty when it is requested in pages too."""
    reply = place.ask([("pageToken", ""), ("pageSize", "1")])
    if place.read(reply):
        raise reply.violation(_PAGES_INCOMPLETE, "an empty list", "a list with entries")


@of_each_list(
    "token-again",
    needs=PAGED,
    group=Group.GENERATED,
)
def _expect_the_same_again(place: Place) -> None:
    """The same token gets the same page of {them} again, or is refused."""
    size = ("pageSize", str(place.size))
    token = next_page_token(first_page(place, place.size))
    if token is None:
        return  # the list is cut short: other checks judge that
    first, again = (place.ask([("pageToken", token), size]) for _ in range(2))
    if 400 <= again.status < 500:
        return
    if any(entry in place.own and entry not in place.read(again) for entry in place.read(first)):
        raise again.violation(_PAGE_USED_UP, "the page that was asked for", "another one")


@of_each_list("bad-page-size", "400")
def _expect_bad_size_refused(place: Place) -> None:
    """A list of {them} with a pageSize that is no positive integer is refused with 400."""
    first_page(place, place.size)
    for size in ("0", "-1", "ten"):
        place.ask([("pageToken", ""), ("pageSize", size)]).expect(400, detail=f"pageSize={size}")


@check("listNamespaces.empty-token-starts")
def test_an_empty_token_starts_a_list_of_namespaces(catalog: Catalog) -> None:
    """An empty pageToken is answered with the first page of namespaces, or with all of them."""
    place = namespaces_shared(catalog)
    _expect_start(place)
    if place.nested:
        inner = place.own[-1]
        _expect_nothing(replace(place, ask=partial(catalog.list_namespaces, inner)))


@check("listTables.empty-token-starts")
def test_an_empty_token_starts_a_list_of_tables(catalog: Catalog) -> None:
    """An empty pageToken is answered with the first page of tables, or with all of them."""
    place = tables_shared(catalog)
    empty = shared_empty_namespace(catalog)
    _expect_nothing(replace(place, ask=partial(catalog.list_tables, empty)))
    _expect_start(place)


@check("listViews.empty-token-starts")
def test_an_empty_token_starts_a_list_of_views(catalog: Catalog) -> None:
    """An empty pageToken is answered with the first page of views, or with all of them."""
    place = views_shared(catalog)
    empty = shared_empty_namespace(catalog)
    _expect_nothing(replace(place, ask=partial(catalog.list_views, empty)))
    _expect_start(place)


# ---------------------------------------------------------------------- more than a thousand


@check(
    "listNamespaces.without-token-many",
    proves="listNamespaces.without-token-everything",
    needs=("nested-namespaces",),
    disruptive=True,
)
def test_without_a_token_a_thousand_namespaces_come_at_once(catalog: Catalog) -> None:
    """Without a pageToken, more than a thousand namespaces come in one answer."""
    expect_everything(namespaces_placed(catalog, _MANY))


@check(
    "listTables.without-token-many",
    proves="listTables.without-token-everything",
    disruptive=True,
)
def test_without_a_token_a_thousand_tables_come_at_once(catalog: Catalog) -> None:
    """Without a pageToken, more than a thousand tables come in one answer."""
    expect_everything(tables_placed(catalog, _MANY))
