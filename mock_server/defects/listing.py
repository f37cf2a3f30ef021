"""Ways in which lists of namespaces and tables go wrong."""

from collections.abc import Callable
from typing import Any

import msgspec

from icecheck.mock_server import names, problem, replies
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import (
    alter_body,
    alter_call,
    answer_status,
    refuse_as,
    wrap,
)
from icecheck.mock_server.problem import Problem
from icecheck.mock_server.state import WarehouseState

Body = dict[str, Any]
Levels = tuple[str, ...]


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
    breaks="listNamespaces.top-level",
    suffering="SHOW NAMESPACES shows databases that are none.",
)
def _all_levels(registries: Registries) -> None:
    """Without a parent, namespaces of all levels are listed."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if _parent(call):
            return faithful(context, state, call)
        return _listed([namespace for namespace, _ in state.namespaces.after(None)], state)

    wrap(registries, "listNamespaces", around)


@defect(
    "list-namespaces-with-tables-only",
    breaks="listNamespaces.top-level",
    suffering="A database that was just created is not to be seen.",
)
def _with_tables_only(registries: Registries) -> None:
    """Namespaces are found by looking at where tables are."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if _parent(call):
            return faithful(context, state, call)
        used = {namespace[:1] for namespace, entry in state.namespaces.after(None) if entry.tables}
        return _listed(sorted(used), state)

    wrap(registries, "listNamespaces", around)


@defect(
    "list-namespaces-202",
    breaks="listNamespaces.200",
    suffering="Clients read no list from an answer that says later.",
)
def _list_202(registries: Registries) -> None:
    """A list of namespaces is answered 202."""
    answer_status(registries, "listNamespaces", 202)


@defect(
    "list-namespaces-empty-parent-404",
    breaks="listNamespaces.empty-parent",
    suffering="Clients that always send the parameter see no databases.",
)
def _empty_parent_404(registries: Registries) -> None:
    """An empty parent is looked up like a name."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if call.query.get("parent") == "":
            raise problem.no_such_namespace([""])
        return faithful(context, state, call)

    wrap(registries, "listNamespaces", around)


@defect(
    "list-namespaces-descendants",
    breaks="listNamespaces.children-only",
    suffering="SHOW NAMESPACES IN a shows what is in a.b.",
)
def _descendants(registries: Registries) -> None:
    """With a parent, everything below it is listed."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        parent = _parent(call)
        outcome = faithful(context, state, call)
        if not parent:
            return outcome
        below = [
            namespace
            for namespace, _ in state.namespaces.after(None)
            if namespace[: len(parent)] == parent and namespace != parent
        ]
        return _listed(below, state)

    wrap(registries, "listNamespaces", around)


@defect(
    "list-namespaces-relative",
    breaks="listNamespaces.children-only",
    suffering="Clients look for the children at the top level.",
)
def _relative(registries: Registries) -> None:
    """Children are listed by their last level."""
    alter_body(
        registries,
        "listNamespaces",
        lambda body: body | {"namespaces": [each[-1:] for each in body["namespaces"]]},
    )


@defect(
    "list-namespaces-two-levels",
    breaks="listNamespaces.multipart-parent",
    suffering="SHOW NAMESPACES IN a.b.c shows what is in a.b.",
)
def _two_levels(registries: Registries) -> None:
    """Only the first two levels of a parent are looked at."""
    alter_call(registries, "listNamespaces", lambda call: _with_parent(call, _parent(call)[:2]))


@defect(
    "list-namespaces-leaf-404",
    breaks="listNamespaces.no-children",
    suffering="SHOW NAMESPACES fails in an empty namespace.",
)
def _leaf_404(registries: Registries) -> None:
    """A namespace without children is answered as if it did not exist."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        parent = _parent(call)
        if parent and next(state.children(parent), None) is None:
            raise problem.no_such_namespace(parent)
        return faithful(context, state, call)

    wrap(registries, "listNamespaces", around)


@defect(
    "list-namespaces-repeated",
    breaks="listNamespaces.unique",
    suffering="A database shows up as often as it has children.",
)
def _repeated(registries: Registries) -> None:
    """A namespace is listed once for each namespace below it."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        faithful(context, state, call)
        parent = _parent(call)
        depth = len(parent) + 1
        found = [
            namespace[:depth]
            for namespace, _ in state.namespaces.after(None)
            if namespace[: depth - 1] == parent and len(namespace) >= depth
        ]
        return _listed(found, state)

    wrap(registries, "listNamespaces", around)


@defect(
    "list-namespaces-unknown-parent-empty",
    breaks="listNamespaces.404",
    suffering="A misspelled name looks like an empty namespace.",
)
def _unknown_parent_empty(registries: Registries) -> None:
    """Below a parent that does not exist, nothing is listed."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except Problem as refused:
            if refused.status != 404:
                raise
            return _listed([], state)

    wrap(registries, "listNamespaces", around)


def _leave_out_empty(registries: Registries, operation_id: str, member: str) -> None:
    def left_out(body: Body) -> Body:
        return {key: value for key, value in body.items() if key != member or value}

    alter_body(registries, operation_id, left_out)


@defect(
    "list-namespaces-empty-left-out",
    breaks="listNamespaces.list-present",
    suffering="The Java client fails on an empty namespace.",
)
def _namespaces_left_out(registries: Registries) -> None:
    """An empty list of namespaces is left out of the answer."""
    _leave_out_empty(registries, "listNamespaces", "namespaces")


# ----------------------------------------------------------------------- listTables


@defect(
    "list-tables-empty-left-out",
    breaks="listTables.list-present",
    suffering="The Java client fails on an empty namespace.",
)
def _tables_left_out(registries: Registries) -> None:
    """An empty list of tables is left out of the answer."""
    _leave_out_empty(registries, "listTables", "identifiers")


@defect(
    "list-tables-202",
    breaks="listTables.200",
    suffering="Clients read no list from an answer that says later.",
)
def _list_tables_202(registries: Registries) -> None:
    """A list of tables is answered 202."""
    answer_status(registries, "listTables", 202)


@defect(
    "list-tables-stale",
    breaks="listTables.all",
    suffering="A table that was just created is not to be seen.",
)
def _stale(registries: Registries) -> None:
    """The list comes from an index that lacks the latest table."""
    alter_body(
        registries,
        "listTables",
        lambda body: body | {"identifiers": body["identifiers"][:-1]},
    )


@defect(
    "list-tables-per-file",
    breaks="listTables.unique",
    suffering="SHOW TABLES shows a table as often as it has metadata files.",
)
def _per_file(registries: Registries) -> None:
    """A table is listed once for each of its files."""
    alter_body(
        registries, "listTables", lambda body: body | {"identifiers": body["identifiers"] * 2}
    )


def _list_tables_where(registries: Registries, belongs: Callable[[Levels, Levels], bool]) -> None:
    """List the tables of every namespace for which ``belongs(asked, namespace)`` holds."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        faithful(context, state, call)
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


@defect(
    "list-tables-recursive",
    breaks="listTables.this-namespace-only",
    suffering="SHOW TABLES IN a shows the tables of a.b.",
)
def _recursive(registries: Registries) -> None:
    """Tables of the namespaces below are listed too."""
    _list_tables_where(registries, lambda asked, found: found[: len(asked)] == asked)


@defect(
    "list-tables-by-prefix",
    breaks="listTables.this-namespace-only",
    suffering="SHOW TABLES IN sales shows the tables of sales_2025.",
)
def _by_prefix(registries: Registries) -> None:
    """Tables of every namespace whose name begins alike are listed."""
    _list_tables_where(
        registries,
        lambda asked, found: (
            len(asked) == len(found) and ".".join(found).startswith(".".join(asked))
        ),
    )


@defect(
    "list-tables-unknown-namespace-500",
    breaks="listTables.404",
    suffering="Clients retry, and wait for a namespace that does not exist.",
)
def _unknown_namespace_500(registries: Registries) -> None:
    """Listing the tables of a namespace that does not exist is answered 500."""
    refuse_as(registries, "listTables", 404, 500, "InternalServerError")
