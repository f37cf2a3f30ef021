"""Defects of the updates of snapshots, refs, statistics and keys."""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import table_update
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.mock_server.defects.kit.updating import (
    FaithfulUpdate,
    alter_sent_list,
    alter_update,
    alter_version,
    change_also,
    ignore_update,
    read_update,
    refuse_updates_as,
    refuse_updates_where,
    swallow_refusals,
)
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.model import MAIN_BRANCH, SnapshotRef, TableMetadata

# ---- snapshots


@defect(
    "update-added-snapshot-goes-live",
    on=table_update("add-snapshot"),
    breaks="update.add-snapshot.effect",
    suffering="Write-audit-publish shows data that nobody has published.",
)
def _added_snapshot_goes_live(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """add-snapshot also moves main."""
    faithful(update, draft)
    ref = SnapshotRef(snapshot_id=update.snapshot.snapshot_id, type="branch")
    draft.set_ref(MAIN_BRANCH, ref)


def _show_added_rows(registries: Registries, shown: Callable[[Json], Json]) -> None:
    """Answer loads with other snapshots where they tell their added rows."""

    def altered(body: Json) -> Json:
        snapshots = [
            shown(each) if "added-rows" in each else each
            for each in body["metadata"].get("snapshots", ())
        ]
        kept = {"snapshots": snapshots} if snapshots else {}
        return body | {"metadata": body["metadata"] | kept}

    alter_body(registries, "loadTable", altered)


declare_each(
    ("update-snapshot-added-rows-lost", "update.add-snapshot.added-rows",
     "Snapshots have no column for the rows that they add.",
     "A writer cannot tell which row ids are taken.",
     by(_show_added_rows,
        lambda each: {key: value for key, value in each.items() if key != "added-rows"})),
    ("update-snapshot-added-rows-counted", "update.add-snapshot.added-rows",
     "The rows that a snapshot adds are those that its summary counts.",
     "Row ids of rows that were rewritten are given a second time.",
     by(_show_added_rows,
        lambda each: {**each, "added-rows": int(each["summary"].get("added-records", 0))})),
)  # fmt: skip


declare_each(
    ("update-snapshot-summary-rewritten", "update.add-snapshot.effect",
     "Of a snapshot's summary only the operation is kept.",
     "Streaming writers do not find their offsets in the summary.",
     by(
         read_update,
         "add-snapshot",
         lambda update, _: structs.replace(
             update,
             snapshot=structs.replace(
                 update.snapshot, summary={"operation": update.snapshot.summary["operation"]}
             ),
         ),
     )),
    ("update-sequence-number-demanded", "update.add-snapshot.version-1",
     "A snapshot without a sequence number is refused, whatever the table's version.",
     "Tables of version 1 cannot be written any more.",
     by(refuse_updates_where, "add-snapshot",
        lambda update, _: not update.snapshot.sequence_number)),
    ("update-snapshot-added-again-skipped", "update.add-snapshot.duplicate-refused",
     "A snapshot whose id is taken is accepted and left out.",
     "A client believes that its snapshot is stored, and another one is.",
     by(swallow_refusals, "add-snapshot")),
    ("update-sequence-number-stays", "update.add-snapshot.sequence-number",
     "last-sequence-number is not carried forward.",
     "Deletes apply to rows that were written after them.",
     by(
         alter_version,
         lambda before, after: structs.replace(
             after, last_sequence_number=before.last_sequence_number if before else 0
         ),
     )),
    ("update-next-row-id-stays", "update.add-snapshot.next-row-id",
     "next-row-id is not carried forward.", "Rows of different snapshots have the same row id.",
     by(
         alter_version,
         lambda before, after: structs.replace(
             after, next_row_id=before.next_row_id if before else 0
         ),
     )),
)  # fmt: skip


@defect(
    "update-remove-snapshots-and-older",
    on=table_update("remove-snapshots"),
    breaks="update.remove-snapshots.effect",
    suffering="Expiring one snapshot makes older ones unreadable.",
)
def _remove_snapshots_and_older(_faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """remove-snapshots removes everything up to the newest of the named ones."""
    ids = [snapshot.snapshot_id for snapshot in draft.metadata.snapshots]
    last = max((i for i, id_ in enumerate(ids) if id_ in update.snapshot_ids), default=-1)
    draft.remove_snapshots(ids[: last + 1])


@defect(
    "update-removed-snapshot-still-named",
    on=through(alter_version),
    breaks="update.remove-snapshots.no-dangling-ref",
    suffering="Reading the branch fails.",
)
def _removed_snapshot_still_named(
    before: TableMetadata | None, after: TableMetadata
) -> TableMetadata:
    """Branches and tags keep naming a snapshot that is removed."""
    if before is None or len(after.snapshots) >= len(before.snapshots):
        return after
    return structs.replace(after, refs=before.refs)


# ---- branches and tags


@defect(
    "update-branch-moves-main",
    on=table_update("set-snapshot-ref"),
    breaks="update.set-snapshot-ref.effect",
    suffering="Data written to a branch shows on main.",
)
def _branch_moves_main(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """Setting any branch moves main too."""
    faithful(update, draft)
    ref = SnapshotRef(snapshot_id=update.snapshot_id, type="branch")
    draft.set_ref(MAIN_BRANCH, ref)


@defect(
    "update-retention-is-kept-from-creation",
    on=table_update("set-snapshot-ref"),
    breaks="update.set-snapshot-ref.retention",
    suffering="Snapshots expire by settings that were changed long ago.",
)
def _retention_is_kept_from_creation(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A ref that exists keeps the retention settings it has."""
    present = draft.metadata.refs.get(update.ref_name)
    if present is None:
        faithful(update, draft)
    else:
        draft.set_ref(update.ref_name, structs.replace(present, snapshot_id=update.snapshot_id))


@defect(
    "update-removed-ref-takes-its-snapshot",
    on=table_update("remove-snapshot-ref"),
    breaks="update.remove-snapshot-ref.effect",
    suffering="Dropping a branch loses data that other refs still need.",
)
def _removed_ref_takes_its_snapshot(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """remove-snapshot-ref removes the snapshot too, and whatever names it."""
    ref = draft.metadata.refs.get(update.ref_name)
    faithful(update, draft)
    if ref is not None:
        draft.remove_snapshots([ref.snapshot_id])


declare_each(
    ("update-main-is-not-current", "update.set-snapshot-ref.main-is-current",
     "Moving main does not move current-snapshot-id.", "Written data does not show.",
     by(
         alter_version,
         lambda before, after: structs.replace(
             after, current_snapshot_id=before.current_snapshot_id if before else None
         ),
     )),
    ("update-unknown-ids-conflict", "commit.unknown-ids-are-400",
     "Updates that name an unknown schema, spec, order or snapshot are refused with 409.",
     "Clients send a commit again and again that can never succeed.",
     by(refuse_updates_as, 409, "set-current-schema", "set-default-spec", "set-default-sort-order",
        "set-snapshot-ref")),
    ("update-ref-to-nothing-skipped", "update.set-snapshot-ref.unknown-snapshot-refused",
     "A ref to an unknown snapshot is accepted and left out.",
     "A client believes that its snapshot is current.", by(swallow_refusals, "set-snapshot-ref")),
    ("update-main-cannot-be-removed", "update.remove-snapshot-ref.effect",
     "Removing main is accepted and left out.",
     "REPLACE TABLE shows the rows of the table that was replaced.",
     by(ignore_update, "remove-snapshot-ref", lambda update, _: update.ref_name == MAIN_BRANCH)),
)  # fmt: skip


# ---- statistics


declare_each(
    ("update-statistics-pile-up", "update.set-statistics.effect",
     "set-statistics adds a file beside the one that the snapshot has.",
     "Queries are planned by statistics that are out of date.",
     by(
         alter_update,
         "set-statistics",
         lambda _faithful, update, draft: draft.change(
             statistics=(*draft.metadata.statistics, update.statistics)
         ),
     )),
    ("update-statistics-need-outer-id", "update.set-statistics.outer-snapshot-id-optional",
     "set-statistics without the deprecated snapshot id is refused.",
     "Clients that follow the deprecation cannot store statistics.",
     by(refuse_updates_where, "set-statistics", lambda update, _: update.snapshot_id is None)),
    ("update-remove-statistics-removes-all", "update.remove-statistics.effect",
     "remove-statistics removes those of every snapshot.",
     "Queries lose the statistics of snapshots that are still there.",
     by(alter_update, "remove-statistics", lambda _f, _update, draft: draft.change(statistics=()))),
    ("update-partition-statistics-pile-up", "roundtrip.updateTable.set-partition-statistics",
     "set-partition-statistics adds a file beside the one that the snapshot has.",
     "Queries are planned by statistics that are out of date.",
     by(
         alter_update,
         "set-partition-statistics",
         lambda _faithful, update, draft: draft.change(
             partition_statistics=(
                 *draft.metadata.partition_statistics,
                 update.partition_statistics,
             )
         ),
     )),
    ("update-remove-partition-statistics-removes-all",
     "roundtrip.updateTable.remove-partition-statistics",
     "remove-partition-statistics removes those of every snapshot.",
     "Queries lose the statistics of snapshots that are still there.",
     by(alter_update, "remove-partition-statistics",
        lambda _faithful, _update, draft: draft.change(partition_statistics=()))),
    ("update-one-statistics-file", "update.set-statistics.effect",
     "Statistics are a column of the table's row: there is one file.",
     "Queries lose the statistics of every snapshot but the one that was analyzed last.",
     by(alter_update, "set-statistics",
        lambda _faithful, update, draft: draft.change(statistics=(update.statistics,)))),
    ("update-one-partition-statistics-file", "roundtrip.updateTable.set-partition-statistics",
     "Partition statistics are a column of the table's row: there is one file.",
     "Partition statistics of every snapshot but one are computed for nothing.",
     by(
         alter_update,
         "set-partition-statistics",
         lambda _faithful, update, draft: draft.change(
             partition_statistics=(update.partition_statistics,)
         ),
     )),
    ("update-partition-statistics-unknown", "update.set-partition-statistics.effect",
     "set-partition-statistics is no update that the catalog knows.",
     "Partition statistics that were computed cannot be stored.",
     by(refuse_updates_where, "set-partition-statistics", lambda _update, _draft: True)),
    ("update-removed-partition-statistics-unknown", "update.remove-partition-statistics.effect",
     "remove-partition-statistics is no update that the catalog knows.",
     "Partition statistics stay when their snapshot expires.",
     by(refuse_updates_where, "remove-partition-statistics", lambda _update, _draft: True)),
)  # fmt: skip


# ---- encryption keys


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


declare_each(
    ("update-encryption-key-loses-members", "update.add-encryption-key.effect",
     "Optional members of an encryption key are not stored.",
     "Nobody can find out by which key the key is wrapped.",
     by(
         read_update,
         "add-encryption-key",
         lambda update, _: structs.replace(
             update,
             encryption_key=structs.replace(
                 update.encryption_key, encrypted_by_id=None, properties=None
             ),
         ),
     )),
    ("commit-rollback-not-logged", "commit.snapshot-log",
     "Moving main back to a snapshot it had leaves no entry in the snapshot log.",
     "Time travel by timestamp finds a state that was rolled back.",
     by(
         change_also,
         "set-snapshot-ref",
         lambda before, _, update: (
             {"snapshot_log": before.snapshot_log}
             if update.ref_name == MAIN_BRANCH
             and update.snapshot_id in {each.snapshot_id for each in before.snapshot_log}
             else {}
         ),
     )),
    ("update-remove-encryption-key-removes-all", "update.remove-encryption-key.effect",
     "remove-encryption-key removes every key.", "The table's data cannot be decrypted any more.",
     by(alter_update, "remove-encryption-key",
        lambda _faithful, _update, draft: draft.change(encryption_keys=()))),
    ("update-one-encryption-key", "update.add-encryption-key.effect",
     "A new key takes the place of the one that the table has.",
     "What was encrypted with an earlier key cannot be read any more.",
     by(alter_update, "add-encryption-key",
        lambda _faithful, update, draft: draft.change(encryption_keys=(update.encryption_key,)))),
    ("update-main-removal-refused", "update.remove-snapshot-ref.main",
     "Main is not removed, and the client is told so.", "REPLACE TABLE fails.",
     by(refuse_updates_where, "remove-snapshot-ref",
        lambda update, _: update.ref_name == MAIN_BRANCH)),
)  # fmt: skip


@defect(
    "update-tagged-snapshot-stays",
    on=through(ignore_update, "remove-snapshots"),
    breaks="update.remove-snapshots.effect",
    suffering="Snapshots that were expired keep their files for ever.",
)
def _tagged_snapshot_stays(update: Any, draft: Any) -> bool:
    """A snapshot that a branch or tag names is left out of a removal, and nothing is said."""
    ids = {ref.snapshot_id for ref in draft.metadata.refs.values()}
    return not ids.isdisjoint(update.snapshot_ids)


@defect(
    "update-branch-keeps-its-first-place",
    on=through(alter_sent_list, "updateTable"),
    breaks="commit.updates-in-order",
    suffering="A writer that appends twice to a branch finds only the first append there.",
)
def _first_place(sent: list[Json]) -> list[Json]:
    """Of the updates that set one branch in a commit the first one counts, but for main."""
    first = {u.get("ref-name"): u for u in reversed(sent) if u.get("type") == "branch"}
    first.pop(MAIN_BRANCH, None)
    return [u for u in sent if u.get("type") != "branch" or first.get(u["ref-name"], u) is u]
