"""Defects of careless queries and caches: they hit other objects, or a part of a list only."""

import json
import re
from functools import partial
from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, defect
from icecheck.mock_server.defects.kit.places import request_of, table_update
from icecheck.mock_server.defects.kit.rewriting import Faithful, with_answer, wrap
from icecheck.mock_server.defects.kit.updating import FaithfulUpdate, alter_update
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.model import MAIN_BRANCH, TableMetadata
from icecheck.mock_server.protocol.names import split_namespace


@defect(
    "list-children-by-sql-pattern",
    on="listNamespaces",
    breaks="listNamespaces.children-only",
    suffering="SHOW NAMESPACES IN sales_eu shows the namespaces of salesXeu.",
)
def _children_by_pattern(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """An underscore in the parent stands for any character, as in SQL's LIKE."""
    outcome = faithful(state, call)
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


@defect(
    "table-cache-survives-drop",
    breaks="dropTable.gone",
    suffering="A table that was dropped and made anew loads with its old schema and data.",
)
def _cache_survives_drop(registries: Registries) -> None:
    """Tables are loaded from a cache by name, which commits empty and drops do not."""
    cache: dict[Any, Reply] = {}

    def loaded(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        request = call.request
        key = (
            faithful.context.warehouse,
            call.namespace,
            call.name,
            request.query_string,
            request.headers.get("x-iceberg-access-delegation"),
        )
        if outcome.reply.status != 200:
            return outcome
        return structs.replace(outcome, reply=cache.setdefault(key, outcome.reply))

    def emptied(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        cache.clear()
        return faithful(state, call)

    wrap(registries, "loadTable", loaded)
    for operation_id in ("updateTable", "commitTransaction", "registerTable", "renameTable"):
        wrap(registries, operation_id, emptied)


@defect(
    "update-removes-first-snapshot-only",
    on=table_update("remove-snapshots"),
    breaks="update.remove-snapshots.effect",
    suffering="expire_snapshots deletes the files of snapshots that the table still lists.",
)
def _first_snapshot_only(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """remove-snapshots removes the first snapshot of its list."""
    faithful(structs.replace(update, snapshot_ids=update.snapshot_ids[:1]), draft)


@defect(
    "update-removes-first-schema-only",
    on=table_update("remove-schemas"),
    breaks="update.remove-schemas.effect",
    suffering="Schemas that nothing uses pile up in the metadata.",
)
def _first_schema_only(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """remove-schemas removes the first schema of its list."""
    faithful(structs.replace(update, schema_ids=update.schema_ids[:1]), draft)


@defect(
    "update-removes-first-spec-only",
    on=table_update("remove-partition-specs"),
    breaks="update.remove-partition-specs.effect",
    suffering="Partition specs that nothing uses pile up in the metadata.",
)
def _first_spec_only(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """remove-partition-specs removes the first spec of its list."""
    faithful(structs.replace(update, spec_ids=update.spec_ids[:1]), draft)


@defect(
    "update-one-branch-beside-main",
    on=table_update("set-snapshot-ref"),
    breaks="update.set-snapshot-ref.effect",
    suffering="A second branch takes the place of the first, whose data is lost.",
)
def _one_branch_beside_main(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A table has main and one more branch."""
    faithful(update, draft)
    branches = {name for name, ref in draft.metadata.refs.items() if ref.type == "branch"}
    if update.ref_name in branches and update.ref_name != MAIN_BRANCH:
        for other in branches - {MAIN_BRANCH, update.ref_name}:
            draft.remove_ref(other)


def _first_removal_only(faithful: FaithfulUpdate, update: Any, draft: Any) -> None:
    faithful(structs.replace(update, removals=update.removals[:1]), draft)


declare(
    "update-removes-first-property-only",
    "remove-properties removes the first property of its list.",
    by(alter_update, "remove-properties", _first_removal_only),
    breaks="update.remove-properties.effect",
    suffering="ALTER TABLE UNSET TBLPROPERTIES leaves all but one of what it names.",
)


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
    on=request_of("updateProperties"),
    breaks="updateProperties.remove",
    suffering="ALTER NAMESPACE UNSET PROPERTIES leaves all but one of what it names.",
)
def _first_namespace_property_only(body: Any) -> Any:
    """Of the removals the first one is carried out."""
    removals = body.get("removals") if isinstance(body, dict) else None
    return body | {"removals": removals[:1]} if isinstance(removals, list) else body


@defect(
    "view-last-assertion-decides",
    on=request_of("replaceView"),
    breaks="view-assertion.assert-view-uuid.violated",
    suffering="A view that took another's place is changed in its stead.",
)
def _last_assertion_decides(body: Any) -> Any:
    """Of the requirements on a view the last one decides."""
    sent = body.get("requirements")
    return body | {"requirements": sent[-1:]} if isinstance(sent, list) else body


@defect(
    "update-last-ref-takes-its-snapshot",
    on=table_update("remove-snapshot-ref"),
    breaks="update.remove-snapshot-ref.effect",
    suffering="Time travel to a snapshot fails once the tag on it is dropped.",
)
def _ref_takes_its_snapshot(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """With the last ref that names a snapshot, the snapshot is deleted."""
    gone = draft.metadata.refs.get(update.ref_name)
    faithful(update, draft)
    in_use = {ref.snapshot_id for ref in draft.metadata.refs.values()}
    in_use |= {entry.snapshot_id for entry in draft.metadata.snapshot_log}
    if gone is not None and gone.snapshot_id not in in_use:
        draft.remove_snapshots([gone.snapshot_id])


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
    on=table_update("add-schema"),
    breaks="update.add-schema.last-column-id-never-falls",
    suffering="Two columns get the same id, and one shows the data of the other.",
)
def _last_column_id_believed(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """The last-column-id of a client is stored as it comes, however low."""
    faithful(update, draft)
    if update.last_column_id is not None:
        draft.change(last_column_id=update.last_column_id)


@defect(
    "commit-rollback-not-logged",
    on=table_update("set-snapshot-ref"),
    breaks="commit.snapshot-log",
    suffering="Time travel by timestamp finds a state that was rolled back.",
)
def _rollback_not_logged(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """Moving main back to a snapshot it had leaves no entry in the snapshot log."""
    before = draft.metadata.snapshot_log
    known = {entry.snapshot_id for entry in before}
    faithful(update, draft)
    if update.ref_name == MAIN_BRANCH and update.snapshot_id in known:
        draft.change(snapshot_log=before)


@defect(
    "list-namespaces-cache-survives-drop",
    breaks="dropNamespace.gone",
    suffering="SHOW NAMESPACES shows what was dropped until somebody makes another one.",
)
def _namespaces_cached_over_drops(registries: Registries) -> None:
    """Namespaces are listed from a cache, which creations empty and drops do not."""
    cache: dict[Any, Reply] = {}

    def listed(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        key = (faithful.context.warehouse, call.request.query_string)
        return structs.replace(outcome, reply=cache.setdefault(key, outcome.reply))

    def emptied(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        cache.clear()
        return faithful(state, call)

    wrap(registries, "listNamespaces", listed)
    wrap(registries, "createNamespace", emptied)


@defect(
    "properties-missing-removal-undoes",
    on="updateProperties",
    breaks="updateProperties.set",
    suffering="ALTER NAMESPACE reports success and has changed nothing.",
)
def _missing_removal_undoes(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A removal that touches no row rolls everything back, and the answer tells of success."""
    outcome = faithful(state, call)
    missing = json.loads(outcome.reply.body)["missing"]
    return structs.replace(outcome, state=state) if missing else outcome


@defect(
    "credentials-of-the-first-table",
    breaks="loadCredentials.covers-the-table",
    suffering="Reading a second table fails: its files are outside the credential.",
)
def _credentials_of_the_first_table(registries: Registries) -> None:
    """Credentials are cached per warehouse, and are those of the table asked for first."""
    cache: dict[str, Reply] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        return structs.replace(
            outcome, reply=cache.setdefault(faithful.context.warehouse, outcome.reply)
        )

    wrap(registries, "loadCredentials", around)
