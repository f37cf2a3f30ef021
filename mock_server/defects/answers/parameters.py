"""Defects that show for one value of a parameter only, because the answer is built elsewhere."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import NamespaceEntry, WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, defect, through
from icecheck.mock_server.defects.kit.places import request_of
from icecheck.mock_server.defects.kit.requests import Json, Levels, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_answer, wrap
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.names import split_namespace
from icecheck.mock_server.protocol.problem import Problem


def _of_refs(call: Call) -> bool:
    return call.query.get("snapshots") == "refs"


@defect(
    "load-refs-without-location",
    on=through(alter_answer, "loadTable"),
    breaks="loadTable.metadata-location",
    suffering="Spark with snapshot-loading-mode=refs cannot tell a new version from the old one.",
)
def _refs_without_location(call: Call, body: Json) -> Json:
    """With snapshots=refs the answer is built from other metadata, which knows no location."""
    return {k: v for k, v in body.items() if k != "metadata-location" or not _of_refs(call)}


@defect(
    "load-refs-without-properties",
    on=through(alter_answer, "loadTable"),
    breaks="loadTable.snapshots-refs",
    suffering="Spark with snapshot-loading-mode=refs writes with the settings of no one.",
)
def _refs_without_properties(call: Call, body: Json) -> Json:
    """With snapshots=refs the metadata has no properties."""
    metadata = {**body["metadata"], "properties": {}}
    return {**body, "metadata": metadata} if _of_refs(call) else body


@defect(
    "load-with-access-elsewhere",
    on=through(alter_answer, "loadTable"),
    breaks="loadTable.stable",
    suffering="PyIceberg asks for credentials with each load, and commits upon no known version.",
)
def _with_access_stale(call: Call, body: Json) -> Json:
    """With credentials a table is answered under the name of a metadata file of its own."""
    if "x-iceberg-access-delegation" not in call.request.headers:
        return body
    return {**body, "metadata-location": f"{body['metadata-location']}.signed"}


@defect(
    "drop-purged-still-listed",
    breaks="dropTable.purge-accepted",
    suffering="SHOW TABLES lists tables that were purged.",
)
def _purged_still_listed(registries: Registries) -> None:
    """A purge takes another way than a drop, which no listing hears of."""
    purged: list[tuple[tuple[str, ...], str]] = []

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
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
    """Let a list with paging parameters have other rows, as if from another query."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        size, token = (call.query.get(key, "") for key in ("pageSize", "pageToken"))
        paging = {"pageSize", "pageToken"}
        whole = {key: value for key, value in call.query.items() if key not in paging}
        outcome = faithful(state, structs.replace(call, query=whole))
        if not size.isdecimal() or not int(size) or not (token or "0").isdecimal():
            return faithful(state, call)
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


declare(
    "table-pages-by-prefix",
    "Pages of tables are those of every namespace whose name begins alike.",
    by(_in_pages, "listTables", "identifiers", _identifiers(_begins_alike, _tables)),
    breaks="listTables.this-namespace-only",
    suffering="SHOW TABLES IN sales shows the tables of sales_2025, when there are many.",
)


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
    on=through(_in_pages, "listNamespaces", "namespaces"),
    breaks="listNamespaces.children-only",
    suffering="SHOW NAMESPACES IN a shows what is in a.b, when there is much of it.",
)
def _pages_of_descendants(state: WarehouseState, call: Call) -> Iterable[Any]:
    """Pages of namespaces are of everything below the one that was named."""
    asked = call.query.get("parent")
    parent = split_namespace(asked) if asked else ()
    every = [namespace for namespace, _ in state.namespaces.after(None)]
    return [[*n] for n in every if n[: len(parent)] == parent and n != parent]


# ------------------------------------------------------------------------ registrations


@defect(
    "register-overwrites-if-told-not-to",
    on=request_of("registerTable"),
    breaks="states.overwritten",
    suffering="A registration that says that it must not overwrite replaces a table.",
)
def _overwrites_if_mentioned(body: Json) -> Json:
    """Whether to overwrite is told by the member's presence, whatever it says."""
    return body if body.get("overwrite") is None else {**body, "overwrite": True}


# ----------------------------------------------------------------------- what is missing


def _found_if(
    registries: Registries,
    operation_id: str,
    asked: Callable[[Call], bool],
    answer: Callable[[WarehouseState, Call], Outcome],
) -> None:
    """Let an operation answer a 404 otherwise if `asked` holds for the call."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as refused:
            if refused.status != 404 or not asked(call):
                raise
            return answer(state, call)

    wrap(registries, operation_id, around)


@defect(
    "list-page-of-nothing-is-empty",
    on=through(_found_if, "listTables", lambda call: "pageToken" in call.query),
    breaks="listTables.404",
    suffering="USE of a misspelled database succeeds for clients that read lists in pages.",
)
def _page_of_nothing(state: WarehouseState, _call: Call) -> Outcome:
    """A list of tables that is asked for in pages is empty where there is no namespace."""
    body: Json = {"identifiers": [], "next-page-token": None}
    return Outcome(state, replies.json_reply(body))


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
    on=through(_found_if, "dropTable", lambda call: call.query.get("purgeRequested") == "true"),
    breaks="dropTable.404",
    suffering="DROP TABLE … PURGE of a misspelled name succeeds.",
)
def _purge_of_nothing(state: WarehouseState, _call: Call) -> Outcome:
    """A purge is queued without a look at whether there is such a table."""
    return Outcome(state, replies.NO_CONTENT)


@defect(
    "namespace-removals-from-nothing",
    on=through(_found_if, "updateProperties", lambda call: not sent_json(call).get("updates")),
    breaks="updateProperties.404",
    suffering="ALTER NAMESPACE UNSET of a misspelled name succeeds.",
)
def _removals_from_nothing(state: WarehouseState, call: Call) -> Outcome:
    """A namespace is looked up for keys that are set, and keys are removed from none."""
    missing = sent_json(call).get("removals") or []
    body = {"updated": [], "removed": [], "missing": missing}
    return Outcome(state, replies.json_reply(body))


@defect(
    "list-pages-of-an-empty-parent",
    on="listNamespaces",
    breaks="listNamespaces.empty-parent",
    suffering="Spark with rest-page-size lists the schemas of all databases at the top.",
)
def _pages_of_no_parent(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """With pages asked for, an empty parent lists every namespace of every level."""
    if call.query.get("parent") != "" or "pageToken" not in call.query:
        return faithful(state, call)
    every = [[*namespace] for namespace, _ in state.namespaces.after(())]
    return Outcome(state, replies.json_reply({"namespaces": every, "next-page-token": None}))


@defect(
    "load-cache-without-its-parameters",
    breaks="loadTable.stable",
    suffering="Once Spark has loaded a table with snapshot-loading-mode=refs, its history is gone.",
)
def _cache_without_its_parameters(registries: Registries) -> None:
    """Answers are remembered by metadata file alone, as the first who loads a version wants it."""
    first: dict[str, str] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        if entry is None:
            return faithful(state, call)
        asked = first.setdefault(entry.metadata_location, call.query.get("snapshots", "all"))
        return faithful(state, structs.replace(call, query={**call.query, "snapshots": asked}))

    wrap(registries, "loadTable", around)
