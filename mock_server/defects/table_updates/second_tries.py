"""Defects of retries, of removals that leave nothing, and of old format versions."""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from icecheck.mock_server.commits.commit import decode_commit_transaction
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import table_update
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    alter_request_body,
    wrap,
)
from icecheck.mock_server.defects.kit.updating import FaithfulUpdate, alter_version, change_also
from icecheck.mock_server.defects.table_updates.combinations import alter_changes, updates_of
from icecheck.mock_server.defects.table_updates.diverging_states import fields_of, show
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.model import MAIN_BRANCH, TableMetadata
from icecheck.mock_server.protocol import problem
from icecheck.mock_server.protocol.problem import Problem

_WRITER_STUCK = "A writer that lost a race can never commit what it has written."


# ---- retries


def _taken_for_good(registries: Registries, operation_id: str) -> None:
    """Refuse snapshot ids that were sent before, in a commit refused with a conflict."""
    taken: set[tuple[str, str]] = set()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        body = sent_json(call)
        try:
            changes = body.get("table-changes", [body])
            sent = {
                (str(change.get("identifier", call.name)), str(each["snapshot"]["snapshot-id"]))
                for change in changes
                for each in change["updates"]
                if each["action"] == "add-snapshot"
            }
        except (AttributeError, KeyError, TypeError):  # malformed: refused as usual
            return faithful(state, call)
        try:
            outcome = faithful(state, call)
        except Problem as refused:
            if refused.status == 409:
                taken.update(sent)
            raise
        if sent & taken:
            raise problem.bad_request("Snapshot id is taken")
        return outcome

    wrap(registries, operation_id, around)


declare_each(
    ("commit-refused-snapshots-are-there", "commit.retried",
     "Snapshots are inserted before the requirements of their commit are judged.", _WRITER_STUCK,
     by(_taken_for_good, "updateTable")),
    ("transaction-refused-snapshots-are-there", "commit.retried",
     "Snapshots are inserted before the requirements of their transaction are judged.",
     _WRITER_STUCK, by(_taken_for_good, "commitTransaction")),
)  # fmt: skip


@defect(
    "states-transactions-know-old-tables",
    breaks="states.life-by-transactions",
    suffering="After a commit to one of its tables, a transaction always conflicts.",
)
def _transactions_know_old_tables(registries: Registries) -> None:
    """Transactions judge requirements on tables as the last transaction left them."""
    known: dict[tuple[tuple[str, ...], str], TableMetadata] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        changes = decode_commit_transaction(call.request.body)
        for identifier, change in changes:
            old = known.get((identifier.namespace, identifier.name))
            for requirement in change.requirements if old else ():
                registries.assertions[str(requirement.__struct_config__.tag)](requirement, old)
        outcome = faithful(state, call)
        for identifier, _ in changes:
            where = identifier.namespace, identifier.name
            if entry := outcome.state.table(*where):
                known[where] = entry.metadata
        return outcome

    wrap(registries, "commitTransaction", around)


# ---- objects that belong to others


@defect(
    "states-rollback-drops-statistics",
    on=table_update("set-snapshot-ref"),
    breaks="states.life",
    suffering="What was rolled back and comes again is planned without statistics.",
)
def _rollback_drops_statistics(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """Moving main away from a snapshot deletes the statistics of that snapshot."""
    was = draft.metadata.current_snapshot_id
    faithful(update, draft)
    now = draft.metadata
    if update.ref_name == MAIN_BRANCH and now.current_snapshot_id != was:
        kept = tuple(file for file in now.statistics if file.snapshot_id != was)
        draft.change(statistics=kept)


declare(
    "states-key-removal-cascades",
    "A key that is removed takes those along that it encrypts.",
    by(
        change_also,
        "remove-encryption-key",
        lambda _, after, update: {
            "encryption_keys": tuple(
                key for key in after.encryption_keys if key.encrypted_by_id != update.key_id
            )
        },
    ),
    breaks="states.life",
    suffering="Files cannot be decrypted: their key went with the one that wrapped it.",
)


@defect(
    "states-orders-of-dropped-columns-are-bare",
    on=through(show),
    breaks="states.life",
    suffering="Files are taken to be unsorted as soon as a column of their order is dropped.",
)
def _orders_of_dropped_columns(metadata: Json) -> None:
    """Sort orders are joined with the columns of the current schema."""
    current = metadata["current-schema-id"]
    schemas = [each for each in metadata["schemas"] if each["schema-id"] == current]
    known = {field["id"] for schema in schemas for field in fields_of(schema)}
    for order in metadata["sort-orders"]:
        order["fields"] = [each for each in order["fields"] if each["source-id"] in known]


@defect(
    "states-copies-are-one-table",
    on="updateTable",
    breaks="states.every-look",
    suffering="A table that was registered from a backup changes with the original.",
)
def _copies_are_one_table(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Tables are kept by their uuid: a file that is registered twice is one table."""
    outcome = faithful(state, call)
    entry = outcome.state.table(call.namespace, call.name)
    if entry is None:
        return outcome
    new, uuid = outcome.state, entry.metadata.table_uuid
    for namespace, held in [*new.namespaces.after(())]:
        for name, other in [*held.tables.after("")]:
            if other.metadata.table_uuid == uuid:
                new = new.with_table(namespace, name, entry)
    return structs.replace(outcome, state=new)


# ---- columns


@defect(
    "states-defaults-are-the-columns",
    on=through(show),
    breaks="states.life",
    suffering="Rows that were written under an older schema read another default.",
)
def _defaults_are_the_columns(metadata: Json) -> None:
    """Columns are kept by their ids: the newest write-default shows in all schemas."""
    schemas = sorted(metadata["schemas"], key=lambda schema: int(schema["schema-id"]))
    found = [field for schema in schemas for field in fields_of(schema)]
    written = {f["id"]: f["write-default"] for f in found if "write-default" in f}
    for field in found:
        if field["id"] in written:
            field["write-default"] = written[field["id"]]


def _of_added_schemas(registries: Registries, alter: Callable[[Json], None]) -> None:
    def altered(body: Json) -> Json:
        for update in body.get("updates") or []:
            if isinstance(update, dict) and isinstance(update.get("schema"), dict):
                alter(update["schema"])
        return body

    alter_request_body(registries, "updateTable", altered)


@defect(
    "states-nested-defaults-lost",
    on=through(_of_added_schemas),
    breaks="states.life",
    suffering="Rows of before read null in a nested field that has a default.",
)
def _nested_defaults_lost(schema: Json) -> None:
    """Defaults are kept of top-level columns only."""
    top = [id(field) for field in schema.get("fields") or []]
    for field in fields_of(schema):
        if id(field) not in top:
            field.pop("initial-default", None)
            field.pop("write-default", None)


@defect(
    "states-nested-identifiers-lost",
    on=through(_of_added_schemas),
    breaks="states.life",
    suffering="Upserts find no row, for half of the key is gone.",
)
def _nested_identifiers_lost(schema: Json) -> None:
    """Identifier fields are kept where they are top-level columns."""
    top = {field["id"] for field in schema.get("fields") or []}
    if "identifier-field-ids" in schema:
        kept = [each for each in schema["identifier-field-ids"] if each in top]
        schema["identifier-field-ids"] = kept


@defect(
    "roundtrip-staged-answer-without-docs",
    on=through(alter_answer, "createTable"),
    breaks="roundtrip.createTable.columns",
    suffering="A table that is made by CTAS or replaced in a transaction has no comments.",
)
def _staged_without_docs(call: Call, body: Json) -> Json:
    """The answer to staging leaves out the docs of columns, and the client sends them no more."""
    if sent_json(call).get("stage-create"):
        for schema in body["metadata"]["schemas"]:
            for field in fields_of(schema):
                field.pop("doc", None)
    return body


# ---- refs, removals that leave nothing, and an old version


@defect(
    "states-tags-on-main-only",
    on=table_update("set-snapshot-ref"),
    breaks="states.life",
    suffering="What is on a branch cannot be tagged.",
)
def _tags_on_main_only(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A tag is refused on a snapshot that main has not come from."""
    parents = {s.snapshot_id: s.parent_snapshot_id for s in draft.metadata.snapshots}
    history = []
    at = draft.metadata.current_snapshot_id
    while at is not None:
        history.append(at)
        at = parents.get(at)
    if update.type == "tag" and history and update.snapshot_id not in history:
        raise problem.bad_request("A tag names a snapshot of main")
    faithful(update, draft)


@defect(
    "update-first-branch-is-main",
    on=table_update("set-snapshot-ref"),
    breaks="update.set-snapshot-ref.effect",
    suffering="What was written to be audited first is read by everybody.",
)
def _first_branch_is_main(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """The first branch that a table gets is its main one, too."""
    first = not draft.metadata.refs
    faithful(update, draft)
    if first and update.type == "branch" and update.ref_name != MAIN_BRANCH:
        faithful(structs.replace(update, ref_name=MAIN_BRANCH), draft)


@defect(
    "states-created-of-version-2",
    on=through(alter_changes, "updateTable"),
    breaks="states.created-at-once",
    suffering="A table made by CTAS has another format version than its statement says.",
)
def _created_of_version_2(change: Json) -> list[Json]:
    """A commit that makes a table makes one of version 2, whatever was staged."""
    creates = any(each.get("type") == "assert-create" for each in change["requirements"])
    return [
        {**each, "format-version": 2}
        if creates and each.get("action") == "upgrade-format-version"
        else each
        for each in updates_of(change)
    ]


declare(
    "roundtrip-last-key-stays",
    "An empty list is not written: the last key cannot be removed.",
    by(
        change_also,
        "remove-encryption-key",
        lambda before, after, _: (
            {} if after.encryption_keys else {"encryption_keys": before.encryption_keys}
        ),
    ),
    breaks="roundtrip.updateTable.remove-encryption-key",
    suffering="A key that was to be destroyed is still there.",
)


@defect(
    "states-unsorted-is-not-added",
    on=table_update("add-sort-order"),
    breaks="states.life",
    suffering="A table that shall be unsorted is written sorted for ever.",
)
def _unsorted_is_not_added(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """An order without fields is none: the one added last is that which the table has."""
    if update.sort_order.fields or draft.is_new_table:
        faithful(update, draft)
        return
    draft.last_added_sort_order_id = draft.metadata.default_sort_order_id
    draft.change()


@defect(
    "states-version-1-has-one-schema",
    on=through(alter_version),
    breaks="states.life",
    suffering="Older snapshots of old tables cannot be read.",
)
def _version_1_has_one_schema(_before: TableMetadata | None, after: TableMetadata) -> TableMetadata:
    """A table of format version 1 has its current schema, and no other."""
    if after.format_version > 1:
        return after
    kept = tuple(s for s in after.schemas if s.schema_id == after.current_schema_id)
    return structs.replace(after, schemas=kept)
