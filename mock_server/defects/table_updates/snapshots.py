"""Defects of the updates of snapshots, refs, statistics and keys."""

from typing import Any

from msgspec import structs

from icecheck.mock_server.defects.kit.declaring import by, declare, defect, through
from icecheck.mock_server.defects.kit.places import request_of, table_update
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.updating import (
    FaithfulUpdate,
    alter_update,
    alter_version,
    ignore_update,
    refuse_updates_as,
    swallow_refusals,
)
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.model import MAIN_BRANCH, SnapshotRef, TableMetadata
from icecheck.mock_server.protocol.problem import bad_request

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


@defect(
    "update-snapshot-summary-rewritten",
    on=table_update("add-snapshot"),
    breaks="update.add-snapshot.effect",
    suffering="Streaming writers do not find their offsets in the summary.",
)
def _snapshot_summary_rewritten(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """Of a snapshot's summary only the operation is kept."""
    summary = {"operation": update.snapshot.summary["operation"]}
    snapshot = structs.replace(update.snapshot, summary=summary)
    faithful(structs.replace(update, snapshot=snapshot), draft)


declare(
    "update-snapshot-added-again-skipped",
    "A snapshot whose id is taken is accepted and left out.",
    by(swallow_refusals, "add-snapshot"),
    breaks="update.add-snapshot.duplicate-refused",
    suffering="A client believes that its snapshot is stored, and another one is.",
)


@defect(
    "update-sequence-number-stays",
    on=through(alter_version),
    breaks="update.add-snapshot.sequence-number",
    suffering="Deletes apply to rows that were written after them.",
)
def _sequence_number_stays(before: TableMetadata | None, after: TableMetadata) -> TableMetadata:
    """last-sequence-number is not carried forward."""
    number = 0 if before is None else before.last_sequence_number
    return structs.replace(after, last_sequence_number=number)


@defect(
    "update-sequence-number-demanded",
    on=table_update("add-snapshot"),
    breaks="update.add-snapshot.version-1",
    suffering="Tables of version 1 cannot be written any more.",
)
def _sequence_number_demanded(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A snapshot without a sequence number is refused, whatever the table's version."""
    if not update.snapshot.sequence_number:
        raise bad_request("Cannot parse missing long: sequence-number")
    faithful(update, draft)


@defect(
    "update-next-row-id-stays",
    on=through(alter_version),
    breaks="update.add-snapshot.next-row-id",
    suffering="Rows of different snapshots have the same row id.",
)
def _next_row_id_stays(before: TableMetadata | None, after: TableMetadata) -> TableMetadata:
    """next-row-id is not carried forward."""
    return structs.replace(after, next_row_id=0 if before is None else before.next_row_id)


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
    "update-main-is-not-current",
    on=through(alter_version),
    breaks="update.set-snapshot-ref.main-is-current",
    suffering="Written data does not show.",
)
def _main_is_not_current(before: TableMetadata | None, after: TableMetadata) -> TableMetadata:
    """Moving main does not move current-snapshot-id."""
    current = None if before is None else before.current_snapshot_id
    return structs.replace(after, current_snapshot_id=current)


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


declare(
    "update-ref-to-nothing-skipped",
    "A ref to an unknown snapshot is accepted and left out.",
    by(swallow_refusals, "set-snapshot-ref"),
    breaks="update.set-snapshot-ref.unknown-snapshot-refused",
    suffering="A client believes that its snapshot is current.",
)


declare(
    "update-unknown-ids-conflict",
    "Updates that name an unknown schema, spec, order or snapshot are refused with 409.",
    by(
        refuse_updates_as,
        409,
        "set-current-schema",
        "set-default-spec",
        "set-default-sort-order",
        "set-snapshot-ref",
    ),
    breaks="commit.unknown-ids-are-400",
    suffering="Clients send a commit again and again that can never succeed.",
)


@defect(
    "update-branch-keeps-its-first-place",
    on=request_of("updateTable"),
    breaks="commit.updates-in-order",
    suffering="A writer that appends twice to a branch finds only the first append there.",
)
def _first_place(body: Json) -> Json:
    """Of the updates that set one branch in a commit the first one counts, but for main."""
    updates = body.get("updates") or []
    first = {u.get("ref-name"): u for u in reversed(updates) if u.get("type") == "branch"}
    first.pop(MAIN_BRANCH, None)
    kept = [u for u in updates if u.get("type") != "branch" or first.get(u["ref-name"], u) is u]
    return {**body, "updates": kept}


def _is_removal(update: Json) -> bool:
    return update.get("action") == "remove-snapshot-ref" and update["ref-name"] != MAIN_BRANCH


@defect(
    "update-removes-refs-last",
    on=request_of("updateTable"),
    breaks="commit.updates-in-order",
    suffering="A tag that is replaced is gone.",
)
def _removes_refs_last(body: Json) -> Json:
    """The removal of a tag or branch waits until all other updates are done."""
    return {**body, "updates": sorted(body.get("updates") or [], key=_is_removal)}


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


declare(
    "update-main-cannot-be-removed",
    "Removing main is accepted and left out.",
    by(ignore_update, "remove-snapshot-ref", lambda update, _: update.ref_name == MAIN_BRANCH),
    breaks="update.remove-snapshot-ref.effect",
    suffering="REPLACE TABLE shows the rows of the table that was replaced.",
)


# ---- statistics


declare(
    "update-statistics-pile-up",
    "set-statistics adds a file beside the one that the snapshot has.",
    by(
        alter_update,
        "set-statistics",
        lambda _faithful, update, draft: draft.change(
            statistics=(*draft.metadata.statistics, update.statistics)
        ),
    ),
    breaks="update.set-statistics.effect",
    suffering="Queries are planned by statistics that are out of date.",
)


@defect(
    "update-statistics-need-outer-id",
    on=table_update("set-statistics"),
    breaks="update.set-statistics.outer-snapshot-id-optional",
    suffering="Clients that follow the deprecation cannot store statistics.",
)
def _statistics_need_outer_id(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """set-statistics without the deprecated snapshot id is refused."""
    if update.snapshot_id is None:
        raise bad_request("Cannot parse missing long: snapshot-id")
    faithful(update, draft)


declare(
    "update-remove-statistics-removes-all",
    "remove-statistics removes those of every snapshot.",
    by(alter_update, "remove-statistics", lambda _f, _update, draft: draft.change(statistics=())),
    breaks="update.remove-statistics.effect",
    suffering="Queries lose the statistics of snapshots that are still there.",
)

declare(
    "update-partition-statistics-pile-up",
    "set-partition-statistics adds a file beside the one that the snapshot has.",
    by(
        alter_update,
        "set-partition-statistics",
        lambda _faithful, update, draft: draft.change(
            partition_statistics=(
                *draft.metadata.partition_statistics,
                update.partition_statistics,
            )
        ),
    ),
    breaks="roundtrip.updateTable.set-partition-statistics",
    suffering="Queries are planned by statistics that are out of date.",
)

declare(
    "update-remove-partition-statistics-removes-all",
    "remove-partition-statistics removes those of every snapshot.",
    by(
        alter_update,
        "remove-partition-statistics",
        lambda _faithful, _update, draft: draft.change(partition_statistics=()),
    ),
    breaks="roundtrip.updateTable.remove-partition-statistics",
    suffering="Queries lose the statistics of snapshots that are still there.",
)

declare(
    "update-one-statistics-file",
    "Statistics are a column of the table's row: there is one file.",
    by(
        alter_update,
        "set-statistics",
        lambda _faithful, update, draft: draft.change(statistics=(update.statistics,)),
    ),
    breaks="update.set-statistics.effect",
    suffering="Queries lose the statistics of every snapshot but the one that was analyzed last.",
)

declare(
    "update-one-partition-statistics-file",
    "Partition statistics are a column of the table's row: there is one file.",
    by(
        alter_update,
        "set-partition-statistics",
        lambda _faithful, update, draft: draft.change(
            partition_statistics=(update.partition_statistics,)
        ),
    ),
    breaks="roundtrip.updateTable.set-partition-statistics",
    suffering="Partition statistics of every snapshot but one are computed for nothing.",
)


@defect(
    "update-partition-statistics-unknown",
    on=table_update("set-partition-statistics"),
    breaks="update.set-partition-statistics.effect",
    suffering="Partition statistics that were computed cannot be stored.",
)
def _partition_statistics_unknown(_faithful: FaithfulUpdate, _update: Any, _draft: Draft) -> None:
    """set-partition-statistics is no update that the catalog knows."""
    raise bad_request("Unknown update: set-partition-statistics")


@defect(
    "update-removed-partition-statistics-unknown",
    on=table_update("remove-partition-statistics"),
    breaks="update.remove-partition-statistics.effect",
    suffering="Partition statistics stay when their snapshot expires.",
)
def _removal_unknown(_faithful: FaithfulUpdate, _update: Any, _draft: Draft) -> None:
    """remove-partition-statistics is no update that the catalog knows."""
    raise bad_request("Unknown update: remove-partition-statistics")


# ---- encryption keys


@defect(
    "update-encryption-key-loses-members",
    on=table_update("add-encryption-key"),
    breaks="update.add-encryption-key.effect",
    suffering="Nobody can find out by which key the key is wrapped.",
)
def _encryption_key_loses_members(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """Optional members of an encryption key are not stored."""
    key = structs.replace(update.encryption_key, encrypted_by_id=None, properties=None)
    faithful(structs.replace(update, encryption_key=key), draft)


declare(
    "update-remove-encryption-key-removes-all",
    "remove-encryption-key removes every key.",
    by(
        alter_update,
        "remove-encryption-key",
        lambda _faithful, _update, draft: draft.change(encryption_keys=()),
    ),
    breaks="update.remove-encryption-key.effect",
    suffering="The table's data cannot be decrypted any more.",
)

declare(
    "update-one-encryption-key",
    "A new key takes the place of the one that the table has.",
    by(
        alter_update,
        "add-encryption-key",
        lambda _faithful, update, draft: draft.change(encryption_keys=(update.encryption_key,)),
    ),
    breaks="update.add-encryption-key.effect",
    suffering="What was encrypted with an earlier key cannot be read any more.",
)
