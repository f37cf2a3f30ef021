"""Catalogs that treat commits differently from the mock and break no rule."""

import itertools
import re
from typing import Any

import msgspec

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, wrap
from icecheck.mock_server.defects.kit.updating import (
    FaithfulUpdate,
    alter_update,
    alter_version,
    alter_view_update,
)
from icecheck.mock_server.defects.table_updates.schemas import make_narrower_schemas_current
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.protocol import problem
from tests.lawful.lawful import Install

Body = dict[str, Any]
ANSWERS = ("createTable", "loadTable", "updateTable")
VIEW_ACTIONS = frozenset({"add-view-version", "set-current-view-version"})


def _sparse_ids(registries: Registries) -> None:
    """Give new schemas, specs and sort orders ids with gaps between them."""

    def spread(action: str, members: str, id_member: str, added: str, last: str) -> None:
        def apply(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
            before = getattr(draft.metadata, members)
            faithful(update, draft)
            after = getattr(draft.metadata, members)
            new = getattr(after[-1], id_member)
            if len(after) == len(before) or draft.is_new_table or new == 0:
                return
            moved = msgspec.structs.replace(after[-1], **{id_member: new + 10})
            draft.change(**{members: (*after[:-1], moved)})
            getattr(draft, added).add(new + 10)
            setattr(draft, last, new + 10)

        alter_update(registries, action, apply)

    spread("add-schema", "schemas", "schema_id", "added_schema_ids", "last_added_schema_id")
    spread("add-spec", "partition_specs", "spec_id", "added_spec_ids", "last_added_spec_id")
    spread(
        "add-sort-order",
        "sort_orders",
        "order_id",
        "added_sort_order_ids",
        "last_added_sort_order_id",
    )


def _newest_first(registries: Registries) -> None:
    """Answer lists with the last added entry first."""

    def reversed_lists(body: Body) -> Body:
        metadata = body["metadata"]
        turned = ("schemas", "partition-specs", "sort-orders", "snapshots")
        return body | {"metadata": metadata | {m: metadata[m][::-1] for m in turned}}

    for operation_id in ("loadTable", "updateTable"):
        alter_body(registries, operation_id, reversed_lists)


def _explicit_nulls(registries: Registries) -> None:
    """Answer null for members without a value, instead of leaving them out."""

    def with_nulls(body: Body) -> Body:
        snapshots = [{"parent-snapshot-id": None} | s for s in body["metadata"]["snapshots"]]
        refs = {
            name: {"max-ref-age-ms": None, "min-snapshots-to-keep": None} | ref
            for name, ref in body["metadata"]["refs"].items()
        }
        nulls = {"current-snapshot-id": None} if body["metadata"]["refs"] == {} else {}
        metadata = body["metadata"] | {"snapshots": snapshots, "refs": refs} | nulls
        return body | {"metadata": metadata}

    for operation_id in ANSWERS:
        alter_body(registries, operation_id, with_nulls)


def _marks_versions(registries: Registries) -> None:
    """Add a property of the server to every version."""
    turns = itertools.count(1)

    def marked(_: TableMetadata | None, after: TableMetadata) -> TableMetadata:
        properties = {**after.properties, "server.version": str(next(turns))}
        return msgspec.structs.replace(after, properties=properties)

    alter_version(registries, marked)


def _empty_commit_is_a_version(registries: Registries) -> None:
    """Make a new version with the same content for a commit without updates."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        entry = state.table(call.namespace, call.name)
        if entry is None or outcome.state is not state:
            return outcome
        later = msgspec.structs.replace(
            entry.metadata, last_updated_ms=faithful.context.clock.now_ms()
        )
        changed, effects = publication.published(faithful.context, later, entry)
        return Outcome(
            state.with_table(call.namespace, call.name, changed),
            publication.commit_reply(changed),
            effects,
        )

    wrap(registries, "updateTable", around)


def _refs_guard_snapshots(registries: Registries) -> None:
    """Refuse to remove a snapshot that a branch or tag names."""

    def guarded(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        named = {ref.snapshot_id for ref in draft.metadata.refs.values()}
        if named & set(update.snapshot_ids):
            raise problem.bad_request("A ref names this snapshot")
        faithful(update, draft)

    alter_update(registries, "remove-snapshots", guarded)


def _taken_ids_refused(registries: Registries) -> None:
    """Refuse another schema, spec or sort order under an id that the table has given."""

    def guard(action: str, sent: str, members: str, id_member: str) -> None:
        def guarded(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
            before = getattr(draft.metadata, members)
            faithful(update, draft)
            taken = {getattr(each, id_member) for each in before}
            is_new = len(getattr(draft.metadata, members)) > len(before)
            if is_new and getattr(getattr(update, sent), id_member) in taken:
                raise problem.bad_request("The id is taken")

        alter_update(registries, action, guarded)

    guard("add-schema", "schema", "schemas", "schema_id")
    guard("add-spec", "spec", "partition_specs", "spec_id")
    guard("add-sort-order", "sort_order", "sort_orders", "order_id")


def _fixed_location(registries: Registries) -> None:
    """Refuse to move a table, or to put its files elsewhere."""

    def fixed(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        if not draft.is_new_table:
            raise problem.bad_request("The location of a table cannot be changed")
        faithful(update, draft)

    def inside(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        if not {"write.data.path", "write.metadata.path"}.isdisjoint(update.updates):
            raise problem.bad_request("The files of a table are below its location")
        faithful(update, draft)

    alter_update(registries, "set-location", fixed)
    alter_update(registries, "set-properties", inside)


def _absent_properties_stay_absent(registries: Registries) -> None:
    """Refuse to remove a property that is not there, of tables and views."""

    def guarded(faithful: Any, update: Any, draft: Any) -> None:
        if not set(update.removals) <= draft.metadata.properties.keys():
            raise problem.bad_request("A property to remove is not there")
        faithful(update, draft)

    alter_update(registries, "remove-properties", guarded)
    alter_view_update(registries, "remove-properties", guarded)


def _views_are_unsupported(registries: Registries) -> None:
    """Refuse updates of views as unsupported, not as bad requests."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        updates = sent_json(call).get("updates")
        sent = updates if isinstance(updates, list) else []
        if any(isinstance(u, dict) and str(u.get("action")) in VIEW_ACTIONS for u in sent):
            raise problem.unsupported("Views are not supported")
        return faithful(state, call)

    wrap(registries, "updateTable", around)


def _one_change_a_table(registries: Registries) -> None:
    """Refuse a transaction that names a table twice."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        changes = sent_json(call).get("table-changes")
        sent = changes if isinstance(changes, list) else []
        named = [str(c.get("identifier")) for c in sent if isinstance(c, dict)]
        if len(set(named)) < len(named):
            raise problem.Problem(422, "UnprocessableEntityException", "A table is named twice")
        return faithful(state, call)

    wrap(registries, "commitTransaction", around)


def _values_are_unprocessable(registries: Registries) -> None:
    """Refuse values outside an enumeration with 422."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except problem.Problem as refused:
            is_of_a_value = re.search(b'"mark"|sideways|nulls-anywhere', call.request.body)
            if refused.status != 400 or not is_of_a_value:
                raise
            raise problem.Problem(422, refused.type, refused.message) from None

    wrap(registries, "updateTable", around)


def _staged_tables_conflict(registries: Registries) -> None:
    """Hold a commit against the table staged under its name, if there is no other: 409, not 404."""
    staged: set[tuple[tuple[str, ...], str]] = set()

    def create(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if sent_json(call).get("stage-create") is True:
            staged.add((call.namespace, sent_name(call)))
        return outcome

    def update(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        asserts = b'"assert-table-uuid"' in call.request.body
        missing = state.table(call.namespace, call.name) is None
        if asserts and missing and (call.namespace, call.name) in staged:
            raise problem.Problem(409, "CommitFailedException", "The staged table has another uuid")
        return faithful(state, call)

    wrap(registries, "createTable", create)
    wrap(registries, "updateTable", update)


def _no_transactions(registries: Registries) -> None:
    """Serve no transactions."""
    del registries.operations["commitTransaction"]


LAWFUL_COMMITS: dict[str, Install] = {
    "sparse-ids": _sparse_ids,
    "newest-first": _newest_first,
    "explicit-nulls": _explicit_nulls,
    "marks-versions": _marks_versions,
    "empty-commit-is-a-version": _empty_commit_is_a_version,
    "refs-guard-snapshots": _refs_guard_snapshots,
    "taken-ids-refused": _taken_ids_refused,
    "fixed-location": _fixed_location,
    "absent-properties-stay-absent": _absent_properties_stay_absent,
    "views-are-unsupported": _views_are_unsupported,
    "one-change-a-table": _one_change_a_table,
    "values-are-unprocessable": _values_are_unprocessable,
    "staged-tables-conflict": _staged_tables_conflict,
    "no-transactions": _no_transactions,
    "drops-any-column": make_narrower_schemas_current,
}
"""Name -> the installation of such a catalog on a mock; no check may fail on any of them."""
