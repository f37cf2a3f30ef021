"""Defects of the pages of a list; each for namespaces, for tables and for views."""

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, defect
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    alter_body,
    alter_call,
    wrap,
)
from icecheck.mock_server.protocol import problem, replies

OnOperation = Callable[[Registries, str], None]

LISTS = {
    "listNamespaces": "namespaces",
    "listTables": "identifiers",
    "listViews": "identifiers",
}
_WORDS = {"listNamespaces": "namespaces", "listTables": "tables", "listViews": "views"}


def of_each(name: str, *, breaks: str, suffering: str) -> Callable[[OnOperation], OnOperation]:
    """Declare a defect once for each listing; ``breaks`` is without the operation."""

    def declare_all(on_operation: OnOperation) -> OnOperation:
        for operation_id, words in _WORDS.items():
            declare(
                f"pages-{name}-{words}",
                f"{(on_operation.__doc__ or name).rstrip('.')} (list of {words}).",
                by(on_operation, operation_id),
                breaks=f"{operation_id}.{breaks}",
                suffering=suffering,
            )
        return on_operation

    return declare_all


def _with_query(call: Call, **changes: str) -> Call:
    return msgspec.structs.replace(call, query=dict(call.query) | changes)


@of_each("skip", breaks="pages-cover-all", suffering="Entries at page borders are never seen.")
def _skip(registries: Registries, operation_id: str) -> None:
    """A page starts one entry after the one that is due."""
    member = LISTS[operation_id]

    def skipped(call: Call, body: Json) -> Json:
        following = bool(call.query.get("pageToken"))
        return body | {member: body[member][1:] if following else body[member]}

    alter_answer(registries, operation_id, skipped)


@of_each("repeat", breaks="pages-cover-all", suffering="Entries at page borders come twice.")
def _repeat(registries: Registries, operation_id: str) -> None:
    """A page starts with the last entry of the page before."""
    member = LISTS[operation_id]
    last: dict[str, Any] = {}

    def repeated(call: Call, body: Json) -> Json:
        entries = list(body[member])
        if body["next-page-token"] is not None and entries:
            last[body["next-page-token"]] = entries[-1]
        before = last.get(call.query.get("pageToken", ""))
        return body | {member: entries if before is None else [before, *entries]}

    alter_answer(registries, operation_id, repeated)


@of_each("endless", breaks="token-progress", suffering="The Java client asks on for ever.")
def _endless(registries: Registries, operation_id: str) -> None:
    """The last page has an empty token instead of none."""
    alter_body(
        registries,
        operation_id,
        lambda body: body | {"next-page-token": body["next-page-token"] or ""},
    )


@of_each("restart", breaks="token-progress", suffering="Clients see the first page for ever.")
def _restart(registries: Registries, operation_id: str) -> None:
    """The token is ignored: every page is the first one."""

    def restarted(call: Call) -> Call:
        return _with_query(call, pageToken="") if "pageToken" in call.query else call

    alter_call(registries, operation_id, restarted)


@of_each("no-null", breaks="token-null-at-end", suffering="Strict clients miss the end.")
def _no_null(registries: Registries, operation_id: str) -> None:
    """The last page leaves the token out."""
    alter_body(
        registries,
        operation_id,
        lambda body: {k: v for k, v in body.items() if v is not None or k != "next-page-token"},
    )


@of_each("fixed-size", breaks="page-size-bound", suffering="Answers outgrow what was asked for.")
def _fixed_size(registries: Registries, operation_id: str) -> None:
    """The pageSize is ignored: a page has two entries."""

    def two_at_a_time(call: Call) -> Call:
        return _with_query(call, pageSize="2") if "pageSize" in call.query else call

    alter_call(registries, operation_id, two_at_a_time)


@of_each(
    "unasked",
    breaks="without-token-everything",
    suffering="Clients that know no pages see the first one only.",
)
def _unasked(registries: Registries, operation_id: str) -> None:
    """A list is cut into pages of two although nobody asked for pages."""

    def paged(call: Call) -> Call:
        if "pageToken" in call.query:
            return call
        return _with_query(call, pageToken="", pageSize="2")

    alter_call(registries, operation_id, paged)


@of_each(
    "by-size",
    breaks="without-token-everything",
    suffering="Clients that only bound the size see the first page only.",
)
def _by_size(registries: Registries, operation_id: str) -> None:
    """A pageSize alone starts pagination."""

    def paged(call: Call) -> Call:
        started = "pageSize" in call.query and "pageToken" not in call.query
        return _with_query(call, pageToken="") if started else call

    alter_call(registries, operation_id, paged)


@of_each(
    "empty-token-refused",
    breaks="empty-token-starts",
    suffering="The Java client cannot list anything.",
)
def _empty_token_refused(registries: Registries, operation_id: str) -> None:
    """An empty token is refused as malformed."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if call.query.get("pageToken") == "":
            raise problem.bad_request("Invalid page token")
        return faithful(state, call)

    wrap(registries, operation_id, around)


@of_each(
    "lost-after-empty-token",
    breaks="empty-token-starts",
    suffering="The Java client sees a part of every list.",
)
def _lost_after_empty_token(registries: Registries, operation_id: str) -> None:
    """An empty token gets the first entry, and no token to go on with."""
    member = LISTS[operation_id]

    def lost(call: Call, body: Json) -> Json:
        if call.query.get("pageToken") != "":
            return body
        return body | {member: body[member][:1], "next-page-token": None}

    alter_answer(registries, operation_id, lost)


@of_each("any-size", breaks="400", suffering="A misspelled size goes unnoticed.")
def _any_size(registries: Registries, operation_id: str) -> None:
    """A pageSize that makes no sense is read as 1."""

    def sized(call: Call) -> Call:
        size = call.query.get("pageSize", "1")
        return call if size.isdigit() and int(size) else _with_query(call, pageSize="1")

    alter_call(registries, operation_id, sized)


@of_each("size-500", breaks="400", suffering="A misspelled size looks like a failure.")
def _size_500(registries: Registries, operation_id: str) -> None:
    """A pageSize that is no integer is answered 500."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            json.loads(call.query.get("pageSize", "1"))
        except ValueError:
            raise problem.Problem(500, "NumberFormatException", "For input string") from None
        return faithful(state, call)

    wrap(registries, operation_id, around)


def _broken_where(
    registries: Registries, operation_id: str, breaks_down: Callable[[Call, int], bool]
) -> None:
    """Let an operation answer 500 for a page, by the call and the number of entries."""
    member = LISTS[operation_id]

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        count = len(json.loads(outcome.reply.body)[member])
        if "pageToken" in call.query and "pageSize" in call.query and breaks_down(call, count):
            raise problem.Problem(500, "IndexOutOfBoundsException", "Index out of bounds")
        return outcome

    wrap(registries, operation_id, around)


@of_each("rest-500", breaks="pages-cover-all", suffering="The last page of a list never comes.")
def _rest_500(registries: Registries, operation_id: str) -> None:
    """A page ends where its size says, beyond the end of the list too."""
    _broken_where(
        registries,
        operation_id,
        lambda call, count: call.query["pageToken"] != "" and count < int(call.query["pageSize"]),
    )


@of_each("short-500", breaks="empty-token-starts", suffering="Short lists cannot be read.")
def _short_500(registries: Registries, operation_id: str) -> None:
    """A list that is shorter than its first page is a failure."""
    _broken_where(
        registries,
        operation_id,
        lambda call, count: (
            call.query["pageToken"] == "" and 0 < count < int(call.query["pageSize"])
        ),
    )


@of_each("empty-500", breaks="empty-token-starts", suffering="A new namespace cannot be opened.")
def _empty_500(registries: Registries, operation_id: str) -> None:
    """The token of an empty list is made from its last entry."""
    _broken_where(registries, operation_id, lambda _, count: count == 0)


@of_each("used-up", breaks="token-again", suffering="An answer that was lost is lost for good.")
def _used_up(registries: Registries, operation_id: str) -> None:
    """A token names a cursor of the store, which has gone on when it is sent again."""
    following: dict[str, str] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        token = call.query.get("pageToken", "")
        if not token:
            following.clear()  # a new cursor: the tokens of this server are the same again
        asked = _with_query(call, pageToken=following[token]) if token in following else call
        outcome = faithful(state, asked)
        following_token = json.loads(outcome.reply.body).get("next-page-token")
        if token and following_token:
            following[token] = following_token
        return outcome

    wrap(registries, operation_id, around)


@of_each("floor", breaks="page-size-bound", suffering="Answers outgrow what was asked for.")
def _floor(registries: Registries, operation_id: str) -> None:
    """A page has four entries at least: a smaller size is raised without a word."""

    def raised(call: Call) -> Call:
        size = call.query.get("pageSize", "")
        return _with_query(call, pageSize="4") if re.fullmatch("0*[1-3]", size) else call

    alter_call(registries, operation_id, raised)


@of_each(
    "size-of-the-first",
    breaks="page-size-bound",
    suffering="Answers outgrow what was asked for.",
)
def _size_of_the_first(registries: Registries, operation_id: str) -> None:
    """A token remembers the greatest pageSize of its list, and later pages have that size."""
    sizes: dict[str, int] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        asked = call.query.get("pageSize", "")
        size = max(sizes.get(call.query.get("pageToken", ""), 0), int(asked or 0))
        outcome = faithful(state, _with_query(call, pageSize=str(size)) if size else call)
        if following := json.loads(outcome.reply.body).get("next-page-token"):
            sizes[following] = size
        return outcome

    wrap(registries, operation_id, around)


_SIGNATURE_BYTES = 12  # before the name in a token of the faithful server


@defect(
    "pages-nested-rows-count",
    on="listNamespaces",
    breaks="listNamespaces.pages-cover-all",
    suffering="SHOW NAMESPACES stops at the first namespace that has others in it.",
)
def _nested_rows_count(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A page of namespaces is a number of rows, nested ones too, and a short page the last one."""
    outcome = faithful(state, call)
    if not call.query.get("pageToken", "x"):  # the first page
        body = json.loads(outcome.reply.body)
        listed = [tuple(each) for each in body["namespaces"]]
        if any(next(state.children(each), None) for each in listed):
            reply = replies.json_reply({**body, "next-page-token": None})
            return structs.replace(outcome, reply=reply)
    return outcome


@defect(
    "pages-tokens-are-ascii",
    on=("listNamespaces", "listTables", "listViews"),
    breaks="listTables.pages-cover-all",
    suffering="A list ends with an error after the first table with a letter beyond ASCII.",
)
def _tokens_are_ascii(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A token made after a name with letters beyond ASCII is refused."""
    try:
        token = base64.urlsafe_b64decode(call.query.get("pageToken", ""))
    except ValueError:
        token = b""
    if not token[_SIGNATURE_BYTES:].isascii():
        raise problem.bad_request("Malformed page token")
    return faithful(state, call)
