"""Defects of creating, loading, listing and dropping views."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import NamespaceEntry, ViewEntry, WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import answer_of, request_of
from icecheck.mock_server.defects.kit.requests import Json, Levels, sent_name
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    answer_status,
    forget_effect,
    refuse_as,
    wrap,
)
from icecheck.mock_server.defects.kit.storing import store_view_otherwise
from icecheck.mock_server.metadata.view_metadata import ViewMetadata, ViewVersion
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem

# Answers with another status: name, broken requirement, title, suffering, installation.
_STATUSES: tuple[tuple[str, str, str, str, Callable[[Registries], None]], ...] = (
    ("view-create-201", "createView.200", "A creation of a view is answered 201.",
     "Strict clients take the creation for failed.",
     lambda r: answer_status(r, "createView", 201)),
    ("view-create-malformed-500", "createView.400", "A body without a version is a null pointer.",
     "A client's mistake is reported as a failure of the server.",
     lambda r: refuse_as(r, "createView", 400, 500, "InternalServerError")),
    ("view-create-missing-namespace-400", "createView.404",
     "A missing namespace is a violated foreign key, answered 400.",
     "Clients do not learn that the namespace is missing.",
     lambda r: refuse_as(r, "createView", 404, 400, "ValidationException")),
    ("view-create-existing-200", "createView.409", "A second creation is answered as the first.",
     "CREATE VIEW of a name that is taken seems to succeed.",
     lambda r: refuse_as(r, "createView", 409, 200)),
    ("view-load-missing-500", "loadView.404", "Loading a missing view fails inside the server.",
     "CREATE VIEW fails, because Spark looks for the view first.",
     lambda r: refuse_as(r, "loadView", 404, 500, "InternalServerError")),
    ("view-load-202", "loadView.200", "A view is answered with 202.",
     "Strict clients read nothing from an answer that says later.",
     lambda r: answer_status(r, "loadView", 202)),
    ("view-exists-200", "viewExists.204", "The existence check is answered 200.",
     "Strict clients do not take 200 for a yes.",
     lambda r: answer_status(r, "viewExists", 200)),
    ("view-exists-always", "viewExists.404", "Every view exists.",
     "CREATE VIEW is refused for a name that is free.",
     lambda r: refuse_as(r, "viewExists", 404, 204)),
    ("view-list-202", "listViews.200", "A list of views is answered 202.",
     "Clients read no list from an answer that says later.",
     lambda r: answer_status(r, "listViews", 202)),
    ("view-list-missing-namespace-empty", "listViews.404",
     "The views of a namespace that does not exist are none.",
     "A misspelled name looks like an empty namespace.",
     lambda r: refuse_as(r, "listViews", 404, 200)),
    ("view-drop-200", "dropView.204", "A drop of a view is answered 200.",
     "Strict clients take the drop for failed.",
     lambda r: answer_status(r, "dropView", 200)),
    ("view-drop-missing-204", "dropView.404", "Dropping what does not exist succeeds.",
     "DROP VIEW hides a misspelled name.",
     lambda r: refuse_as(r, "dropView", 404, 204)),
    ("view-drop-forgotten", "dropView.gone", "A drop of a view is answered and not made.",
     "A view that was dropped can still be read.",
     lambda r: forget_effect(r, "dropView")),
    ("view-create-forgotten", "createView.immediate", "A created view is answered and not kept.",
     "A view that was created is not there.",
     lambda r: forget_effect(r, "createView")),
)  # fmt: skip

for _name, _breaks, _title, _suffering, _install in _STATUSES:
    declare(_name, _title, _install, breaks=_breaks, suffering=_suffering)


# ------------------------------------------------------------------------- creation


@defect(
    "view-create-replaces",
    on="createView",
    breaks="createView.conflict-changes-nothing",
    suffering="CREATE VIEW fails, and has replaced the view all the same.",
)
def _create_replaces(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A creation is written first and then refused because the name is taken."""
    name = sent_name(call)
    try:
        return faithful(state, call)
    except Problem as refused:
        if refused.status != 409 or state.view(call.namespace, name) is None:
            raise
        written = faithful(state.without_view(call.namespace, name), call)
        return Outcome(written.state, replies.problem_reply(refused))


@defect(
    "view-created-before-validation",
    on=request_of("createView"),
    breaks="createView.400",
    suffering="A creation that was refused has made a view.",
)
def _created_before_validation(body: Json) -> Json:
    """A creation without a version gets an empty one."""
    version = {"version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {}}
    version |= {"default-namespace": [], "representations": [
        {"type": "sql", "sql": "", "dialect": "spark"}]}  # fmt: skip
    return {"view-version": version} | body


def _store(
    name: str,
    breaks: str,
    title: str,
    suffering: str,
    change: Callable[[ViewMetadata], ViewMetadata],
) -> None:
    install = by(store_view_otherwise, "createView", lambda _before, made, _sent: change(made))
    declare(name, title, install, breaks=breaks, suffering=suffering)


def _with_first_version(metadata: ViewMetadata, **members: Any) -> ViewMetadata:
    version: ViewVersion = metadata.versions[0]
    return replace(metadata, versions=(replace(version, **members),))


def _first_query_only(metadata: ViewMetadata) -> ViewMetadata:
    return _with_first_version(metadata, representations=metadata.versions[0].representations[:1])


def _one_line(metadata: ViewMetadata) -> ViewMetadata:
    queries = tuple(
        replace(query, sql=" ".join(query.sql.split()))
        for query in metadata.versions[0].representations
    )
    return _with_first_version(metadata, representations=queries)


def _lower_columns(metadata: ViewMetadata) -> ViewMetadata:
    schema = metadata.schemas[0]
    fields = tuple(replace(field, name=field.name.lower()) for field in schema.fields)
    return replace(metadata, schemas=(replace(schema, fields=fields),))


def _trimmed_properties(metadata: ViewMetadata) -> ViewMetadata:
    kept = {key: value.strip() for key, value in metadata.properties.items()}
    return replace(metadata, properties=kept)


_store(
    "view-one-dialect", "createView.version-kept", "One dialect is kept of each version.",
    "Trino cannot read a view that was written for Spark and Trino.", _first_query_only,
)  # fmt: skip
_store(
    "view-query-reformatted", "createView.version-kept", "White space in a query is folded.",
    "A string in the query, or a comment in it, means something else.", _one_line,
)  # fmt: skip
_store(
    "view-default-catalog-lost", "createView.version-kept", "The default catalog is not kept.",
    "A view reads tables of whatever catalog its reader is in.",
    lambda metadata: _with_first_version(metadata, default_catalog=None),
)  # fmt: skip
_store(
    "view-columns-lower-case", "createView.schema-kept", "Columns of views are lower-cased.",
    "Columns cannot be found under their names.", _lower_columns,
)  # fmt: skip
_store(
    "view-properties-trimmed", "createView.properties-kept", "Values of properties are trimmed.",
    "Values that begin or end with a space are not what was set.", _trimmed_properties,
)  # fmt: skip


@defect(
    "view-schema-id-as-sent",
    on=through(store_view_otherwise, "createView"),
    breaks="createView.schema-id-assigned",
    suffering="The view cannot be loaded: its version refers to no schema.",
)
def _schema_id_as_sent(
    _before: ViewMetadata | None, made: ViewMetadata, sent: Json
) -> ViewMetadata:
    """A version keeps the schema id that it was sent with."""
    return _with_first_version(made, schema_id=sent["view-version"]["schema-id"])


@defect(
    "view-answer-is-the-request",
    on=answer_of("createView"),
    breaks="createView.answer-is-the-view",
    suffering="Who created the view believes it to have properties that it lacks.",
)
def _answer_is_the_request(body: Json) -> Json:
    """The answer to a creation is made from the request, with another identity."""
    uuid = "00000000-0000-4000-8000-000000000000"
    return body | {"metadata": body["metadata"] | {"view-uuid": uuid}}


# --------------------------------------------------------------------------- listing


declare(
    "view-list-empty-left-out",
    "An empty list of views is left out of the answer.",
    by(
        alter_body,
        "listViews",
        lambda body: {k: v for k, v in body.items() if k != "identifiers" or v},
    ),
    breaks="listViews.list-present",
    suffering="The Java client fails on a namespace without views.",
)


def _list_where(
    registries: Registries,
    operation_id: str,
    belongs: Callable[[Levels, Levels], bool],
    named: Callable[[NamespaceEntry], list[str]],
) -> None:
    """List the results of ``named`` for every namespace for which ``belongs(asked, it)`` holds."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        faithful(state, call)
        identifiers = [
            {"namespace": namespace, "name": name}
            for namespace, entry in state.namespaces.after(None)
            if belongs(call.namespace, namespace)
            for name in named(entry)
        ]
        body = {"identifiers": identifiers, "next-page-token": None}
        return Outcome(state, replies.json_reply(body))

    wrap(registries, operation_id, around)


def _views(entry: NamespaceEntry) -> list[str]:
    return [name for name, _ in entry.views.after(None)]


def _relations(entry: NamespaceEntry) -> list[str]:
    return sorted([*_views(entry), *(name for name, _ in entry.tables.after(None))])


@defect(
    "view-list-by-prefix",
    breaks="listViews.this-namespace-only",
    suffering="SHOW VIEWS IN sales shows the views of sales_2025.",
)
def _by_prefix(registries: Registries) -> None:
    """Views of every namespace whose name begins alike are listed."""

    def alike(asked: Levels, found: Levels) -> bool:
        return len(asked) == len(found) and ".".join(found).startswith(".".join(asked))

    _list_where(registries, "listViews", alike, _views)


declare_each(
    ("view-list-stale", "listViews.all",
     "The list of views comes from an index that lacks the latest one.",
     "A view that was just created is not to be seen.",
     by(alter_body, "listViews", lambda body: body | {"identifiers": body["identifiers"][:-1]})),
    ("view-list-per-version", "listViews.unique", "A view is listed once for each of its files.",
     "SHOW VIEWS shows a view as often as it has versions.",
     by(alter_body, "listViews", lambda body: body | {"identifiers": body["identifiers"] * 2})),
    ("view-list-recursive", "listViews.this-namespace-only",
     "Views of the namespaces below are listed too.", "SHOW VIEWS IN a shows the views of a.b.",
     by(_list_where, "listViews", lambda ask, it: it[: len(ask)] == ask, _views)),
    ("view-list-has-tables", "listViews.no-tables",
     "Tables and views lie in one relation, and all of it is listed as views.",
     "SHOW VIEWS shows tables, which cannot be loaded as views.",
     by(_list_where, "listViews", lambda ask, it: it == ask, _relations)),
    ("table-list-has-views", "listTables.no-views",
     "Tables and views lie in one relation, and all of it is listed as tables.",
     "SHOW TABLES shows views, which cannot be loaded as tables.",
     by(_list_where, "listTables", lambda ask, it: it == ask, _relations)),
)  # fmt: skip


# -------------------------------------------------------------------------- dropping


@defect(
    "view-drop-by-prefix",
    on="dropView",
    breaks="dropView.gone",
    suffering="Dropping one view drops others whose names begin alike.",
)
def _drop_by_prefix(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop of a view deletes with LIKE 'name%', without the last character."""
    outcome = faithful(state, call)
    entry = state.namespace(call.namespace)
    kept = outcome.state
    for name in [] if entry is None else _views(entry):
        if name != call.name and name.startswith(call.name[:-1]):
            kept = kept.without_view(call.namespace, name)
    return Outcome(kept, outcome.reply, outcome.effects)


@defect(
    "view-drop-revived-by-create",
    breaks="dropView.name-free",
    suffering="A view that was dropped comes back when its name is used again.",
)
def _revived_by_create(registries: Registries) -> None:
    """A drop of a view only marks it, and a creation takes the mark away."""
    dropped: dict[tuple[Levels, str], ViewEntry] = {}

    def drop(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        entry = state.view(call.namespace, call.name)
        outcome = faithful(state, call)
        if entry is not None:
            dropped[call.namespace, call.name] = entry
        return outcome

    def create(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        entry = dropped.get((call.namespace, sent_name(call)))
        if entry is None:
            return outcome
        return Outcome(outcome.state.with_view(call.namespace, sent_name(call), entry), entry.reply)

    wrap(registries, "dropView", drop)
    wrap(registries, "createView", create)
