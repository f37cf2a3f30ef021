"""Checks of lists that change between two pages: remaining entries must still be listed."""

from collections.abc import Callable
from functools import partial
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange
from icecheck.conformance.kit.paging import (
    Place,
    namespaces_placed,
    tables_placed,
    views_placed,
)
from icecheck.judging.check import generated_check
from icecheck.objects.reading import LISTING, next_page_token, not_applicable
from icecheck.replies.expect import Reply
from icecheck.replies.matching import show

_ENTRIES = 5
_KEPT = 2
_PAGES_MAX = 20

Drop = Callable[[Any], Reply]


def _expect_more(catalog: Catalog, place: Place, operation_id: str, drop: Drop) -> None:
    """Judge that a list does not end while several entries remain, whatever is dropped meanwhile.

    Drops the entries of the first page, then most of the remaining ones: a token may be made from
    the last entry shown or from the next one, and both are gone when the token is used. A single
    entry may be missed: a token that counts entries does that, and the document does not speak of
    lists that change.
    """
    reply = _page(place, "")
    listed = place.read(reply)
    token = next_page_token(reply)
    if not token:
        raise not_applicable("the first page holds everything")
    kept = [*place.own]
    for turn in range(_PAGES_MAX):
        shown = [entry for entry in kept if entry in listed]
        to_come = [entry for entry in kept if entry not in listed]
        for entry in {0: shown, 1: to_come[:-_KEPT]}.get(turn, []):
            arrange(catalog, operation_id, partial(drop, entry))
            kept.remove(entry)
        reply = _page(place, token)
        if reply.status != 200:
            why = "a token is refused when the list has changed, which is not forbidden"
            raise not_applicable(why)
        listed = listed + place.read(reply)
        token = next_page_token(reply)
        if not token:
            break
    else:
        raise not_applicable(f"the list has more than {_PAGES_MAX} pages")
    missing = [entry for entry in kept if entry not in listed]
    if len(missing) >= _KEPT:
        raise reply.violation(
            LISTING,
            "a token as long as there is more",
            "the end of the list",
            detail=f"entries were dropped between pages; still to come is {show(missing[0])}",
        )


def _page(place: Place, token: str) -> Reply:
    return place.ask([("pageToken", token), ("pageSize", "1")])


@generated_check(
    "listNamespaces.more-after-drops",
    proves="listNamespaces.token-while-more",
    needs=("pagination", "nested-namespaces"),
)
def test_a_list_of_namespaces_goes_on_after_drops(catalog: Catalog) -> None:
    """A list of namespaces goes on after the namespace that its token points at was dropped."""
    place = namespaces_placed(catalog, _ENTRIES)
    _expect_more(catalog, place, "dropNamespace", catalog.drop_namespace)


@generated_check(
    "listTables.more-after-drops", proves="listTables.token-while-more", needs=("pagination",)
)
def test_a_list_of_tables_goes_on_after_drops(catalog: Catalog) -> None:
    """A list of tables goes on after the table that its token points at was dropped."""
    place = tables_placed(catalog, _ENTRIES)
    _expect_more(catalog, place, "dropTable", lambda entry: catalog.drop_table(*entry))


@generated_check(
    "listViews.more-after-drops", proves="listViews.token-while-more", needs=("pagination",)
)
def test_a_list_of_views_goes_on_after_drops(catalog: Catalog) -> None:
    """A list of views goes on after the view that its token points at was dropped."""
    place = views_placed(catalog, _ENTRIES)
    _expect_more(catalog, place, "dropView", lambda entry: catalog.drop_view(*entry))
