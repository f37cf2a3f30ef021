"""What servers get right while two things are the same, and wrong once they differ."""

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from icecheck.mock_server.builder import Draft
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.meeting_updates import alter_changes, updates_of
from icecheck.mock_server.defects.rewriting import alter_body, alter_request_body, sent_json, wrap
from icecheck.mock_server.defects.storing import with_metadata
from icecheck.mock_server.defects.versions import Faithful, alter_update, alter_version
from icecheck.mock_server.model import TableMetadata
from icecheck.mock_server.state import WarehouseState

__all__ = ["fields_of", "show"]

Json = dict[str, Any]

_SHOWING = ("createTable", "loadTable", "updateTable", "registerTable")
_LAST_ADDED = -1


def show(registries: Registries, alter: Any) -> None:
    """Show other metadata than are kept; `alter` changes them in place."""

    def altered(body: Json) -> Json:
        alter(body["metadata"])
        return body

    for operation_id in _SHOWING:
        alter_body(registries, operation_id, altered)


def fields_of(type_: Any) -> Iterator[Json]:
    """Every field of the structs in a JSON type."""
    if isinstance(type_, dict):
        for field in type_.get("fields", ()):
            yield field
            yield from fields_of(field["type"])
        for member in ("element", "key", "value"):
            yield from fields_of(type_.get(member))


# ---- what definitions share


@defect(
    "states-columns-have-one-name",
    breaks="states.life",
    suffering="Older snapshots are read by names that their columns did not have.",
)
def _one_name(registries: Registries) -> None:
    """Columns are kept by their ids: a name in the newest schema shows in all of them."""

    def newest(metadata: Json) -> None:
        schemas = sorted(metadata["schemas"], key=lambda schema: int(schema["schema-id"]))
        names = {field["id"]: field["name"] for each in schemas for field in fields_of(each)}
        for field in (found for each in schemas for found in fields_of(each)):
            field["name"] = names[field["id"]]

    show(registries, newest)


@defect(
    "roundtrip-identifiers-inherited",
    breaks="roundtrip.updateTable.add-schema",
    suffering="Writers look for keys in tables whose owners have given them up.",
)
def _identifiers_inherited(registries: Registries) -> None:
    """A schema without identifier fields gets those of the current one."""

    def with_current(faithful: Faithful, update: Any, draft: Draft) -> None:
        current = draft.metadata.current_schema_id
        known = [s.identifier_field_ids for s in draft.metadata.schemas if s.schema_id == current]
        required = {field.id for field in update.schema.fields if field.required}
        if known and not update.schema.identifier_field_ids and required.issuperset(known[0]):
            schema = structs.replace(update.schema, identifier_field_ids=known[0])
            update = structs.replace(update, schema=schema)
        faithful(update, draft)

    alter_update(registries, "add-schema", with_current)


@defect(
    "roundtrip-spec-fields-by-id",
    breaks="roundtrip.updateTable.add-spec",
    suffering="Partition values are taken for those of other fields.",
)
def _spec_fields_by_id(registries: Registries) -> None:
    """The fields of a spec come back in the order of their ids."""

    def ordered(metadata: Json) -> None:
        for spec in metadata["partition-specs"]:
            spec["fields"].sort(key=lambda field: int(field["field-id"]))

    show(registries, ordered)


@defect(
    "roundtrip-default-spec-by-position",
    breaks="roundtrip.updateTable.remove-partition-specs",
    suffering="After old specs are removed, a table cannot be partitioned anew.",
)
def _spec_by_position(registries: Registries) -> None:
    """A spec is looked up by its place in the list."""

    def at_place(faithful: Faithful, update: Any, draft: Draft) -> None:
        ids = dict(enumerate(spec.spec_id for spec in draft.metadata.partition_specs))
        if update.spec_id != _LAST_ADDED:
            update = structs.replace(update, spec_id=ids.get(update.spec_id, 2**31 - 1))
        faithful(update, draft)

    alter_update(registries, "set-default-spec", at_place)


@defect(
    "states-new-schema-unsorts",
    breaks="states.life",
    suffering="After a column is added, files are written unsorted.",
)
def _new_schema_unsorts(registries: Registries) -> None:
    """A table that was unsorted once is so again with every new schema."""

    def unsorted(faithful: Faithful, update: Any, draft: Draft) -> None:
        before = draft.metadata.current_schema_id
        faithful(update, draft)
        known = {order.order_id for order in draft.metadata.sort_orders}
        if not draft.is_new_table and 0 in known and before != draft.metadata.current_schema_id:
            draft.change(default_sort_order_id=0)

    alter_update(registries, "set-current-schema", unsorted)


# ---- what snapshots are told of


@defect(
    "states-parent-is-mains-snapshot",
    breaks="states.life",
    suffering="The history of a branch lacks what was committed to it.",
)
def _parent_is_main(registries: Registries) -> None:
    """The parent of a snapshot is the one that main has, whatever was sent."""

    def after_main(faithful: Faithful, update: Any, draft: Draft) -> None:
        current = draft.metadata.current_snapshot_id
        if update.snapshot.parent_snapshot_id is not None and current is not None:
            snapshot = structs.replace(update.snapshot, parent_snapshot_id=current)
            update = structs.replace(update, snapshot=snapshot)
        faithful(update, draft)

    alter_update(registries, "add-snapshot", after_main)


@defect(
    "roundtrip-blobs-are-of-their-file",
    breaks="roundtrip.updateTable.set-statistics",
    suffering="Statistics of older rows are taken for those of the newest.",
)
def _blobs_of_their_file(registries: Registries) -> None:
    """A blob is said to be of the snapshot that its file is of."""

    def of_file(metadata: Json) -> None:
        for file in metadata["statistics"]:
            for blob in file["blob-metadata"]:
                blob["snapshot-id"] = file["snapshot-id"]

    show(registries, of_file)


@defect(
    "commit-moves-the-metadata-log",
    breaks="commit.logs-kept",
    suffering="After a table was moved, nobody finds its former metadata files.",
)
def _moves_the_log(registries: Registries) -> None:
    """Former metadata files are kept by their place below the table's location."""

    def moved(before: TableMetadata | None, after: TableMetadata) -> TableMetadata:
        if before is None or before.location == after.location:
            return after
        log = [
            structs.replace(
                each, metadata_file=each.metadata_file.replace(before.location, after.location)
            )
            for each in after.metadata_log
        ]
        return structs.replace(after, metadata_log=tuple(log))

    alter_version(registries, moved)


# ---- a name's second table, a commit's other branch, a transaction's other table


@defect(
    "second-life-has-its-keys",
    breaks="second-life.table",
    suffering="A new table is encrypted with the keys of one that was dropped.",
)
def _keys_by_name(registries: Registries) -> None:
    """Encryption keys are kept by the table's name, and nobody drops them."""
    left: dict[tuple[tuple[str, ...], str], Any] = {}

    def dropped(
        faithful: Operation, context: Context, state: WarehouseState, call: Call
    ) -> Outcome:
        entry = state.table(call.namespace, call.name)
        outcome = faithful(context, state, call)
        if entry is not None:
            left[call.namespace, call.name] = entry.metadata.encryption_keys
        return outcome

    def created(
        faithful: Operation, context: Context, state: WarehouseState, call: Call
    ) -> Outcome:
        outcome = faithful(context, state, call)
        where = call.namespace, sent_json(call)["name"]
        entry = outcome.state.table(*where)
        if entry is None or not left.get(where):
            return outcome
        metadata = structs.replace(entry.metadata, encryption_keys=left[where])
        kept = outcome.state.with_table(*where, with_metadata(context, entry, metadata))
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
    breaks="states.two-lives",
    suffering="Of a job that writes many tables, some are left as they were.",
)
def _three_at_most(registries: Registries) -> None:
    """A transaction carries out its first three changes, and is answered as a success."""

    def cut(body: Json) -> Json:
        changes = body.get("table-changes")
        return {**body, "table-changes": changes[:3]} if isinstance(changes, list) else body

    alter_request_body(registries, "commitTransaction", cut)


@defect(
    "states-transaction-carries-properties-over",
    breaks="states.two-lives",
    suffering="A table is written with the settings of another one.",
)
def _carries_properties_over(registries: Registries) -> None:
    """Properties that a transaction sets on one table are set on those after it, too."""

    def carried(body: Json) -> Json:
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
        except (AttributeError, KeyError, TypeError, ValueError):  # malformed: refused as ever
            return body
        return {**body, "table-changes": changes}

    alter_request_body(registries, "commitTransaction", carried)


@defect(
    "update-ref-keeps-its-first-type",
    breaks="roundtrip.updateTable.set-snapshot-ref",
    suffering="A branch that was made a tag is still written to, and a release moves.",
)
def _ref_keeps_its_first_type(registries: Registries) -> None:
    """A ref that is set again moves, and stays the branch or tag that it was."""

    def kept(faithful: Faithful, update: Any, draft: Draft) -> None:
        before = draft.metadata.refs.get(update.ref_name)
        if before is None or before.type == update.type:
            faithful(update, draft)
            return
        bare = structs.replace(update, min_snapshots_to_keep=None, max_snapshot_age_ms=None)
        faithful(structs.replace(bare, type=before.type), draft)

    alter_update(registries, "set-snapshot-ref", kept)
