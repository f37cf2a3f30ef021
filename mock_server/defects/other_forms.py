"""Values that servers rework: what comes back in another form than it was sent in."""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from icecheck.mock_server.builder import Draft
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_request_body, sent_json, wrap
from icecheck.mock_server.defects.versions import Faithful, alter_update
from icecheck.mock_server.model import MAIN_BRANCH
from icecheck.mock_server.schemas import highest_field_id, valid_schema
from icecheck.mock_server.state import WarehouseState
from icecheck.mock_server.view_publication import published_view

Json = dict[str, Any]

_SCHEMAS = ("createTable", "updateTable", "commitTransaction")
_VIEWS = ("createView", "replaceView")
_URL_SAFE = str.maketrans("+/", "-_")


def _walked(value: Any, alter: Callable[[Json], Json]) -> Any:
    """JSON in which every object is what `alter` makes of it, the inner ones first."""
    match value:
        case dict():
            return alter({key: _walked(each, alter) for key, each in value.items()})
        case list():
            return [_walked(each, alter) for each in value]
        case _:
            return value


def _alter_objects(
    registries: Registries, operation_ids: tuple[str, ...], alter: Callable[[Json], Json]
) -> None:
    """Let these operations see other objects in their bodies, however deep they are."""
    for operation_id in operation_ids:
        alter_request_body(registries, operation_id, lambda body: _walked(body, alter))


# ------------------------------------------------------------------------------ tables


@defect(
    "null-order-from-direction",
    breaks="update.add-sort-order.effect",
    suffering="Files are written in another order than the table was told to have.",
)
def _null_order_from_direction(registries: Registries) -> None:
    """Nulls of a sort order come first where it ascends and last where it descends."""
    derived = {"asc": "nulls-first", "desc": "nulls-last"}

    def alter(sent: Json) -> Json:
        usual = derived.get(str(sent.get("direction")))
        known = sent.get("null-order") in derived.values()
        return {**sent, "null-order": usual} if usual and known else sent

    _alter_objects(registries, _SCHEMAS, alter)


@defect(
    "nested-map-values-become-optional",
    breaks="update.add-schema.nested-types",
    suffering="A value that can never be missing is read as one that may be.",
)
def _nested_map_values_become_optional(registries: Registries) -> None:
    """The value of a map that is the element of a list is optional, whatever was sent."""

    def alter(sent: Json) -> Json:
        element = sent.get("element")
        if not isinstance(element, dict) or "value-required" not in element:
            return sent
        return {**sent, "element": {**element, "value-required": False}}

    _alter_objects(registries, _SCHEMAS, alter)


@defect(
    "falsy-defaults-lost",
    breaks="update.add-schema.defaults-kept",
    suffering="Rows that were there before a column read null where 0 or false was promised.",
)
def _falsy_defaults_lost(registries: Registries) -> None:
    """A default that is false, 0 or the empty string counts as none."""

    def alter(sent: Json) -> Json:
        defaults = ("initial-default", "write-default")
        return {key: value for key, value in sent.items() if value or key not in defaults}

    _alter_objects(registries, _SCHEMAS, alter)


@defect(
    "update-same-columns-same-schema",
    breaks="update.add-schema.identifier-fields",
    suffering="The key by which a stream was to be merged is never set.",
)
def _same_columns_same_schema(registries: Registries) -> None:
    """A schema with the columns of another one is taken for it, whatever identifies a row."""

    def alter(faithful: Faithful, update: Any, draft: Draft) -> None:
        sent = valid_schema(update.schema, 0, draft.metadata.format_version)
        for existing in draft.metadata.schemas:
            if existing.fields == sent.fields:
                draft.last_added_schema_id = existing.schema_id
                return
        faithful(update, draft)

    alter_update(registries, "add-schema", alter)


@defect(
    "update-last-column-id-recomputed",
    breaks="update.add-schema.last-column-id-never-falls",
    suffering="A new column gets the id of a removed one, and shows that one's old data.",
)
def _last_column_id_recomputed(registries: Registries) -> None:
    """After a schema was removed, last-column-id is the highest id in those that are left."""

    def alter(faithful: Faithful, update: Any, draft: Draft) -> None:
        faithful(update, draft)
        draft.change(last_column_id=max(map(highest_field_id, draft.metadata.schemas)))

    alter_update(registries, "remove-schemas", alter)


@defect(
    "update-refs-deleted-by-snapshot",
    breaks="update.remove-snapshot-ref.effect",
    suffering="Removing one tag removes the release tag of the same snapshot, which then expires.",
)
def _refs_deleted_by_snapshot(registries: Registries) -> None:
    """With a ref go all others, main apart, that name the same snapshot."""

    def alter(faithful: Faithful, update: Any, draft: Draft) -> None:
        removed = draft.metadata.refs.get(update.ref_name)
        faithful(update, draft)
        for name, ref in dict(draft.metadata.refs).items():
            of_the_same = removed is not None and ref.snapshot_id == removed.snapshot_id
            if of_the_same and name != MAIN_BRANCH:
                draft.remove_ref(name)

    alter_update(registries, "remove-snapshot-ref", alter)


@defect(
    "update-key-metadata-url-safe",
    breaks="update.add-encryption-key.effect",
    suffering="A key that cannot be decoded any more: the table cannot be read.",
)
def _key_metadata_url_safe(registries: Registries) -> None:
    """Key metadata is written again in another alphabet of base64."""

    def alter(faithful: Faithful, update: Any, draft: Draft) -> None:
        faithful(update, draft)
        keys = tuple(
            structs.replace(
                key, encrypted_key_metadata=key.encrypted_key_metadata.translate(_URL_SAFE)
            )
            for key in draft.metadata.encryption_keys
        )
        draft.change(encryption_keys=keys)

    alter_update(registries, "add-encryption-key", alter)


# ------------------------------------------------------------------------------- views


@defect(
    "view-default-namespace-joined",
    breaks="createView.version-kept",
    suffering="A view whose namespace has a dot in its name finds none of its tables.",
)
def _default_namespace_joined(registries: Registries) -> None:
    """A view's default namespace is kept in one column, and split at every dot."""

    def alter(sent: Json) -> Json:
        levels = sent.get("default-namespace")
        if not isinstance(levels, list) or not all(isinstance(each, str) for each in levels):
            return sent
        return {**sent, "default-namespace": ".".join(levels).split(".") if levels else []}

    _alter_objects(registries, _VIEWS, alter)


@defect(
    "view-line-ends-normalised",
    breaks="createView.version-kept",
    suffering="A text inside a query that has a carriage return in it compares with another one.",
)
def _line_ends_normalised(registries: Registries) -> None:
    """A carriage return before a line feed is gone from a view's query."""

    def alter(sent: Json) -> Json:
        sql = sent.get("sql")
        return {**sent, "sql": sql.replace("\r\n", "\n")} if isinstance(sql, str) else sent

    _alter_objects(registries, _VIEWS, alter)


@defect(
    "view-same-query-same-version",
    breaks="view-update.add-view-version.last-added-schema",
    suffering="A view over a table that got a column keeps its old columns for ever.",
)
def _same_query_same_version(registries: Registries) -> None:
    """A version with the query of another one is taken for it, whatever its schema."""
    faithful = registries.view_updates["add-view-version"]

    def apply(update: Any, draft: Any) -> None:
        sent = update.view_version
        for existing in draft.metadata.versions:
            if existing.representations == sent.representations:
                return
        faithful(update, draft)

    registries.view_updates["add-view-version"] = apply


@defect(
    "view-renamed-takes-new-namespace",
    breaks="renameView.across-namespaces",
    suffering="A view that is moved reads tables of its new namespace, or finds none.",
)
def _renamed_takes_new_namespace(registries: Registries) -> None:
    """A view that moves to another namespace has that one as its default from then on."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        target = sent_json(call)["destination"]
        where = (tuple(target["namespace"]), target["name"])
        entry = outcome.state.view(*where)
        if entry is None or state.view(*where) is not None:
            return outcome
        versions = tuple(
            structs.replace(version, default_namespace=where[0])
            for version in entry.metadata.versions
        )
        metadata = structs.replace(entry.metadata, versions=versions)
        moved, file = published_view(context, metadata, entry)
        return Outcome(outcome.state.with_view(*where, moved), outcome.reply, (file,))

    wrap(registries, "renameView", around)
