"""Defects that show in some states of a table only, or where updates meet in one commit."""

import hashlib
from typing import Any

from msgspec import json, structs

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import defect, through
from icecheck.mock_server.defects.kit.places import answer_of, table_assertion, table_update
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    alter_request_body,
)
from icecheck.mock_server.defects.kit.storing import store_otherwise, with_metadata
from icecheck.mock_server.defects.kit.updating import AssertionCheck, FaithfulUpdate
from icecheck.mock_server.defects.table_updates.combinations import alter_changes, updates_of
from icecheck.mock_server.metadata.binding import highest_partition_field_id
from icecheck.mock_server.metadata.invariants import current_schema
from icecheck.mock_server.metadata.model import MAIN_BRANCH, TableMetadata
from icecheck.mock_server.metadata.schemas import highest_field_id
from icecheck.mock_server.protocol.problem import commit_failed

_REF = "assert-ref-snapshot-id"
_LOST = "Concurrent writers overwrite each other."
_LAST_ADDED = -1


# ---- assertions that are checked against another value than the named one


@defect(
    "states-absent-ref-of-empty-tables-only",
    on=table_assertion(_REF),
    breaks="states.life",
    suffering="No second branch can be made safely: its first commit conflicts.",
)
def _absent_ref_of_empty_tables(
    faithful: AssertionCheck, assertion: Any, metadata: TableMetadata
) -> None:
    """A ref is taken for absent only where the table has no refs at all."""
    if assertion.snapshot_id is None and metadata.refs:
        raise commit_failed("Requirement failed: the table has refs")
    faithful(assertion, metadata)


@defect(
    "states-field-id-of-the-current-schema",
    on=table_assertion("assert-last-assigned-field-id"),
    breaks="states.life",
    suffering="After a schema that nobody reads yet, no column can be added any more.",
)
def _field_id_of_current_schema(
    _faithful: AssertionCheck, assertion: Any, metadata: TableMetadata
) -> None:
    """The last assigned column id is looked up in the current schema."""
    if assertion.last_assigned_field_id != highest_field_id(current_schema(metadata)):
        raise commit_failed("Requirement failed: last assigned field id")


@defect(
    "states-partition-id-of-the-default-spec",
    on=table_assertion("assert-last-assigned-partition-id"),
    breaks="states.life",
    suffering="After a change of partitioning that was taken back, none can be made any more.",
)
def _partition_id_of_default_spec(
    _faithful: AssertionCheck, assertion: Any, metadata: TableMetadata
) -> None:
    """The last assigned partition id is looked up in the default spec."""
    specs = {spec.spec_id: spec for spec in metadata.partition_specs}
    highest = highest_partition_field_id(specs[metadata.default_spec_id])
    if assertion.last_assigned_partition_id != highest:
        raise commit_failed("Requirement failed: last assigned partition id")


@defect("states-one-ref-is-asserted", breaks="states.conflicts", suffering=_LOST)
def _one_ref(registries: Registries) -> None:
    """Of several assertions on refs the last one counts."""

    def with_last(body: Json) -> Json:
        sent = body.get("requirements")
        if not isinstance(sent, list):
            return body
        on_refs = [at for at, each in enumerate(sent) if is_on_ref(each)]
        return {**body, "requirements": [e for at, e in enumerate(sent) if at not in on_refs[:-1]]}

    def is_on_ref(assertion: Any) -> bool:
        return isinstance(assertion, dict) and assertion.get("type") == _REF

    alter_request_body(registries, "updateTable", with_last)


@defect(
    "states-tags-are-where-they-are-said-to-be",
    on=table_assertion(_REF),
    breaks="states.conflicts",
    suffering=_LOST,
)
def _tags_are_there(faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
    """Of a tag it is asked only whether it exists: tags do not move."""
    ref = metadata.refs.get(assertion.ref)
    if ref is None or ref.type != "tag" or assertion.snapshot_id is None:
        faithful(assertion, metadata)


@defect(
    "states-branch-has-its-ancestors",
    on=table_assertion(_REF),
    breaks="states.conflicts",
    suffering=_LOST,
)
def _branch_has_ancestors(
    faithful: AssertionCheck, assertion: Any, metadata: TableMetadata
) -> None:
    """A branch other than main may be asserted at the snapshot before its own."""
    ref = metadata.refs.get(assertion.ref)
    parents = {each.snapshot_id: each.parent_snapshot_id for each in metadata.snapshots}
    if (
        ref is None
        or assertion.ref == MAIN_BRANCH
        or assertion.snapshot_id is None
        or parents.get(ref.snapshot_id) != assertion.snapshot_id
    ):
        faithful(assertion, metadata)


@defect(
    "states-spec-id-up-to-the-last",
    on=table_assertion("assert-default-spec-id"),
    breaks="states.conflicts",
    suffering=_LOST,
)
def _spec_id_up_to_last(faithful: AssertionCheck, assertion: Any, metadata: TableMetadata) -> None:
    """Any spec that came after the default one may be asserted as the default."""
    later = range(metadata.default_spec_id, metadata.partition_specs[-1].spec_id + 1)
    if assertion.default_spec_id not in later:
        faithful(assertion, metadata)


# ---- commits that are right in one state and wrong in another


@defect(
    "states-named-schema-is-the-last-added",
    on=table_update("set-current-schema"),
    breaks="states.life",
    suffering="A column that was added in a transaction of a client is not there.",
)
def _named_is_last_added(faithful: FaithfulUpdate, update: Any, draft: Any) -> None:
    """The last added schema is the one that was worked with last, be it added or made current."""
    faithful(update, draft)
    if update.schema_id != _LAST_ADDED and draft.last_added_schema_id is not None:
        draft.last_added_schema_id = update.schema_id


@defect(
    "states-removals-share-a-snapshot",
    on=through(alter_changes, "updateTable"),
    breaks="states.life",
    suffering="Partition statistics are lost, and others stay for ever.",
)
def _removals_share_a_snapshot(change: Json) -> list[Json]:
    """Both kinds of statistics are removed of the snapshot that the commit names first."""
    kinds = ("remove-statistics", "remove-partition-statistics")
    updates = updates_of(change)
    named = [each["snapshot-id"] for each in updates if each.get("action") in kinds]
    return [
        {**each, "snapshot-id": named[0]} if each.get("action") in kinds else each
        for each in updates
    ]


@defect(
    "states-answers-without-partition-statistics",
    on=answer_of("updateTable"),
    breaks="states.life",
    suffering="Whoever has just committed plans without partition statistics.",
)
def _answers_without_partition_statistics(body: Json) -> Json:
    """The answer to a commit has no partition statistics."""
    return {**body, "metadata": {**body["metadata"], "partition-statistics": []}}


# ---- operations that read a table


@defect(
    "states-etag-without-statistics",
    on="loadTable",
    breaks="states.every-look",
    suffering="Clients that cache tables do not see new statistics.",
)
def _etag_without_statistics(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The ETag is made of all that an answer has but statistics."""
    ignored = {"statistics", "partition-statistics", "metadata-log", "last-updated-ms"}
    headers = {k: v for k, v in call.request.headers.items() if k != "if-none-match"}
    request = structs.replace(call.request, headers=headers)
    outcome = faithful(state, structs.replace(call, request=request))
    body = json.decode(outcome.reply.body)
    bare = {k: v for k, v in body.pop("metadata").items() if k not in ignored}
    del body["metadata-location"]
    said = json.encode([body, bare, sorted(call.query.items())])
    tag = f'"{hashlib.sha256(said).hexdigest()}"'
    if call.request.headers.get("if-none-match") == tag:
        return structs.replace(outcome, reply=Reply(304, (("etag", tag),)))
    kept = [header for header in outcome.reply.headers if header[0] != "etag"]
    reply = structs.replace(outcome.reply, headers=(*kept, ("etag", tag)))
    return structs.replace(outcome, reply=reply)


@defect(
    "states-register-counts-anew",
    on=through(store_otherwise, "registerTable"),
    breaks="states.every-look",
    suffering="Ids of columns that old files have are given to new columns.",
)
def _register_counts_anew(metadata: TableMetadata, _body: Json) -> TableMetadata:
    """The ids that were assigned last are counted from what a registered file still has."""
    return structs.replace(
        metadata,
        last_column_id=max(map(highest_field_id, metadata.schemas)),
        last_partition_id=max(map(highest_partition_field_id, metadata.partition_specs)),
    )


@defect(
    "states-rename-undoes-a-rollback",
    on="renameTable",
    breaks="states.every-look",
    suffering="What was rolled back is read again after the table was renamed.",
)
def _rename_undoes_rollback(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A renamed table is read in anew, and main is where its last snapshot is."""
    outcome = faithful(state, call)
    new = sent_json(call)["destination"]
    where = tuple(new["namespace"]), new["name"]
    entry = outcome.state.table(*where)
    if entry is None or MAIN_BRANCH not in entry.metadata.refs:
        return outcome
    refs, last = entry.metadata.refs, entry.metadata.snapshots[-1].snapshot_id
    main = structs.replace(refs[MAIN_BRANCH], snapshot_id=last)
    anew = structs.replace(
        entry.metadata, current_snapshot_id=last, refs={**refs, MAIN_BRANCH: main}
    )
    kept = outcome.state.with_table(*where, with_metadata(faithful.context, entry, anew))
    return structs.replace(outcome, state=kept)


@defect(
    "states-refs-without-partition-statistics",
    on=through(alter_answer, "loadTable"),
    breaks="states.every-look",
    suffering="Engines that load refs only plan without partition statistics.",
)
def _refs_without_partition_statistics(call: Call, body: Json) -> Json:
    """A load of refs only leaves out partition statistics, whose snapshots it has."""
    if call.query.get("snapshots") != "refs":
        return body
    return {**body, "metadata": {**body["metadata"], "partition-statistics": []}}
