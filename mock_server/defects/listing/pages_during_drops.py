"""Defects of pages when the list changes between them; each for namespaces, tables and views."""

import json
from collections.abc import Callable
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.rewriting import Faithful, with_answer, wrap
from icecheck.mock_server.defects.listing.pages import LISTS, of_each


def paged_over(
    registries: Registries,
    operation_id: str,
    start: Callable[[list[Any], Any], int],
    mark: Callable[[list[Any], int], Any],
) -> None:
    """Cut lists into pages by marks: a token stands for a mark, which is looked up in the list.

    ``start(entries, mark)`` returns the index where the page after a mark begins; ``mark(entries,
    end)`` returns the mark for a page that ends there.
    """
    member = LISTS[operation_id]
    marks: dict[str, Any] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        token, size = call.query.get("pageToken"), call.query.get("pageSize", "")
        sized = size.isdigit() and int(size) > 0
        if token is None or not sized or (token and token not in marks):
            return faithful(state, call)
        whole = {k: v for k, v in call.query.items() if not k.startswith("page")}
        outcome = faithful(state, msgspec.structs.replace(call, query=whole))
        if outcome.reply.status != 200:
            return outcome
        entries = json.loads(outcome.reply.body)[member]
        begin = start(entries, marks[token]) if token else 0
        end = begin + int(size)
        following = f"{operation_id}-{len(marks)}" if end < len(entries) else None
        if following is not None:
            marks[following] = mark(entries, end)
        return with_answer(outcome, {"next-page-token": following, member: entries[begin:end]})

    wrap(registries, operation_id, around)


@of_each(
    "after-a-lost-row",
    breaks="token-while-more",
    suffering="A list that is read while somebody cleans up ends half-way.",
)
def _after_a_lost_row(registries: Registries, operation_id: str) -> None:
    """A token names the last row of its page; when that row is gone, nothing comes after it."""

    def start(entries: list[Any], last: Any) -> int:
        return entries.index(last) + 1 if last in entries else len(entries)

    paged_over(registries, operation_id, start, lambda entries, end: entries[end - 1])


@of_each(
    "from-a-lost-row",
    breaks="token-while-more",
    suffering="A list that is read while somebody cleans up ends half-way.",
)
def _from_a_lost_row(registries: Registries, operation_id: str) -> None:
    """A token names the first row of the next page; when that row is gone, there is no page."""

    def start(entries: list[Any], first: Any) -> int:
        return entries.index(first) if first in entries else len(entries)

    paged_over(registries, operation_id, start, lambda entries, end: entries[end])


@of_each(
    "numbered",
    breaks="pages-cover-all",
    suffering="Clients that change the page size on their way lose entries.",
)
def _numbered(registries: Registries, operation_id: str) -> None:
    """A token is the number of a page, which begins at that many times the size now asked for."""
    member = LISTS[operation_id]

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        token, size = call.query.get("pageToken"), call.query.get("pageSize", "")
        if token is None or not size.isdigit() or (token and not token.isdigit()):
            return faithful(state, call)
        whole = {k: v for k, v in call.query.items() if not k.startswith("page")}
        outcome = faithful(state, msgspec.structs.replace(call, query=whole))
        entries = json.loads(outcome.reply.body)[member]
        begin = int(token or 0) * int(size)
        end = begin + int(size)
        following = str(int(token or 0) + 1) if end < len(entries) else None
        body = {"next-page-token": following, member: entries[begin:end]}
        return with_answer(outcome, body)

    wrap(registries, operation_id, around)
