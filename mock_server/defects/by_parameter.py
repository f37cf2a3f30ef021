"""Answers that are right for one value of a parameter, and built elsewhere for another one."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import structs

from icecheck.mock_server import replies
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import (
    alter_answer,
    alter_request_body,
    sent_json,
    wrap,
)
from icecheck.mock_server.names import split_namespace
from icecheck.mock_server.problem import Problem
from icecheck.mock_server.state import NamespaceEntry, WarehouseState

Json = dict[str, Any]
Levels = tuple[str, ...]


def _of_refs(call: Call) -> bool:
    return call.query.get("snapshots") == "refs"


@defect(
    "load-refs-without-location",
    breaks="loadTable.metadata-location",
    suffering="Spark with snapshot-loading-mode=refs cannot tell a new version from the old one.",
)
def _refs_without_location(registries: Registries) -> None:
    """With snapshots=refs the answer is built from other metadata, which knows no location."""

    def alter(call: Call, body: Json) -> Json:
        return {k: v for k, v in body.items() if k != "metadata-location" or not _of_refs(call)}

    alter_answer(registries, "loadTable", alter)


@defect(
    "load-refs-without-properties",
    breaks="loadTable.snapshots-refs",
    suffering="Spark with snapshot-loading-mode=refs writes with the settings of no one.",
)
def _refs_without_properties(registries: Registries) -> None:
    """With snapshots=refs the metadata has no properties."""

    def alter(call: Call, body: Json) -> Json:
        metadata = {**body["metadata"], "properties": {}}
        return {**body, "metadata": metadata} if _of_refs(call) else body

    alter_answer(registries, "loadTable", alter)


@defect(
    "load-with-access-elsewhere",
    breaks="loadTable.stable",
    suffering="PyIceberg asks for credentials with each load, and commits upon no known version.",
)
def _with_access_stale(registries: Registries) -> None:
    """With credentials a table is answered under the name of a metadata file of its own."""

    def alter(call: Call, body: Json) -> Json:
        if "x-iceberg-access-delegation" not in call.request.headers:
            return body
        return {**body, "metadata-location": f"{body['metadata-location']}.signed"}

    alter_answer(registries, "loadTable", alter)


@defect(
    "drop-purged-still-listed",
    breaks="dropTable.purge-accepted",
    suffering="SHOW TABLES lists tables that were purged.",
)
def _purged_still_listed(registries: Registries) -> None:
    """A purge takes another way than a drop, which no listing hears of."""
    purged: list[tuple[tuple[str, ...], str]] = []

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        if call.query.get("purgeRequested") == "true":
            purged.append((call.namespace, call.name))
        return outcome

    def listed(call: Call, body: Json) -> Json:
        more = [{"namespace": [*ns], "name": name} for ns, name in purged if ns == call.namespace]
        return {**body, "identifiers": [*body["identifiers"], *more]}

    wrap(registries, "dropTable", around)
    alter_answer(registries, "listTables", listed)


# --------------------------------------------------------------------- lists in pages


def _in_pages(
    registries: Registries,
    operation_id: str,
    member: str,
    rows: Callable[[WarehouseState, Call], Iterable[Any]],
) -> None:
    """List other rows where pages are asked for, which another statement selects."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        size, token = (call.query.get(key, "") for key in ("pageSize", "pageToken"))
        paging = {"pageSize", "pageToken"}
        whole = {key: value for key, value in call.query.items() if key not in paging}
        outcome = faithful(context, state, structs.replace(call, query=whole))
        if not size.isdecimal() or not int(size) or not (token or "0").isdecimal():
            return faithful(context, state, call)
        found, start = [*rows(state, call)], int(token or 0)
        end = start + int(size)
        body = {member: found[start:end], "next-page-token": str(end) if end < len(found) else None}
        return structs.replace(outcome, reply=replies.json_reply(body))

    wrap(registries, operation_id, around)


def _identifiers(
    belongs: Callable[[Levels, Levels], bool], named: Callable[[NamespaceEntry], Iterable[str]]
) -> Callable[[WarehouseState, Call], Iterable[Any]]:
    def rows(state: WarehouseState, call: Call) -> Iterable[Any]:
        return [
            {"namespace": [*namespace], "name": name}
            for namespace, entry in state.namespaces.after(None)
            if belongs(call.namespace, namespace)
            for name in named(entry)
        ]

    return rows


def _relations(entry: NamespaceEntry) -> list[str]:
    return sorted(name for held in (entry.tables, entry.views) for name, _ in held.after(None))


def _tables(entry: NamespaceEntry) -> list[str]:
    return [name for name, _ in entry.tables.after(None)]


def _begins_alike(asked: Levels, found: Levels) -> bool:
    return ".".join(found).startswith(".".join(asked))


@defect(
    "table-pages-by-prefix",
    breaks="listTables.this-namespace-only",
    suffering="SHOW TABLES IN sales shows the tables of sales_2025, when there are many.",
)
def _pages_by_prefix(registries: Registries) -> None:
    """Pages of tables are those of every namespace whose name begins alike."""
    _in_pages(registries, "listTables", "identifiers", _identifiers(_begins_alike, _tables))


@defect(
    "table-pages-have-views",
    breaks="listTables.no-views",
    suffering="SHOW TABLES shows views, when there are many tables.",
)
def _pages_with_views(registries: Registries) -> None:
    """Tables and views lie in one relation, of which pages show all."""
    of_here = _identifiers(lambda asked, found: asked == found, _relations)
    _in_pages(registries, "listTables", "identifiers", of_here)


@defect(
    "view-pages-have-tables",
    breaks="listViews.no-tables",
    suffering="SHOW VIEWS shows tables, when there are many views.",
)
def _pages_with_tables(registries: Registries) -> None:
    """Views and tables lie in one relation, of which pages show all."""
    of_here = _identifiers(lambda asked, found: asked == found, _relations)
    _in_pages(registries, "listViews", "identifiers", of_here)


@defect(
    "namespace-pages-of-descendants",
    breaks="listNamespaces.children-only",
    suffering="SHOW NAMESPACES IN a shows what is in a.b, when there is much of it.",
)
def _pages_of_descendants(registries: Registries) -> None:
    """Pages of namespaces are of everything below the one that was named."""

    def rows(state: WarehouseState, call: Call) -> Iterable[Any]:
        asked = call.query.get("parent")
        parent = split_namespace(asked) if asked else ()
        every = [namespace for namespace, _ in state.namespaces.after(None)]
        return [[*n] for n in every if n[: len(parent)] == parent and n != parent]

    _in_pages(registries, "listNamespaces", "namespaces", rows)


# ------------------------------------------------------------------------ registrations


@defect(
    "register-overwrites-if-told-not-to",
    breaks="states.overwritten",
    suffering="A registration that says that it must not overwrite replaces a table.",
)
def _overwrites_if_mentioned(registries: Registries) -> None:
    """Whether to overwrite is told by the member's presence, whatever it says."""

    def alter(body: Json) -> Json:
        return body if body.get("overwrite") is None else {**body, "overwrite": True}

    alter_request_body(registries, "registerTable", alter)


# ----------------------------------------------------------------------- what is missing


def _found_if(
    registries: Registries,
    operation_id: str,
    asked: Callable[[Call], bool],
    answer: Callable[[WarehouseState, Call], Outcome],
) -> None:
    """Answer in another way than 404 when what is missing is asked about so."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except Problem as refused:
            if refused.status != 404 or not asked(call):
                raise
            return answer(state, call)

    wrap(registries, operation_id, around)


@defect(
    "list-page-of-nothing-is-empty",
    breaks="listTables.404",
    suffering="USE of a misspelled database succeeds for clients that read lists in pages.",
)
def _page_of_nothing(registries: Registries) -> None:
    """A list of tables that is asked for in pages is empty where there is no namespace."""

    def empty(state: WarehouseState, _call: Call) -> Outcome:
        body: Json = {"identifiers": [], "next-page-token": None}
        return Outcome(state, replies.json_reply(body))

    _found_if(registries, "listTables", lambda call: "pageToken" in call.query, empty)


@defect(
    "load-access-to-nothing-is-forbidden",
    breaks="loadTable.404",
    suffering="CREATE TABLE IF NOT EXISTS fails for clients that ask for credentials.",
)
def _access_to_nothing(registries: Registries) -> None:
    """Credentials are asked for before the table is looked up, and refused with 403."""

    def forbidden(state: WarehouseState, _call: Call) -> Outcome:
        return Outcome(state, replies.error_reply(403, "ForbiddenException", "No credentials"))

    header = "x-iceberg-access-delegation"
    _found_if(registries, "loadTable", lambda call: header in call.request.headers, forbidden)


@defect(
    "drop-purge-of-nothing-succeeds",
    breaks="dropTable.404",
    suffering="DROP TABLE … PURGE of a misspelled name succeeds.",
)
def _purge_of_nothing(registries: Registries) -> None:
    """A purge is queued without a look at whether there is such a table."""

    def done(state: WarehouseState, _call: Call) -> Outcome:
        return Outcome(state, replies.NO_CONTENT)

    _found_if(
        registries, "dropTable", lambda call: call.query.get("purgeRequested") == "true", done
    )


@defect(
    "namespace-removals-from-nothing",
    breaks="updateProperties.404",
    suffering="ALTER NAMESPACE UNSET of a misspelled name succeeds.",
)
def _removals_from_nothing(registries: Registries) -> None:
    """A namespace is looked up for keys that are set, and keys are removed from none."""

    def removed(state: WarehouseState, call: Call) -> Outcome:
        missing = sent_json(call).get("removals") or []
        body = {"updated": [], "removed": [], "missing": missing}
        return Outcome(state, replies.json_reply(body))

    _found_if(
        registries, "updateProperties", lambda call: not sent_json(call).get("updates"), removed
    )


@defect(
    "list-pages-of-an-empty-parent",
    breaks="listNamespaces.empty-parent",
    suffering="Spark with rest-page-size lists the schemas of all databases at the top.",
)
def _pages_of_no_parent(registries: Registries) -> None:
    """With pages asked for, an empty parent lists every namespace of every level."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if call.query.get("parent") != "" or "pageToken" not in call.query:
            return faithful(context, state, call)
        every = [[*namespace] for namespace, _ in state.namespaces.after(())]
        return Outcome(state, replies.json_reply({"namespaces": every, "next-page-token": None}))

    wrap(registries, "listNamespaces", around)


@defect(
    "load-cache-without-its-parameters",
    breaks="loadTable.stable",
    suffering="Once Spark has loaded a table with snapshot-loading-mode=refs, its history is gone.",
)
def _cache_without_its_parameters(registries: Registries) -> None:
    """Answers are remembered by metadata file alone, as the first who loads a version wants it."""
    first: dict[str, str] = {}

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        if entry is None:
            return faithful(context, state, call)
        asked = first.setdefault(entry.metadata_location, call.query.get("snapshots", "all"))
        return faithful(
            context, state, structs.replace(call, query={**call.query, "snapshots": asked})
        )

    wrap(registries, "loadTable", around)
