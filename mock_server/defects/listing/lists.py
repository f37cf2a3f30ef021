"""Defects of the lists of namespaces, tables and views: wrong entries, whole or in pages."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import NamespaceEntry, WarehouseState
from icecheck.mock_server.defects.kit.changing import answer_refusal, refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each
from icecheck.mock_server.defects.kit.requests import Json, Levels
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    alter_call,
    answer_status,
    refuse_as,
    with_answer,
    wrap,
)
from icecheck.mock_server.defects.listing.pages import LISTS
from icecheck.mock_server.protocol import names, replies

Rows = Callable[[WarehouseState, Call], Iterable[Any] | None]
"""Returns the entries of a list; None: those that there are."""


def _list_as(registries: Registries, operation_id: str, rows: Rows) -> None:
    """Let a list that the faithful server does not refuse have other entries."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        found = rows(state, call)
        if found is None:
            return outcome
        return with_answer(outcome, {LISTS[operation_id]: [*found], "next-page-token": None})

    wrap(registries, operation_id, around)


def _page_as(registries: Registries, operation_id: str, rows: Rows) -> None:
    """Let a list with paging parameters have other entries, as if from another query."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        size, token = (call.query.get(key, "") for key in ("pageSize", "pageToken"))
        paging = {"pageSize", "pageToken"}
        whole = {key: value for key, value in call.query.items() if key not in paging}
        outcome = faithful(state, msgspec.structs.replace(call, query=whole))
        if not size.isdecimal() or not int(size) or not (token or "0").isdecimal():
            return faithful(state, call)
        found, start = [*(rows(state, call) or ())], int(token or 0)
        end = start + int(size)
        following = str(end) if end < len(found) else None
        body = {LISTS[operation_id]: found[start:end], "next-page-token": following}
        return with_answer(outcome, body)

    wrap(registries, operation_id, around)


def _leave_out_empty(registries: Registries, operation_id: str) -> None:
    def left_out(body: Json) -> Json:
        return {key: value for key, value in body.items() if key != LISTS[operation_id] or value}

    alter_body(registries, operation_id, left_out)


# ------------------------------------------------------------------- namespaces


def _parent(call: Call) -> Levels:
    text = call.query.get("parent")
    return names.split_namespace(text) if text else ()


def _with_parent(call: Call, parent: Levels) -> Call:
    query = dict(call.query) | {"parent": names.NAMESPACE_SEPARATOR.join(parent)}
    return msgspec.structs.replace(call, query=query)


def _every(state: WarehouseState) -> list[Levels]:
    return [namespace for namespace, _ in state.namespaces.after(None)]


def _below(state: WarehouseState, call: Call) -> list[Levels]:
    parent = _parent(call)
    return [n for n in _every(state) if n[: len(parent)] == parent and n != parent]


def _first_levels(state: WarehouseState, call: Call) -> list[Levels]:
    return [namespace[: len(_parent(call)) + 1] for namespace in _below(state, call)]


def _at_the_top(state: WarehouseState, call: Call) -> list[Levels] | None:
    return sorted({path[:1] for path in _every(state)}) if _parent(call) else None


def _with_tables(state: WarehouseState, _call: Call) -> list[Levels]:
    return sorted({path[:1] for path, entry in state.namespaces.after(None) if entry.tables})


def _like_the_parent(state: WarehouseState, call: Call) -> list[Levels] | None:
    """Return the children of every namespace that is like the parent in the sense of SQL's LIKE."""
    if not call.query.get("parent") or call.query.get("pageToken") is not None:
        return None
    pattern = re.escape("\0".join(_parent(call))).replace("_", ".")
    return [each for each in _every(state) if re.fullmatch(pattern, "\0".join(each[:-1]))]


def _is_childless(state: WarehouseState, call: Call) -> bool:
    return bool(_parent(call)) and next(state.children(_parent(call)), None) is None


def _asks_for_pages_at_the_top(call: Call) -> bool:
    return call.query.get("parent") == "" and "pageToken" in call.query


declare_each(
    ("list-namespaces-all-levels", "listNamespaces.top-level",
     "Without a parent, namespaces of all levels are listed.",
     "SHOW NAMESPACES shows databases that are none.",
     by(_list_as, "listNamespaces", lambda state, call: None if _parent(call) else _every(state))),
    ("list-namespaces-with-tables-only", "listNamespaces.top-level",
     "Namespaces are found by looking at where tables are.",
     "A database that was just created is not to be seen.",
     by(_list_as, "listNamespaces",
        lambda state, call: None if _parent(call) else _with_tables(state, call))),
    ("list-namespaces-202", "listNamespaces.200", "A list of namespaces is answered 202.",
     "Clients read no list from an answer that says later.",
     by(answer_status, "listNamespaces", 202)),
    ("list-namespaces-empty-parent-404", "listNamespaces.empty-parent",
     "An empty parent is looked up like a name.",
     "Clients that always send the parameter see no databases.",
     by(refuse_where, "listNamespaces", lambda _, call: call.query.get("parent") == "", 404,
        "NoSuchNamespaceException")),
    ("list-pages-of-an-empty-parent", "listNamespaces.empty-parent",
     "With pages asked for, an empty parent lists every namespace of every level.",
     "Spark with rest-page-size lists the schemas of all databases at the top.",
     by(_list_as, "listNamespaces",
        lambda state, call: _every(state) if _asks_for_pages_at_the_top(call) else None)),
    ("list-namespaces-descendants", "listNamespaces.children-only",
     "With a parent, everything below it is listed.", "SHOW NAMESPACES IN a shows what is in a.b.",
     by(_list_as, "listNamespaces",
        lambda state, call: _below(state, call) if _parent(call) else None)),
    ("namespace-pages-of-descendants", "listNamespaces.children-only",
     "Pages of namespaces are of everything below the one that was named.",
     "SHOW NAMESPACES IN a shows what is in a.b, when there is much of it.",
     by(_page_as, "listNamespaces", _below)),
    ("list-children-by-sql-pattern", "listNamespaces.children-only",
     "An underscore in the parent stands for any character, as in SQL's LIKE.",
     "SHOW NAMESPACES IN sales_eu shows the namespaces of salesXeu.",
     by(_list_as, "listNamespaces", _like_the_parent)),
    ("list-namespaces-relative", "listNamespaces.children-only",
     "Children are listed by their last level.", "Clients look for the children at the top level.",
     by(alter_body, "listNamespaces",
        lambda body: body | {"namespaces": [each[-1:] for each in body["namespaces"]]})),
    ("list-namespaces-two-levels", "listNamespaces.multipart-parent",
     "Only the first two levels of a parent are looked at.",
     "SHOW NAMESPACES IN a.b.c shows what is in a.b.",
     by(alter_call, "listNamespaces", lambda call: _with_parent(call, _parent(call)[:2]))),
    ("list-namespaces-leaf-404", "listNamespaces.no-children",
     "A namespace without children is answered as if it did not exist.",
     "SHOW NAMESPACES fails in an empty namespace.",
     by(refuse_where, "listNamespaces", _is_childless, 404, "NoSuchNamespaceException")),
    ("list-namespaces-ignores-parent", "listNamespaces.no-children",
     "Below a parent that is there, the namespaces of the top level are listed.",
     "A client that descends finds the same namespaces on every level, without end.",
     by(_list_as, "listNamespaces", _at_the_top)),
    ("list-namespaces-repeated", "listNamespaces.unique",
     "A namespace is listed once for each namespace below it.",
     "A database shows up as often as it has children.",
     by(_list_as, "listNamespaces", _first_levels)),
    ("list-namespaces-unknown-parent-empty", "listNamespaces.404",
     "Below a parent that does not exist, nothing is listed.",
     "A misspelled name looks like an empty namespace.",
     by(answer_refusal, "listNamespaces", 404, lambda _faithful, state, _call, _refused: Outcome(
     state, replies.json_reply({"namespaces": [], "next-page-token": None})))),
    ("list-namespaces-empty-left-out", "listNamespaces.list-present",
     "An empty list of namespaces is left out of the answer.",
     "The Java client fails on an empty namespace.", by(_leave_out_empty, "listNamespaces")),
)  # fmt: skip


# ------------------------------------------------------------- tables and views


Named = Callable[[NamespaceEntry], list[str]]


def _of(belongs: Callable[[Levels, Levels], bool], named: Named) -> Rows:
    """Return the names that `named` finds in each namespace with `belongs(asked, namespace)`."""
    return lambda state, call: [
        {"namespace": namespace, "name": name}
        for namespace, entry in state.namespaces.after(None)
        if belongs(call.namespace, namespace)
        for name in named(entry)
    ]


def _tables(entry: NamespaceEntry) -> list[str]:
    return [name for name, _ in entry.tables.after(None)]


def _views(entry: NamespaceEntry) -> list[str]:
    return [name for name, _ in entry.views.after(None)]


def _relations(entry: NamespaceEntry) -> list[str]:
    return sorted([*_tables(entry), *_views(entry)])


def _is_here(asked: Levels, found: Levels) -> bool:
    return asked == found


def _is_below(asked: Levels, found: Levels) -> bool:
    return found[: len(asked)] == asked


def _begins_alike(asked: Levels, found: Levels) -> bool:
    return ".".join(found).startswith(".".join(asked))


def _is_beside(asked: Levels, found: Levels) -> bool:
    return len(asked) == len(found) and _begins_alike(asked, found)


declare_each(
    ("list-tables-empty-left-out", "listTables.list-present",
     "An empty list of tables is left out of the answer.",
     "The Java client fails on an empty namespace.", by(_leave_out_empty, "listTables")),
    ("view-list-empty-left-out", "listViews.list-present",
     "An empty list of views is left out of the answer.",
     "The Java client fails on a namespace without views.", by(_leave_out_empty, "listViews")),
    ("list-tables-202", "listTables.200", "A list of tables is answered 202.",
     "Clients read no list from an answer that says later.", by(answer_status, "listTables", 202)),
    ("list-tables-stale", "listTables.all",
     "The list comes from an index that lacks the latest table.",
     "A table that was just created is not to be seen.",
     by(alter_body, "listTables", lambda body: body | {"identifiers": body["identifiers"][:-1]})),
    ("view-list-stale", "listViews.all",
     "The list of views comes from an index that lacks the latest one.",
     "A view that was just created is not to be seen.",
     by(alter_body, "listViews", lambda body: body | {"identifiers": body["identifiers"][:-1]})),
    ("list-tables-per-file", "listTables.unique", "A table is listed once for each of its files.",
     "SHOW TABLES shows a table as often as it has metadata files.",
     by(alter_body, "listTables", lambda body: body | {"identifiers": body["identifiers"] * 2})),
    ("view-list-per-version", "listViews.unique", "A view is listed once for each of its files.",
     "SHOW VIEWS shows a view as often as it has versions.",
     by(alter_body, "listViews", lambda body: body | {"identifiers": body["identifiers"] * 2})),
    ("list-tables-recursive", "listTables.this-namespace-only",
     "Tables of the namespaces below are listed too.", "SHOW TABLES IN a shows the tables of a.b.",
     by(_list_as, "listTables", _of(_is_below, _tables))),
    ("view-list-recursive", "listViews.this-namespace-only",
     "Views of the namespaces below are listed too.", "SHOW VIEWS IN a shows the views of a.b.",
     by(_list_as, "listViews", _of(_is_below, _views))),
    ("list-tables-by-prefix", "listTables.this-namespace-only",
     "Tables of every namespace whose name begins alike are listed.",
     "SHOW TABLES IN sales shows the tables of sales_2025.",
     by(_list_as, "listTables", _of(_is_beside, _tables))),
    ("view-list-by-prefix", "listViews.this-namespace-only",
     "Views of every namespace whose name begins alike are listed.",
     "SHOW VIEWS IN sales shows the views of sales_2025.",
     by(_list_as, "listViews", _of(_is_beside, _views))),
    ("table-pages-by-prefix", "listTables.this-namespace-only",
     "Pages of tables are those of every namespace whose name begins alike.",
     "SHOW TABLES IN sales shows the tables of sales_2025, when there are many.",
     by(_page_as, "listTables", _of(_begins_alike, _tables))),
    ("table-list-has-views", "listTables.no-views",
     "Tables and views lie in one relation, and all of it is listed as tables.",
     "SHOW TABLES shows views, which cannot be loaded as tables.",
     by(_list_as, "listTables", _of(_is_here, _relations))),
    ("view-list-has-tables", "listViews.no-tables",
     "Tables and views lie in one relation, and all of it is listed as views.",
     "SHOW VIEWS shows tables, which cannot be loaded as views.",
     by(_list_as, "listViews", _of(_is_here, _relations))),
    ("table-pages-have-views", "listTables.no-views",
     "Tables and views lie in one relation, of which pages show all.",
     "SHOW TABLES shows views, when there are many tables.",
     by(_page_as, "listTables", _of(_is_here, _relations))),
    ("view-pages-have-tables", "listViews.no-tables",
     "Views and tables lie in one relation, of which pages show all.",
     "SHOW VIEWS shows tables, when there are many views.",
     by(_page_as, "listViews", _of(_is_here, _relations))),
    ("list-tables-unknown-namespace-500", "listTables.404",
     "Listing the tables of a namespace that does not exist is answered 500.",
     "Clients retry, and wait for a namespace that does not exist.",
     by(refuse_as, "listTables", 404, 500, "InternalServerError")),
)  # fmt: skip
