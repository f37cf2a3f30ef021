"""Defects that show once two things differ that are usually the same."""

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import defect, through
from icecheck.mock_server.defects.kit.places import request_of, table_update
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, wrap
from icecheck.mock_server.defects.kit.storing import with_metadata
from icecheck.mock_server.defects.kit.updating import FaithfulUpdate, alter_version
from icecheck.mock_server.defects.table_updates.combinations import alter_changes, updates_of
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.model import TableMetadata

_SHOWING = ("createTable", "loadTable", "updateTable", "registerTable")
_LAST_ADDED = -1


def show(registries: Registries, alter: Any) -> None:
    """Answer other metadata than are kept; `alter` changes them in place."""

    def altered(body: Json) -> Json:
        alter(body["metadata"])
        return body

    for operation_id in _SHOWING:
        alter_body(registries, operation_id, altered)


def fields_of(type_: Any) -> Iterator[Json]:
    """Yield every field of the structs in a JSON type."""
    if isinstance(type_, dict):
        for field in type_.get("fields", ()):
            yield field
            yield from fields_of(field["type"])
        for member in ("element", "key", "value"):
            yield from fields_of(type_.get(member))


# ---- shared definitions


@defect(
    "states-columns-have-one-name",
    on=through(show),
    breaks="states.life",
    suffering="Older snapshots are read by names that their columns did not have.",
)
def _one_name(metadata: Json) -> None:
    """Columns are kept by their ids: a name in the newest schema shows in all of them."""
    schemas = sorted(metadata["schemas"], key=lambda schema: int(schema["schema-id"]))
    names = {field["id"]: field["name"] for each in schemas for field in fields_of(each)}
    for field in (found for each in schemas for found in fields_of(each)):
        field["name"] = names[field["id"]]


@defect(
    "roundtrip-identifiers-inherited",
    on=table_update("add-schema"),
    breaks="roundtrip.updateTable.add-schema",
    suffering="Writers look for keys in tables whose owners have given them up.",
)
def _identifiers_inherited(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A schema without identifier fields gets those of the current one."""
    current = draft.metadata.current_schema_id
    known = [s.identifier_field_ids for s in draft.metadata.schemas if s.schema_id == current]
    required = {field.id for field in update.schema.fields if field.required}
    if known and not update.schema.identifier_field_ids and required.issuperset(known[0]):
        schema = structs.replace(update.schema, identifier_field_ids=known[0])
        update = structs.replace(update, schema=schema)
    faithful(update, draft)


@defect(
    "roundtrip-spec-fields-by-id",
    on=through(show),
    breaks="roundtrip.updateTable.add-spec",
    suffering="Partition values are taken for those of other fields.",
)
def _spec_fields_by_id(metadata: Json) -> None:
    """The fields of a spec come back in the order of their ids."""
    for spec in metadata["partition-specs"]:
        spec["fields"].sort(key=lambda field: int(field["field-id"]))


@defect(
    "roundtrip-default-spec-by-position",
    on=table_update("set-default-spec"),
    breaks="roundtrip.updateTable.remove-partition-specs",
    suffering="After old specs are removed, a table cannot be partitioned anew.",
)
def _spec_by_position(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A spec is looked up by its place in the list."""
    ids = dict(enumerate(spec.spec_id for spec in draft.metadata.partition_specs))
    if update.spec_id != _LAST_ADDED:
        update = structs.replace(update, spec_id=ids.get(update.spec_id, 2**31 - 1))
    faithful(update, draft)


@defect(
    "states-new-schema-unsorts",
    on=table_update("set-current-schema"),
    breaks="states.life",
    suffering="After a column is added, files are written unsorted.",
)
def _new_schema_unsorts(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A table that was unsorted once is so again with every new schema."""
    before = draft.metadata.current_schema_id
    faithful(update, draft)
    known = {order.order_id for order in draft.metadata.sort_orders}
    if not draft.is_new_table and 0 in known and before != draft.metadata.current_schema_id:
        draft.change(default_sort_order_id=0)


# ---- facts about snapshots


@defect(
    "states-parent-is-mains-snapshot",
    on=table_update("add-snapshot"),
    breaks="states.life",
    suffering="The history of a branch lacks what was committed to it.",
)
def _parent_is_main(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """The parent of a snapshot is the one that main has, whatever was sent."""
    current = draft.metadata.current_snapshot_id
    if update.snapshot.parent_snapshot_id is not None and current is not None:
        snapshot = structs.replace(update.snapshot, parent_snapshot_id=current)
        update = structs.replace(update, snapshot=snapshot)
    faithful(update, draft)


@defect(
    "roundtrip-blobs-are-of-their-file",
    on=through(show),
    breaks="roundtrip.updateTable.set-statistics",
    suffering="Statistics of older rows are taken for those of the newest.",
)
def _blobs_of_their_file(metadata: Json) -> None:
    """A blob is said to be of the snapshot that its file is of."""
    for file in metadata["statistics"]:
        for blob in file["blob-metadata"]:
            blob["snapshot-id"] = file["snapshot-id"]


@defect(
    "commit-moves-the-metadata-log",
    on=through(alter_version),
    breaks="commit.logs-kept",
    suffering="After a table was moved, nobody finds its former metadata files.",
)
def _moves_the_log(before: TableMetadata | None, after: TableMetadata) -> TableMetadata:
    """Former metadata files are kept by their place below the table's location."""
    if before is None or before.location == after.location:
        return after
    log = [
        structs.replace(
            each, metadata_file=each.metadata_file.replace(before.location, after.location)
        )
        for each in after.metadata_log
    ]
    return structs.replace(after, metadata_log=tuple(log))


# ---- a second table of a name, another branch of a commit, another table of a transaction


@defect(
    "second-life-has-its-keys",
    breaks="second-life.table",
    suffering="A new table is encrypted with the keys of one that was dropped.",
)
def _keys_by_name(registries: Registries) -> None:
    """Encryption keys are kept by the table's name, and nobody drops them."""
    left: dict[tuple[tuple[str, ...], str], Any] = {}

    def dropped(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        outcome = faithful(state, call)
        if entry is not None:
            left[call.namespace, call.name] = entry.metadata.encryption_keys
        return outcome

    def created(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        where = call.namespace, sent_json(call)["name"]
        entry = outcome.state.table(*where)
        if entry is None or not left.get(where):
            return outcome
        metadata = structs.replace(entry.metadata, encryption_keys=left[where])
        kept = outcome.state.with_table(*where, with_metadata(faithful.context, entry, metadata))
        return structs.replace(outcome, state=kept)

    wrap(registries, "dropTable", dropped)
    wrap(registries, "createTable", created)


@defect(
    "commit-creates-with-what-it-knows",
    breaks="commit.unknown-update",
    suffering="A table is made without what a newer client had asked for.",
)
def _creates_with_what_it_knows(registries: Registries) -> None:
    """A commit that makes a table skips updates that it does not know."""
    known = set(registries.updates)

    def of_creation(change: Json) -> list[Json]:
        creates = any(each.get("type") == "assert-create" for each in change["requirements"])
        return [u for u in updates_of(change) if not creates or u.get("action") in known]

    alter_changes(registries, "updateTable", of_creation)


@defect(
    "states-transaction-of-three-at-most",
    on=request_of("commitTransaction"),
    breaks="states.two-lives",
    suffering="Of a job that writes many tables, some are left as they were.",
)
def _three_at_most(body: Json) -> Json:
    """A transaction carries out its first three changes, and is answered as a success."""
    changes = body.get("table-changes")
    return {**body, "table-changes": changes[:3]} if isinstance(changes, list) else body


@defect(
    "states-transaction-carries-properties-over",
    on=request_of("commitTransaction"),
    breaks="states.two-lives",
    suffering="A table is written with the settings of another one.",
)
def _carries_properties_over(body: Json) -> Json:
    """Properties that a transaction sets on one table are set on those after it, too."""
    known: Json = {}

    def with_known(update: Json) -> Json:
        if update["action"] != "set-properties":
            return update
        known.update(update["updates"])
        return {**update, "updates": dict(known)}

    try:
        changes = [
            {**change, "updates": [with_known(each) for each in change["updates"]]}
            for change in body["table-changes"]
        ]
    except (AttributeError, KeyError, TypeError, ValueError):  # malformed: refused as usual
        return body
    return {**body, "table-changes": changes}


@defect(
    "update-ref-keeps-its-first-type",
    on=table_update("set-snapshot-ref"),
    breaks="roundtrip.updateTable.set-snapshot-ref",
    suffering="A branch that was made a tag is still written to, and a release moves.",
)
def _ref_keeps_its_first_type(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A ref that is set again moves, and stays the branch or tag that it was."""
    before = draft.metadata.refs.get(update.ref_name)
    if before is None or before.type == update.type:
        faithful(update, draft)
        return
    bare = structs.replace(update, min_snapshots_to_keep=None, max_snapshot_age_ms=None)
    faithful(structs.replace(bare, type=before.type), draft)
