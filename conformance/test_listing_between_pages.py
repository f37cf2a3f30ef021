"""Lists in pages that somebody changes between two pages: what stays is still to come."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from icecheck.check import check
from icecheck.client import Catalog
from icecheck.conformance.paging import Place, namespaces_placed, tables_placed, views_placed
from icecheck.conformance.reading import next_page_token, not_applicable
from icecheck.conformance.viewing import drop_view
from icecheck.expect import Reply, show
from icecheck.verdict import Group

_ENTRIES = 6
_KEPT = 2
_PAGES_MAX = 20

Drop = Callable[[Any], Reply]


@dataclass(frozen=True, slots=True)
class _Walk:
    """What a list in pages told of the entries that were there all along.

    ``missing`` are those of them that no page had, ``last`` is the answer that ended the list.
    """

    missing: list[Any]
    last: Reply


def _walk(catalog: Catalog, place: Place, operation_id: str, drop: Drop) -> _Walk:
    """Follow the pages of a list; drop what the first has shown, then most of what is to come.

    A token may be made of the entry that was shown last, or of the one that comes next: each of
    them is gone when the token comes back.
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
            catalog.given(operation_id, partial(drop, entry))
            kept.remove(entry)
        reply = _page(place, token)
        if reply.status != 200:
            break
        listed = listed + place.read(reply)
        token = next_page_token(reply)
        if not token:
            break
    return _Walk([entry for entry in kept if entry not in listed], reply)


def _page(place: Place, token: str) -> Reply:
    return place.ask([("pageToken", token), ("pageSize", "1")])


def _expect_more(walk: _Walk) -> None:
    """Judge that the list did not end while several were still to come.

    A single one may be lost: a token that counts entries does that, and the document does not
    speak of lists that change.
    """
    if walk.last.status != 200:
        raise not_applicable("a token is refused when the list has changed, which is not forbidden")
    if len(walk.missing) >= _KEPT:
        raise walk.last.violation(
            "listing",
            "a token as long as there is more",
            "the end of the list",
            detail=f"entries were dropped between pages; still to come is {show(walk.missing[0])}",
        )


def _namespaces(catalog: Catalog) -> _Walk:
    place = namespaces_placed(catalog, _ENTRIES)
    return _walk(catalog, place, "dropNamespace", catalog.drop_namespace)


def _tables(catalog: Catalog) -> _Walk:
    place = tables_placed(catalog, _ENTRIES)
    return _walk(catalog, place, "dropTable", lambda entry: catalog.drop_table(*entry))


def _views(catalog: Catalog) -> _Walk:
    place = views_placed(catalog, _ENTRIES)
    return _walk(catalog, place, "dropView", lambda entry: drop_view(catalog, *entry))


_NESTED = ("pagination", "nested-namespaces")


@check(
    "listNamespaces.more-after-drops",
    proves="listNamespaces.token-while-more",
    group=Group.GENERATED,
    needs=_NESTED,
)
def test_a_list_of_namespaces_goes_on_after_drops(catalog: Catalog) -> None:
    """A list of namespaces does not end because the one that its token tells of was dropped."""
    _expect_more(_namespaces(catalog))


@check(
    "listTables.more-after-drops",
    proves="listTables.token-while-more",
    group=Group.GENERATED,
    needs=("pagination",),
)
def test_a_list_of_tables_goes_on_after_drops(catalog: Catalog) -> None:
    """A list of tables does not end because the one that its token tells of was dropped."""
    _expect_more(_tables(catalog))


@check(
    "listViews.more-after-drops",
    proves="listViews.token-while-more",
    group=Group.GENERATED,
    needs=("pagination",),
)
def test_a_list_of_views_goes_on_after_drops(catalog: Catalog) -> None:
    """A list of views does not end because the one that its token tells of was dropped."""
    _expect_more(_views(catalog))
