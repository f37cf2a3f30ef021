"""Defects that show only after steps that have little to do with each other."""

from typing import Any

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Context, Outcome, Registries
from icecheck.mock_server.core.state import TableEntry, WarehouseState
from icecheck.mock_server.defects.kit.changing import change_and_refuse, do_after
from icecheck.mock_server.defects.kit.declaring import defect
from icecheck.mock_server.defects.kit.places import table_update
from icecheck.mock_server.defects.kit.remembering import note_after, note_outcome, place_of
from icecheck.mock_server.defects.kit.requests import (
    Json,
    Name,
    rename_ends,
    sent_json,
    sent_name,
    with_json,
)
from icecheck.mock_server.defects.kit.rewriting import Faithful
from icecheck.mock_server.defects.kit.storing import store_view_otherwise, with_metadata
from icecheck.mock_server.defects.kit.updating import (
    FaithfulUpdate,
    FaithfulViewUpdate,
    alter_update,
    alter_view_update,
)
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.model import MAIN_BRANCH, SnapshotRef, TableMetadata
from icecheck.mock_server.metadata.view_builder import ViewDraft
from icecheck.mock_server.metadata.view_metadata import ViewMetadata

_BROKEN = "scenario.namespaces-and-tables"
_OTHER_STATE = "A table is in a state that none of its writers has asked for."
_HALF = "Tables that belong together differ for good."


def _name_of(change: Json) -> Name:
    named = change["identifier"]
    return tuple(named["namespace"]), named["name"]


def _with(context: Context, state: WarehouseState, name: Name, **members: Any) -> WarehouseState:
    """Return the state in which these members of a table's metadata are others."""
    entry = state.table(*name)
    if entry is None:
        return state
    return state.with_table(
        *name, with_metadata(context, entry, replace(entry.metadata, **members))
    )


# ---- refs


@defect(
    "history-branch-where-it-was",
    breaks=_BROKEN,
    suffering="An audit of new data looks at what was there when the branch was dropped.",
)
def _branch_where_it_was(registries: Registries) -> None:
    """A branch that is made again names the snapshot that it had when it was dropped."""
    dropped: dict[tuple[str, str], int] = {}

    def removing(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        ref = draft.metadata.refs.get(update.ref_name)
        if ref is not None and ref.type == "branch":
            dropped[draft.metadata.table_uuid, update.ref_name] = ref.snapshot_id
        faithful(update, draft)

    def setting(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        former = dropped.pop((draft.metadata.table_uuid, update.ref_name), None)
        if former is not None and draft.has_snapshot(former):
            update = replace(update, snapshot_id=former)
        faithful(update, draft)

    alter_update(registries, "remove-snapshot-ref", removing)
    alter_update(registries, "set-snapshot-ref", setting)


@defect(
    "history-merged-branch-goes",
    on=table_update("set-snapshot-ref"),
    breaks=_BROKEN,
    suffering="A branch that several writers use is gone once one of them has merged it.",
)
def _merged_branch_goes(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A branch goes when main is set to the snapshot that it names, and that is not new."""
    faithful(update, draft)
    if update.ref_name != MAIN_BRANCH or update.snapshot_id in draft.added_snapshots:
        return
    for name, ref in draft.metadata.refs.items():
        if name != MAIN_BRANCH and (ref.type, ref.snapshot_id) == ("branch", update.snapshot_id):
            draft.remove_ref(name)


@defect(
    "history-tag-follows-main",
    on=table_update("set-snapshot-ref"),
    breaks=_BROKEN,
    suffering="What was tagged is something else after a rollback.",
)
def _tag_follows_main(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """When main is set back, the tags of the snapshot that it leaves go back with it."""
    left = draft.metadata.refs.get(MAIN_BRANCH)
    faithful(update, draft)
    if update.ref_name != MAIN_BRANCH or left is None or draft.added_snapshots:
        return
    for name, ref in draft.metadata.refs.items():
        if (ref.type, ref.snapshot_id) == ("tag", left.snapshot_id):
            draft.set_ref(name, replace(ref, snapshot_id=update.snapshot_id))


@defect("history-rename-after-upgrade", breaks=_BROKEN, suffering="What was tagged is removed.")
def _rename_after_upgrade(registries: Registries) -> None:
    """A table that was upgraded loses its tags and branches when it is renamed."""
    upgraded: set[str] = set()

    def upgrading(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        faithful(update, draft)
        upgraded.add(draft.metadata.table_uuid)

    def renamed(
        context: Context, _before: WarehouseState, call: Call, after: WarehouseState
    ) -> WarehouseState:
        _, name = rename_ends(call)
        entry = after.table(*name)
        if entry is None or entry.metadata.table_uuid not in upgraded:
            return after
        return _with(context, after, name, refs=_main_alone(entry.metadata))

    alter_update(registries, "upgrade-format-version", upgrading)
    do_after(registries, "renameTable", renamed)


def _main_alone(metadata: TableMetadata) -> dict[str, SnapshotRef]:
    return {name: ref for name, ref in metadata.refs.items() if name == MAIN_BRANCH}


# ---- two steps far apart


@defect(
    "history-statistics-of-the-former",
    breaks=_BROKEN,
    suffering="Queries of a new table are planned by the statistics of a dropped one.",
)
def _statistics_of_the_former(registries: Registries) -> None:
    """A table under the name of a dropped one begins with the statistics of that one."""
    dropped: dict[Name, TableEntry] = {}

    def dropping(_c: Context, before: WarehouseState, call: Call, _outcome: Outcome) -> None:
        entry = before.table(*place_of(call))
        if entry is not None:
            dropped[place_of(call)] = entry

    def created(
        context: Context, _before: WarehouseState, call: Call, after: WarehouseState
    ) -> WarehouseState:
        name = (call.namespace, sent_name(call))
        former = dropped.pop(name, None)
        if former is None or not former.metadata.statistics:
            return after
        return _with(context, after, name, statistics=former.metadata.statistics)

    note_outcome(registries, "dropTable", dropping)
    do_after(registries, "createTable", created)


@defect(
    "history-earlier-schema-unsorted",
    on=table_update("set-current-schema"),
    breaks=_BROKEN,
    suffering="Writers stop sorting a table when a change of its columns is taken back.",
)
def _earlier_schema_unsorted(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """When an earlier schema is made current again, the default sort order is the first one."""
    before = draft.metadata
    faithful(update, draft)
    if draft.metadata.current_schema_id < before.current_schema_id:
        draft.change(default_sort_order_id=before.sort_orders[0].order_id)


@defect(
    "history-table-name-in-views",
    breaks=_BROKEN,
    suffering="A view has settings that its author has never set.",
)
def _table_name_in_views(registries: Registries) -> None:
    """A view under the name of a dropped table that had a branch has the table's properties."""
    dropped: dict[Name, dict[str, str]] = {}

    def dropping(_c: Context, before: WarehouseState, call: Call, _outcome: Outcome) -> None:
        entry = before.table(*place_of(call))
        if entry is not None and entry.metadata.refs:
            dropped[place_of(call)] = entry.metadata.properties

    def creating(_before: ViewMetadata | None, made: ViewMetadata, sent: Json) -> ViewMetadata:
        default = tuple(sent["view-version"]["default-namespace"])
        former = dropped.pop((default, sent["name"]), {})
        return replace(made, properties={**made.properties, **former})

    note_outcome(registries, "dropTable", dropping)
    store_view_otherwise(registries, "createView", creating)


# ---- views


@defect(
    "history-view-properties-roll-back",
    breaks=_BROKEN,
    suffering="Who restores an earlier query loses the view's comment and settings since then.",
)
def _view_properties_roll_back(registries: Registries) -> None:
    """Making an earlier version of a view current brings its properties of that time back."""
    known: dict[tuple[str, int], dict[str, str]] = {}

    def adding(faithful: FaithfulViewUpdate, update: Any, draft: ViewDraft) -> None:
        before = draft.metadata.properties
        faithful(update, draft)
        for version in draft.metadata.versions:
            known.setdefault((draft.metadata.view_uuid, version.version_id), before)

    def setting(faithful: FaithfulViewUpdate, update: Any, draft: ViewDraft) -> None:
        faithful(update, draft)
        former = known.get((draft.metadata.view_uuid, update.view_version_id))
        if former is not None:
            draft.change(properties=former)

    alter_view_update(registries, "add-view-version", adding)
    alter_view_update(registries, "set-current-view-version", setting)


@defect(
    "history-view-goes-home",
    breaks=_BROKEN,
    suffering="A view is written to a place that its owner has left.",
)
def _view_goes_home(registries: Registries) -> None:
    """A view that was moved is back at its first place when it gets a schema of its own."""
    homes: dict[str, str] = {}

    def replacing(before: ViewMetadata | None, made: ViewMetadata, sent: Json) -> ViewMetadata:
        if before is None:
            return made
        home = homes.setdefault(made.view_uuid, before.location)
        actions = {each["action"] for each in sent["updates"]}
        return replace(made, location=home) if "add-schema" in actions else made

    store_view_otherwise(registries, "replaceView", replacing)


@defect(
    "history-refused-view-keeps-schemas",
    breaks=_BROKEN,
    suffering="Schemas that no version has are left in a view by each failed commit.",
)
def _refused_view_keeps_schemas(registries: Registries) -> None:
    """What a refused commit adds to the schemas of a view with several of them stays."""

    def change(faithful: Faithful, state: WarehouseState, call: Call) -> WarehouseState:
        body = sent_json(call)
        view = state.view(*place_of(call))
        added = [each for each in body["updates"] if each["action"] == "add-schema"]
        if view is None or len(view.metadata.schemas) < _SEVERAL or not added:
            return state
        return faithful(state, with_json(call, {**body, "updates": added})).state

    change_and_refuse(registries, "replaceView", 400, change)


_SEVERAL = 2


# ---- transactions


@defect("history-transaction-half-undone", breaks=_BROKEN, suffering=_HALF)
def _transaction_half_undone(registries: Registries) -> None:
    """A transaction that its last table cannot follow leaves the first one with its snapshots."""

    def change(faithful: Faithful, state: WarehouseState, call: Call) -> WarehouseState:
        first, *others = sent_json(call)["table-changes"]
        actions = {each["action"] for each in first["updates"]}
        if not others or "add-snapshot" not in actions:
            return state
        return faithful(state, with_json(call, {"table-changes": [first]})).state

    change_and_refuse(registries, "commitTransaction", 400, change)


@defect("history-transaction-drops-branches", breaks=_BROKEN, suffering=_OTHER_STATE)
def _transaction_drops_branches(registries: Registries) -> None:
    """A table that was renamed loses its branches in the next transaction over several tables."""
    renamed: set[Name] = set()
    note_after(registries, "renameTable", lambda call: renamed.add(rename_ends(call)[1]))

    def committed(
        context: Context, _before: WarehouseState, call: Call, after: WarehouseState
    ) -> WarehouseState:
        changes = sent_json(call)["table-changes"]
        for name in map(_name_of, changes if len(changes) > 1 else ()):
            entry = after.table(*name)
            if name in renamed and entry is not None:
                after = _with(context, after, name, refs=_main_alone(entry.metadata))
        return after

    do_after(registries, "commitTransaction", committed)


@defect("history-transaction-of-unlike-tables", breaks=_BROKEN, suffering=_OTHER_STATE)
def _transaction_of_unlike_tables(registries: Registries) -> None:
    """Two tables that get a snapshot in one transaction get the sequence number of the first."""

    def committed(
        context: Context, _before: WarehouseState, call: Call, after: WarehouseState
    ) -> WarehouseState:
        changes = [
            change
            for change in sent_json(call)["table-changes"]
            if any(each["action"] == "add-snapshot" for each in change["updates"])
        ]
        entries = [(name, after.table(*name)) for name in map(_name_of, changes)]
        for name, entry in entries[1:]:
            first = entries[0][1]
            if first is not None and entry is not None:
                number = first.metadata.last_sequence_number
                after = _with(context, after, name, last_sequence_number=number)
        return after

    do_after(registries, "commitTransaction", committed)
