"""Defects of the lists of namespaces and tables."""

from collections.abc import Callable

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.requests import Json, Levels
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    alter_call,
    answer_status,
    refuse_as,
    wrap,
)
from icecheck.mock_server.protocol import names, problem, replies
from icecheck.mock_server.protocol.problem import Problem


def _parent(call: Call) -> Levels:
    text = call.query.get("parent")
    return names.split_namespace(text) if text else ()


def _with_parent(call: Call, parent: Levels) -> Call:
    query = dict(call.query) | {"parent": names.NAMESPACE_SEPARATOR.join(parent)}
    return msgspec.structs.replace(call, query=query)


def _listed(namespaces: list[Levels], state: WarehouseState) -> Outcome:
    return Outcome(state, replies.json_reply({"namespaces": namespaces, "next-page-token": None}))


# ------------------------------------------------------------------- listNamespaces


@defect(
    "list-namespaces-all-levels",
    on="listNamespaces",
    breaks="listNamespaces.top-level",
    suffering="SHOW NAMESPACES shows databases that are none.",
)
def _all_levels(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Without a parent, namespaces of all levels are listed."""
    if _parent(call):
        return faithful(state, call)
    return _listed([namespace for namespace, _ in state.namespaces.after(None)], state)


@defect(
    "list-namespaces-with-tables-only",
    on="listNamespaces",
    breaks="listNamespaces.top-level",
    suffering="A database that was just created is not to be seen.",
)
def _with_tables_only(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Namespaces are found by looking at where tables are."""
    if _parent(call):
        return faithful(state, call)
    used = {namespace[:1] for namespace, entry in state.namespaces.after(None) if entry.tables}
    return _listed(sorted(used), state)


@defect(
    "list-namespaces-empty-parent-404",
    on="listNamespaces",
    breaks="listNamespaces.empty-parent",
    suffering="Clients that always send the parameter see no databases.",
)
def _empty_parent_404(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """An empty parent is looked up like a name."""
    if call.query.get("parent") == "":
        raise problem.no_such_namespace([""])
    return faithful(state, call)


@defect(
    "list-namespaces-descendants",
    on="listNamespaces",
    breaks="listNamespaces.children-only",
    suffering="SHOW NAMESPACES IN a shows what is in a.b.",
)
def _descendants(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """With a parent, everything below it is listed."""
    parent = _parent(call)
    outcome = faithful(state, call)
    if not parent:
        return outcome
    below = [
        namespace
        for namespace, _ in state.namespaces.after(None)
        if namespace[: len(parent)] == parent and namespace != parent
    ]
    return _listed(below, state)


declare(
    "list-namespaces-relative",
    "Children are listed by their last level.",
    by(
        alter_body,
        "listNamespaces",
        lambda body: body | {"namespaces": [each[-1:] for each in body["namespaces"]]},
    ),
    breaks="listNamespaces.children-only",
    suffering="Clients look for the children at the top level.",
)


@defect(
    "list-namespaces-leaf-404",
    on="listNamespaces",
    breaks="listNamespaces.no-children",
    suffering="SHOW NAMESPACES fails in an empty namespace.",
)
def _leaf_404(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A namespace without children is answered as if it did not exist."""
    parent = _parent(call)
    if parent and next(state.children(parent), None) is None:
        raise problem.no_such_namespace(parent)
    return faithful(state, call)


@defect(
    "list-namespaces-repeated",
    on="listNamespaces",
    breaks="listNamespaces.unique",
    suffering="A database shows up as often as it has children.",
)
def _repeated(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A namespace is listed once for each namespace below it."""
    faithful(state, call)
    parent = _parent(call)
    depth = len(parent) + 1
    found = [
        namespace[:depth]
        for namespace, _ in state.namespaces.after(None)
        if namespace[: depth - 1] == parent and len(namespace) >= depth
    ]
    return _listed(found, state)


@defect(
    "list-namespaces-unknown-parent-empty",
    on="listNamespaces",
    breaks="listNamespaces.404",
    suffering="A misspelled name looks like an empty namespace.",
)
def _unknown_parent_empty(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Below a parent that does not exist, nothing is listed."""
    try:
        return faithful(state, call)
    except Problem as refused:
        if refused.status != 404:
            raise
        return _listed([], state)


def _leave_out_empty(registries: Registries, operation_id: str, member: str) -> None:
    def left_out(body: Json) -> Json:
        return {key: value for key, value in body.items() if key != member or value}

    alter_body(registries, operation_id, left_out)


declare_each(
    ("list-namespaces-202", "listNamespaces.200", "A list of namespaces is answered 202.",
     "Clients read no list from an answer that says later.",
     by(answer_status, "listNamespaces", 202)),
    ("list-namespaces-two-levels", "listNamespaces.multipart-parent",
     "Only the first two levels of a parent are looked at.",
     "SHOW NAMESPACES IN a.b.c shows what is in a.b.",
     by(alter_call, "listNamespaces", lambda call: _with_parent(call, _parent(call)[:2]))),
    ("list-namespaces-empty-left-out", "listNamespaces.list-present",
     "An empty list of namespaces is left out of the answer.",
     "The Java client fails on an empty namespace.",
     by(_leave_out_empty, "listNamespaces", "namespaces")),
)  # fmt: skip


# ----------------------------------------------------------------------- listTables


def _list_tables_where(registries: Registries, belongs: Callable[[Levels, Levels], bool]) -> None:
    """List the tables of every namespace for which ``belongs(asked, namespace)`` holds."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        faithful(state, call)
        identifiers = [
            {"namespace": namespace, "name": name}
            for namespace, entry in state.namespaces.after(None)
            if belongs(call.namespace, namespace)
            for name, _ in entry.tables.after(None)
        ]
        return Outcome(
            state, replies.json_reply({"identifiers": identifiers, "next-page-token": None})
        )

    wrap(registries, "listTables", around)


declare(
    "list-tables-by-prefix",
    "Tables of every namespace whose name begins alike are listed.",
    by(
        _list_tables_where,
        lambda asked, found: (
            len(asked) == len(found) and ".".join(found).startswith(".".join(asked))
        ),
    ),
    breaks="listTables.this-namespace-only",
    suffering="SHOW TABLES IN sales shows the tables of sales_2025.",
)

declare_each(
    ("list-tables-empty-left-out", "listTables.list-present",
     "An empty list of tables is left out of the answer.",
     "The Java client fails on an empty namespace.",
     by(_leave_out_empty, "listTables", "identifiers")),
    ("list-tables-202", "listTables.200", "A list of tables is answered 202.",
     "Clients read no list from an answer that says later.", by(answer_status, "listTables", 202)),
    ("list-tables-stale", "listTables.all",
     "The list comes from an index that lacks the latest table.",
     "A table that was just created is not to be seen.",
     by(alter_body, "listTables", lambda body: body | {"identifiers": body["identifiers"][:-1]})),
    ("list-tables-per-file", "listTables.unique", "A table is listed once for each of its files.",
     "SHOW TABLES shows a table as often as it has metadata files.",
     by(alter_body, "listTables", lambda body: body | {"identifiers": body["identifiers"] * 2})),
    ("list-tables-recursive", "listTables.this-namespace-only",
     "Tables of the namespaces below are listed too.", "SHOW TABLES IN a shows the tables of a.b.",
     by(_list_tables_where, lambda asked, found: found[: len(asked)] == asked)),
    ("list-tables-unknown-namespace-500", "listTables.404",
     "Listing the tables of a namespace that does not exist is answered 500.",
     "Clients retry, and wait for a namespace that does not exist.",
     by(refuse_as, "listTables", 404, 500, "InternalServerError")),
)  # fmt: skip
