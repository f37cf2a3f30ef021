"""Defects of values that come back in another form than the sent one."""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from icecheck.mock_server.commits.view_publication import published_view
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.json_values import objects
from icecheck.mock_server.defects.kit.places import table_update, view_update
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_request_body
from icecheck.mock_server.defects.kit.updating import (
    FaithfulUpdate,
    FaithfulViewUpdate,
    change_also,
)
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.model import MAIN_BRANCH
from icecheck.mock_server.metadata.schemas import highest_field_id, valid_schema

_SCHEMAS = ("createTable", "updateTable", "commitTransaction")
_VIEWS = ("createView", "replaceView")
_URL_SAFE = str.maketrans("+/", "-_")


def _alter_objects(
    registries: Registries, operation_ids: tuple[str, ...], alter: Callable[[Json], Json]
) -> None:
    """Let these operations see altered objects in their bodies, at any depth."""
    for operation_id in operation_ids:
        alter_request_body(registries, operation_id, lambda body: objects(body, alter))


# ------------------------------------------------------------------------------ tables


@defect(
    "null-order-from-direction",
    on=through(_alter_objects, _SCHEMAS),
    breaks="update.add-sort-order.effect",
    suffering="Files are written in another order than the table was told to have.",
)
def _null_order_from_direction(sent: Json) -> Json:
    """Nulls of a sort order come first where it ascends and last where it descends."""
    derived = {"asc": "nulls-first", "desc": "nulls-last"}
    usual = derived.get(str(sent.get("direction")))
    known = sent.get("null-order") in derived.values()
    return {**sent, "null-order": usual} if usual and known else sent


@defect(
    "nested-map-values-become-optional",
    on=through(_alter_objects, _SCHEMAS),
    breaks="update.add-schema.nested-types",
    suffering="A value that can never be missing is read as one that may be.",
)
def _nested_map_values_become_optional(sent: Json) -> Json:
    """The value of a map that is the element of a list is optional, whatever was sent."""
    element = sent.get("element")
    if not isinstance(element, dict) or "value-required" not in element:
        return sent
    return {**sent, "element": {**element, "value-required": False}}


@defect(
    "falsy-defaults-lost",
    on=through(_alter_objects, _SCHEMAS),
    breaks="update.add-schema.defaults-kept",
    suffering="Rows that were there before a column read null where 0 or false was promised.",
)
def _falsy_defaults_lost(sent: Json) -> Json:
    """A default that is false, 0 or the empty string counts as none."""
    defaults = ("initial-default", "write-default")
    return {key: value for key, value in sent.items() if value or key not in defaults}


@defect(
    "update-same-columns-same-schema",
    on=table_update("add-schema"),
    breaks="update.add-schema.identifier-fields",
    suffering="The key by which a stream was to be merged is never set.",
)
def _same_columns_same_schema(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A schema with the columns of another one is taken for it, whatever identifies a row."""
    sent = valid_schema(update.schema, 0, draft.metadata.format_version)
    for existing in draft.metadata.schemas:
        if existing.fields == sent.fields:
            draft.last_added_schema_id = existing.schema_id
            return
    faithful(update, draft)


declare_each(
    ("update-last-column-id-recomputed", "update.add-schema.last-column-id-never-falls",
     "After a schema was removed, last-column-id is the highest id in those that are left.",
     "A new column gets the id of a removed one, and shows that one's old data.",
     by(change_also, "remove-schemas",
        lambda _, after, _update: {"last_column_id": max(map(highest_field_id, after.schemas))})),
)  # fmt: skip


@defect(
    "update-refs-deleted-by-snapshot",
    on=table_update("remove-snapshot-ref"),
    breaks="update.remove-snapshot-ref.effect",
    suffering="Removing one tag removes the release tag of the same snapshot, which then expires.",
)
def _refs_deleted_by_snapshot(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """With a ref go all others, main apart, that name the same snapshot."""
    removed = draft.metadata.refs.get(update.ref_name)
    faithful(update, draft)
    for name, ref in dict(draft.metadata.refs).items():
        of_the_same = removed is not None and ref.snapshot_id == removed.snapshot_id
        if of_the_same and name != MAIN_BRANCH:
            draft.remove_ref(name)


@defect(
    "update-key-metadata-url-safe",
    on=table_update("add-encryption-key"),
    breaks="update.add-encryption-key.effect",
    suffering="A key that cannot be decoded any more: the table cannot be read.",
)
def _key_metadata_url_safe(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """Key metadata is written again in another alphabet of base64."""
    faithful(update, draft)
    keys = tuple(
        structs.replace(key, encrypted_key_metadata=key.encrypted_key_metadata.translate(_URL_SAFE))
        for key in draft.metadata.encryption_keys
    )
    draft.change(encryption_keys=keys)


# ------------------------------------------------------------------------------- views


@defect(
    "view-default-namespace-joined",
    on=through(_alter_objects, _VIEWS),
    breaks="createView.version-kept",
    suffering="A view whose namespace has a dot in its name finds none of its tables.",
)
def _default_namespace_joined(sent: Json) -> Json:
    """A view's default namespace is kept in one column, and split at every dot."""
    levels = sent.get("default-namespace")
    if not isinstance(levels, list) or not all(isinstance(each, str) for each in levels):
        return sent
    return {**sent, "default-namespace": ".".join(levels).split(".") if levels else []}


@defect(
    "view-line-ends-normalised",
    on=through(_alter_objects, _VIEWS),
    breaks="createView.version-kept",
    suffering="A text inside a query that has a carriage return in it compares with another one.",
)
def _line_ends_normalised(sent: Json) -> Json:
    """A carriage return before a line feed is gone from a view's query."""
    sql = sent.get("sql")
    return {**sent, "sql": sql.replace("\r\n", "\n")} if isinstance(sql, str) else sent


@defect(
    "view-same-query-same-version",
    on=view_update("add-view-version"),
    breaks="view-update.add-view-version.last-added-schema",
    suffering="A view over a table that got a column keeps its old columns for ever.",
)
def _same_query_same_version(faithful: FaithfulViewUpdate, update: Any, draft: Any) -> None:
    """A version with the query of another one is taken for it, whatever its schema."""
    sent = update.view_version
    for existing in draft.metadata.versions:
        if existing.representations == sent.representations:
            return
    faithful(update, draft)


@defect(
    "view-renamed-takes-new-namespace",
    on="renameView",
    breaks="renameView.across-namespaces",
    suffering="A view that is moved reads tables of its new namespace, or finds none.",
)
def _renamed_takes_new_namespace(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A view that moves to another namespace has that one as its default from then on."""
    outcome = faithful(state, call)
    target = sent_json(call)["destination"]
    where = (tuple(target["namespace"]), target["name"])
    entry = outcome.state.view(*where)
    if entry is None or state.view(*where) is not None:
        return outcome
    versions = tuple(
        structs.replace(version, default_namespace=where[0]) for version in entry.metadata.versions
    )
    metadata = structs.replace(entry.metadata, versions=versions)
    moved, file = published_view(faithful.context, metadata, entry)
    return Outcome(outcome.state.with_view(*where, moved), outcome.reply, (file,))
