"""Defects of creating, loading, listing and dropping views."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Context
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import do_after, without, write_and_refuse
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import request_of
from icecheck.mock_server.defects.kit.remembering import revive
from icecheck.mock_server.defects.kit.requests import Json, sent_name
from icecheck.mock_server.defects.kit.rewriting import (
    alter_body,
    answer_status,
    as_another,
    forget_effect,
    refuse_as,
)
from icecheck.mock_server.defects.kit.storing import store_view_otherwise
from icecheck.mock_server.metadata.view_metadata import ViewMetadata, ViewVersion

declare_each(
    ("view-create-201", "createView.200", "A creation of a view is answered 201.",
     "Strict clients take the creation for failed.", by(answer_status, "createView", 201)),
    ("view-create-malformed-500", "createView.400", "A body without a version is a null pointer.",
     "A client's mistake is reported as a failure of the server.",
     by(refuse_as, "createView", 400, 500, "InternalServerError")),
    ("view-create-missing-namespace-400", "createView.404",
     "A missing namespace is a violated foreign key, answered 400.",
     "Clients do not learn that the namespace is missing.",
     by(refuse_as, "createView", 404, 400, "ValidationException")),
    ("view-create-existing-200", "createView.409", "A second creation is answered as the first.",
     "CREATE VIEW of a name that is taken seems to succeed.",
     by(refuse_as, "createView", 409, 200)),
    ("view-load-missing-500", "loadView.404", "Loading a missing view fails inside the server.",
     "CREATE VIEW fails, because Spark looks for the view first.",
     by(refuse_as, "loadView", 404, 500, "InternalServerError")),
    ("view-load-202", "loadView.200", "A view is answered with 202.",
     "Strict clients read nothing from an answer that says later.",
     by(answer_status, "loadView", 202)),
    ("view-exists-200", "viewExists.204", "The existence check is answered 200.",
     "Strict clients do not take 200 for a yes.", by(answer_status, "viewExists", 200)),
    ("view-exists-always", "viewExists.404", "Every view exists.",
     "CREATE VIEW is refused for a name that is free.", by(refuse_as, "viewExists", 404, 204)),
    ("view-list-202", "listViews.200", "A list of views is answered 202.",
     "Clients read no list from an answer that says later.", by(answer_status, "listViews", 202)),
    ("view-list-missing-namespace-empty", "listViews.404",
     "The views of a namespace that does not exist are none.",
     "A misspelled name looks like an empty namespace.", by(refuse_as, "listViews", 404, 200)),
    ("view-drop-200", "dropView.204", "A drop of a view is answered 200.",
     "Strict clients take the drop for failed.", by(answer_status, "dropView", 200)),
    ("view-drop-missing-204", "dropView.404", "Dropping what does not exist succeeds.",
     "DROP VIEW hides a misspelled name.", by(refuse_as, "dropView", 404, 204)),
    ("view-drop-forgotten", "dropView.gone", "A drop of a view is answered and not made.",
     "A view that was dropped can still be read.", by(forget_effect, "dropView")),
    ("view-create-forgotten", "createView.immediate", "A created view is answered and not kept.",
     "A view that was created is not there.", by(forget_effect, "createView")),
)  # fmt: skip


# ------------------------------------------------------------------------- creation


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


declare_each(
    ("view-create-replaces", "createView.conflict-changes-nothing",
     "A creation is written first and then refused because the name is taken.",
     "CREATE VIEW fails, and has replaced the view all the same.",
     by(write_and_refuse, "createView",
        lambda state, call: without(state, (call.namespace, sent_name(call)), "view"))),
    ("view-schema-id-as-sent", "createView.schema-id-assigned",
     "A version keeps the schema id that it was sent with.",
     "The view cannot be loaded: its version refers to no schema.",
     by(
         store_view_otherwise,
         "createView",
         lambda _, made, sent: _with_first_version(
             made, schema_id=sent["view-version"]["schema-id"]
         ),
     )),
    ("view-answer-is-the-request", "createView.answer-is-the-view",
     "The answer to a creation is made from the request, with another identity.",
     "Who created the view believes it to have properties that it lacks.",
     by(alter_body, "createView", as_another("view-uuid"))),
)  # fmt: skip


# --------------------------------------------------------------------------- listing


# -------------------------------------------------------------------------- dropping


@defect(
    "view-drop-by-prefix",
    on=through(do_after, "dropView"),
    breaks="dropView.gone",
    suffering="Dropping one view drops others whose names begin alike.",
)
def _drop_by_prefix(
    _context: Context, _before: WarehouseState, call: Call, after: WarehouseState
) -> WarehouseState:
    """A drop of a view deletes with LIKE 'name%', without the last character."""
    entry = after.namespace(call.namespace)
    for name in [] if entry is None else [name for name, _ in entry.views.after(None)]:
        if name.startswith(call.name[:-1]):
            after = after.without_view(call.namespace, name)
    return after


declare(
    "view-drop-revived-by-create",
    "A drop of a view only marks it, and a creation takes the mark away.",
    by(revive, "view"),
    breaks="dropView.name-free",
    suffering="A view that was dropped comes back when its name is used again.",
)
