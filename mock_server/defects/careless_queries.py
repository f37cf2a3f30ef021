"""What careless statements and caches do to others, to the rest of a list, or long afterwards."""

import json
import re
from functools import partial
from typing import Any

from msgspec import structs

from icecheck.mock_server.builder import Draft
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries, Reply
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_request_body, with_answer, wrap
from icecheck.mock_server.defects.versions import Faithful, alter_update
from icecheck.mock_server.model import MAIN_BRANCH, TableMetadata
from icecheck.mock_server.names import split_namespace
from icecheck.mock_server.state import WarehouseState


@defect(
    "list-children-by-sql-pattern",
    breaks="listNamespaces.children-only",
    suffering="SHOW NAMESPACES IN sales_eu shows the namespaces of salesXeu.",
)
def _children_by_pattern(registries: Registries) -> None:
    """An underscore in the parent stands for any character, as in SQL's LIKE."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        if not call.query.get("parent") or call.query.get("pageToken") is not None:
            return outcome
        levels = split_namespace(call.query["parent"])
        patterns = [re.compile(re.escape(level).replace("_", ".")) for level in levels]
        found = [
            namespace
            for namespace, _ in state.namespaces.after()
            if len(namespace) == len(levels) + 1
            and all(p.fullmatch(n) for p, n in zip(patterns, namespace, strict=False))
        ]
        return with_answer(outcome, {"namespaces": found, "next-page-token": None})

    wrap(registries, "listNamespaces", around)


@defect(
    "table-cache-survives-drop",
    breaks="dropTable.gone",
    suffering="A table that was dropped and made anew loads with its old schema and data.",
)
def _cache_survives_drop(registries: Registries) -> None:
    """Tables are loaded from a cache by name, which commits empty and drops do not."""
    cache: dict[Any, Reply] = {}

    def loaded(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        request = call.request
        key = (
            context.warehouse,
            call.namespace,
            call.name,
            request.query_string,
            request.headers.get("x-iceberg-access-delegation"),
        )
        if outcome.reply.status != 200:
            return outcome
        return structs.replace(outcome, reply=cache.setdefault(key, outcome.reply))

    def emptied(
        faithful: Operation, context: Context, state: WarehouseState, call: Call
    ) -> Outcome:
        cache.clear()
        return faithful(context, state, call)

    wrap(registries, "loadTable", loaded)
    for operation_id in ("updateTable", "commitTransaction", "registerTable", "renameTable"):
        wrap(registries, operation_id, emptied)


@defect(
    "update-removes-first-snapshot-only",
    breaks="update.remove-snapshots.effect",
    suffering="expire_snapshots deletes the files of snapshots that the table still lists.",
)
def _first_snapshot_only(registries: Registries) -> None:
    """remove-snapshots removes the first snapshot of its list."""

    def first_only(faithful: Faithful, update: Any, draft: Draft) -> None:
        faithful(structs.replace(update, snapshot_ids=update.snapshot_ids[:1]), draft)

    alter_update(registries, "remove-snapshots", first_only)


@defect(
    "update-removes-first-schema-only",
    breaks="update.remove-schemas.effect",
    suffering="Schemas that nothing uses pile up in the metadata.",
)
def _first_schema_only(registries: Registries) -> None:
    """remove-schemas removes the first schema of its list."""

    def first_only(faithful: Faithful, update: Any, draft: Draft) -> None:
        faithful(structs.replace(update, schema_ids=update.schema_ids[:1]), draft)

    alter_update(registries, "remove-schemas", first_only)


@defect(
    "update-removes-first-spec-only",
    breaks="update.remove-partition-specs.effect",
    suffering="Partition specs that nothing uses pile up in the metadata.",
)
def _first_spec_only(registries: Registries) -> None:
    """remove-partition-specs removes the first spec of its list."""

    def first_only(faithful: Faithful, update: Any, draft: Draft) -> None:
        faithful(structs.replace(update, spec_ids=update.spec_ids[:1]), draft)

    alter_update(registries, "remove-partition-specs", first_only)


@defect(
    "update-one-branch-beside-main",
    breaks="update.set-snapshot-ref.effect",
    suffering="A second branch takes the place of the first, whose data is lost.",
)
def _one_branch_beside_main(registries: Registries) -> None:
    """A table has main and one more branch."""

    def only_one(faithful: Faithful, update: Any, draft: Draft) -> None:
        faithful(update, draft)
        branches = {name for name, ref in draft.metadata.refs.items() if ref.type == "branch"}
        if update.ref_name in branches and update.ref_name != MAIN_BRANCH:
            for other in branches - {MAIN_BRANCH, update.ref_name}:
                draft.remove_ref(other)

    alter_update(registries, "set-snapshot-ref", only_one)


def _first_removal_only(faithful: Faithful, update: Any, draft: Any) -> None:
    faithful(structs.replace(update, removals=update.removals[:1]), draft)


@defect(
    "update-removes-first-property-only",
    breaks="update.remove-properties.effect",
    suffering="ALTER TABLE UNSET TBLPROPERTIES leaves all but one of what it names.",
)
def _first_property_only(registries: Registries) -> None:
    """remove-properties removes the first property of its list."""
    alter_update(registries, "remove-properties", _first_removal_only)


@defect(
    "view-update-removes-first-property-only",
    breaks="view-update.remove-properties.effect",
    suffering="ALTER VIEW UNSET TBLPROPERTIES leaves all but one of what it names.",
)
def _first_view_property_only(registries: Registries) -> None:
    """remove-properties removes the first property of its list from a view."""
    faithful = registries.view_updates["remove-properties"]
    registries.view_updates["remove-properties"] = partial(_first_removal_only, faithful)


@defect(
    "properties-first-removal-only",
    breaks="updateProperties.remove",
    suffering="ALTER NAMESPACE UNSET PROPERTIES leaves all but one of what it names.",
)
def _first_namespace_property_only(registries: Registries) -> None:
    """Of the removals the first one is carried out."""

    def first_only(body: Any) -> Any:
        removals = body.get("removals") if isinstance(body, dict) else None
        return body | {"removals": removals[:1]} if isinstance(removals, list) else body

    alter_request_body(registries, "updateProperties", first_only)


@defect(
    "view-last-assertion-decides",
    breaks="view-assertion.assert-view-uuid.violated",
    suffering="A view that took another's place is changed in its stead.",
)
def _last_assertion_decides(registries: Registries) -> None:
    """Of the requirements on a view the last one decides."""

    def last_only(body: Any) -> Any:
        sent = body.get("requirements")
        return body | {"requirements": sent[-1:]} if isinstance(sent, list) else body

    alter_request_body(registries, "replaceView", last_only)


@defect(
    "update-last-ref-takes-its-snapshot",
    breaks="update.remove-snapshot-ref.effect",
    suffering="Time travel to a snapshot fails once the tag on it is dropped.",
)
def _ref_takes_its_snapshot(registries: Registries) -> None:
    """With the last ref that names a snapshot, the snapshot is deleted."""

    def cascading(faithful: Faithful, update: Any, draft: Draft) -> None:
        gone = draft.metadata.refs.get(update.ref_name)
        faithful(update, draft)
        in_use = {ref.snapshot_id for ref in draft.metadata.refs.values()}
        in_use |= {entry.snapshot_id for entry in draft.metadata.snapshot_log}
        if gone is not None and gone.snapshot_id not in in_use:
            draft.remove_snapshots([gone.snapshot_id])

    alter_update(registries, "remove-snapshot-ref", cascading)


@defect(
    "assertion-null-snapshot-for-main-only",
    breaks="assertion.assert-ref-snapshot-id.null-violated",
    suffering="Two writers make the same tag, and the second silently moves it.",
)
def _null_for_main_only(registries: Registries) -> None:
    """That a ref must not exist yet is asserted for main only."""
    faithful = registries.assertions["assert-ref-snapshot-id"]

    def check(assertion: Any, metadata: TableMetadata | None) -> None:
        if assertion.snapshot_id is not None or assertion.ref == MAIN_BRANCH:
            faithful(assertion, metadata)

    registries.assertions["assert-ref-snapshot-id"] = check


@defect(
    "update-last-column-id-believed",
    breaks="update.add-schema.last-column-id-never-falls",
    suffering="Two columns get the same id, and one shows the data of the other.",
)
def _last_column_id_believed(registries: Registries) -> None:
    """The last-column-id of a client is stored as it comes, however low."""

    def believing(faithful: Faithful, update: Any, draft: Draft) -> None:
        faithful(update, draft)
        if update.last_column_id is not None:
            draft.change(last_column_id=update.last_column_id)

    alter_update(registries, "add-schema", believing)


@defect(
    "commit-rollback-not-logged",
    breaks="commit.snapshot-log",
    suffering="Time travel by timestamp finds a state that was rolled back.",
)
def _rollback_not_logged(registries: Registries) -> None:
    """Moving main back to a snapshot it had leaves no entry in the snapshot log."""

    def unlogged(faithful: Faithful, update: Any, draft: Draft) -> None:
        before = draft.metadata.snapshot_log
        known = {entry.snapshot_id for entry in before}
        faithful(update, draft)
        if update.ref_name == MAIN_BRANCH and update.snapshot_id in known:
            draft.change(snapshot_log=before)

    alter_update(registries, "set-snapshot-ref", unlogged)


@defect(
    "list-namespaces-cache-survives-drop",
    breaks="dropNamespace.gone",
    suffering="SHOW NAMESPACES shows what was dropped until somebody makes another one.",
)
def _namespaces_cached_over_drops(registries: Registries) -> None:
    """Namespaces are listed from a cache, which creations empty and drops do not."""
    cache: dict[Any, Reply] = {}

    def listed(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        key = (context.warehouse, call.request.query_string)
        return structs.replace(outcome, reply=cache.setdefault(key, outcome.reply))

    def emptied(
        faithful: Operation, context: Context, state: WarehouseState, call: Call
    ) -> Outcome:
        cache.clear()
        return faithful(context, state, call)

    wrap(registries, "listNamespaces", listed)
    wrap(registries, "createNamespace", emptied)


@defect(
    "properties-missing-removal-undoes",
    breaks="updateProperties.set",
    suffering="ALTER NAMESPACE reports success and has changed nothing.",
)
def _missing_removal_undoes(registries: Registries) -> None:
    """A removal that touches no row rolls everything back, and the answer tells of success."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        missing = json.loads(outcome.reply.body)["missing"]
        return structs.replace(outcome, state=state) if missing else outcome

    wrap(registries, "updateProperties", around)


@defect(
    "credentials-of-the-first-table",
    breaks="loadCredentials.covers-the-table",
    suffering="Reading a second table fails: its files are outside the credential.",
)
def _credentials_of_the_first_table(registries: Registries) -> None:
    """Credentials are cached per warehouse, and are those of the table asked for first."""
    cache: dict[str, Reply] = {}

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        return structs.replace(outcome, reply=cache.setdefault(context.warehouse, outcome.reply))

    wrap(registries, "loadCredentials", around)
