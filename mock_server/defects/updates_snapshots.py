"""Ways in which servers get updates of snapshots, refs, statistics and keys wrong."""

from typing import Any

from msgspec import structs

from icecheck.mock_server.builder import Draft
from icecheck.mock_server.context import Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.versions import (
    Faithful,
    alter_update,
    alter_version,
    ignore_update,
    swallow_refusals,
)
from icecheck.mock_server.model import MAIN_BRANCH, SnapshotRef, TableMetadata
from icecheck.mock_server.problem import bad_request

# ---- snapshots


@defect(
    "update-added-snapshot-goes-live",
    breaks="update.add-snapshot.effect",
    suffering="Write-audit-publish shows data that nobody has published.",
)
def _added_snapshot_goes_live(registries: Registries) -> None:
    """add-snapshot also moves main."""

    def live(faithful: Faithful, update: Any, draft: Draft) -> None:
        faithful(update, draft)
        ref = SnapshotRef(snapshot_id=update.snapshot.snapshot_id, type="branch")
        draft.set_ref(MAIN_BRANCH, ref)

    alter_update(registries, "add-snapshot", live)


@defect(
    "update-snapshot-summary-rewritten",
    breaks="update.add-snapshot.effect",
    suffering="Streaming writers do not find their offsets in the summary.",
)
def _snapshot_summary_rewritten(registries: Registries) -> None:
    """Of a snapshot's summary only the operation is kept."""

    def operation_only(faithful: Faithful, update: Any, draft: Draft) -> None:
        summary = {"operation": update.snapshot.summary["operation"]}
        snapshot = structs.replace(update.snapshot, summary=summary)
        faithful(structs.replace(update, snapshot=snapshot), draft)

    alter_update(registries, "add-snapshot", operation_only)


@defect(
    "update-snapshot-added-again-skipped",
    breaks="update.add-snapshot.duplicate-refused",
    suffering="A client believes that its snapshot is stored, and another one is.",
)
def _snapshot_added_again_skipped(registries: Registries) -> None:
    """A snapshot whose id is taken is accepted and left out."""
    swallow_refusals(registries, "add-snapshot")


@defect(
    "update-sequence-number-stays",
    breaks="update.add-snapshot.sequence-number",
    suffering="Deletes apply to rows that were written after them.",
)
def _sequence_number_stays(registries: Registries) -> None:
    """last-sequence-number is not carried forward."""

    def stays(before: TableMetadata | None, after: TableMetadata) -> TableMetadata:
        number = 0 if before is None else before.last_sequence_number
        return structs.replace(after, last_sequence_number=number)

    alter_version(registries, stays)


@defect(
    "update-sequence-number-demanded",
    breaks="update.add-snapshot.version-1",
    suffering="Tables of version 1 cannot be written any more.",
)
def _sequence_number_demanded(registries: Registries) -> None:
    """A snapshot without a sequence number is refused, whatever the table's version."""

    def demanding(faithful: Faithful, update: Any, draft: Draft) -> None:
        if not update.snapshot.sequence_number:
            raise bad_request("Cannot parse missing long: sequence-number")
        faithful(update, draft)

    alter_update(registries, "add-snapshot", demanding)


@defect(
    "update-next-row-id-stays",
    breaks="update.add-snapshot.next-row-id",
    suffering="Rows of different snapshots have the same row id.",
)
def _next_row_id_stays(registries: Registries) -> None:
    """next-row-id is not carried forward."""

    def stays(before: TableMetadata | None, after: TableMetadata) -> TableMetadata:
        return structs.replace(after, next_row_id=0 if before is None else before.next_row_id)

    alter_version(registries, stays)


@defect(
    "update-remove-snapshots-and-older",
    breaks="update.remove-snapshots.effect",
    suffering="Expiring one snapshot makes older ones unreadable.",
)
def _remove_snapshots_and_older(registries: Registries) -> None:
    """remove-snapshots removes everything up to the newest of the named ones."""

    def and_older(_faithful: Faithful, update: Any, draft: Draft) -> None:
        ids = [snapshot.snapshot_id for snapshot in draft.metadata.snapshots]
        last = max((i for i, id_ in enumerate(ids) if id_ in update.snapshot_ids), default=-1)
        draft.remove_snapshots(ids[: last + 1])

    alter_update(registries, "remove-snapshots", and_older)


@defect(
    "update-removed-snapshot-still-named",
    breaks="update.remove-snapshots.no-dangling-ref",
    suffering="Reading the branch fails.",
)
def _removed_snapshot_still_named(registries: Registries) -> None:
    """Branches and tags keep naming a snapshot that is removed."""

    def refs_stay(before: TableMetadata | None, after: TableMetadata) -> TableMetadata:
        if before is None or len(after.snapshots) >= len(before.snapshots):
            return after
        return structs.replace(after, refs=before.refs)

    alter_version(registries, refs_stay)


# ---- branches and tags


@defect(
    "update-main-is-not-current",
    breaks="update.set-snapshot-ref.main-is-current",
    suffering="Written data does not show.",
)
def _main_is_not_current(registries: Registries) -> None:
    """Moving main does not move current-snapshot-id."""

    def stays(before: TableMetadata | None, after: TableMetadata) -> TableMetadata:
        current = None if before is None else before.current_snapshot_id
        return structs.replace(after, current_snapshot_id=current)

    alter_version(registries, stays)


@defect(
    "update-branch-moves-main",
    breaks="update.set-snapshot-ref.effect",
    suffering="Data written to a branch shows on main.",
)
def _branch_moves_main(registries: Registries) -> None:
    """Setting any branch moves main too."""

    def main_too(faithful: Faithful, update: Any, draft: Draft) -> None:
        faithful(update, draft)
        ref = SnapshotRef(snapshot_id=update.snapshot_id, type="branch")
        draft.set_ref(MAIN_BRANCH, ref)

    alter_update(registries, "set-snapshot-ref", main_too)


@defect(
    "update-retention-is-kept-from-creation",
    breaks="update.set-snapshot-ref.retention",
    suffering="Snapshots expire by settings that were changed long ago.",
)
def _retention_is_kept_from_creation(registries: Registries) -> None:
    """A ref that exists keeps the retention settings it has."""

    def kept(faithful: Faithful, update: Any, draft: Draft) -> None:
        present = draft.metadata.refs.get(update.ref_name)
        if present is None:
            faithful(update, draft)
        else:
            draft.set_ref(update.ref_name, structs.replace(present, snapshot_id=update.snapshot_id))

    alter_update(registries, "set-snapshot-ref", kept)


@defect(
    "update-ref-to-nothing-skipped",
    breaks="update.set-snapshot-ref.unknown-snapshot-refused",
    suffering="A client believes that its snapshot is current.",
)
def _ref_to_nothing_skipped(registries: Registries) -> None:
    """A ref to an unknown snapshot is accepted and left out."""
    swallow_refusals(registries, "set-snapshot-ref")


@defect(
    "update-removed-ref-takes-its-snapshot",
    breaks="update.remove-snapshot-ref.effect",
    suffering="Dropping a branch loses data that other refs still need.",
)
def _removed_ref_takes_its_snapshot(registries: Registries) -> None:
    """remove-snapshot-ref removes the snapshot too, and whatever names it."""

    def with_snapshot(faithful: Faithful, update: Any, draft: Draft) -> None:
        ref = draft.metadata.refs.get(update.ref_name)
        faithful(update, draft)
        if ref is not None:
            draft.remove_snapshots([ref.snapshot_id])

    alter_update(registries, "remove-snapshot-ref", with_snapshot)


@defect(
    "update-main-cannot-be-removed",
    breaks="update.remove-snapshot-ref.effect",
    suffering="REPLACE TABLE shows the rows of the table that was replaced.",
)
def _main_cannot_be_removed(registries: Registries) -> None:
    """Removing main is accepted and left out."""
    ignore_update(
        registries, "remove-snapshot-ref", lambda update, _: update.ref_name == MAIN_BRANCH
    )


# ---- statistics


@defect(
    "update-statistics-pile-up",
    breaks="update.set-statistics.effect",
    suffering="Queries are planned by statistics that are out of date.",
)
def _statistics_pile_up(registries: Registries) -> None:
    """set-statistics adds a file beside the one that the snapshot has."""
    alter_update(
        registries,
        "set-statistics",
        lambda _faithful, update, draft: draft.change(
            statistics=(*draft.metadata.statistics, update.statistics)
        ),
    )


@defect(
    "update-statistics-need-outer-id",
    breaks="update.set-statistics.outer-snapshot-id-optional",
    suffering="Clients that follow the deprecation cannot store statistics.",
)
def _statistics_need_outer_id(registries: Registries) -> None:
    """set-statistics without the deprecated snapshot id is refused."""

    def demanding(faithful: Faithful, update: Any, draft: Draft) -> None:
        if update.snapshot_id is None:
            raise bad_request("Cannot parse missing long: snapshot-id")
        faithful(update, draft)

    alter_update(registries, "set-statistics", demanding)


@defect(
    "update-remove-statistics-removes-all",
    breaks="update.remove-statistics.effect",
    suffering="Queries lose the statistics of snapshots that are still there.",
)
def _remove_statistics_removes_all(registries: Registries) -> None:
    """remove-statistics removes those of every snapshot."""
    alter_update(
        registries, "remove-statistics", lambda _f, _update, draft: draft.change(statistics=())
    )


@defect(
    "update-partition-statistics-pile-up",
    breaks="update.set-partition-statistics.effect",
    suffering="Queries are planned by statistics that are out of date.",
)
def _partition_statistics_pile_up(registries: Registries) -> None:
    """set-partition-statistics adds a file beside the one that the snapshot has."""
    alter_update(
        registries,
        "set-partition-statistics",
        lambda _faithful, update, draft: draft.change(
            partition_statistics=(
                *draft.metadata.partition_statistics,
                update.partition_statistics,
            )
        ),
    )


@defect(
    "update-remove-partition-statistics-removes-all",
    breaks="update.remove-partition-statistics.effect",
    suffering="Queries lose the statistics of snapshots that are still there.",
)
def _remove_partition_statistics_removes_all(registries: Registries) -> None:
    """remove-partition-statistics removes those of every snapshot."""
    alter_update(
        registries,
        "remove-partition-statistics",
        lambda _faithful, _update, draft: draft.change(partition_statistics=()),
    )


@defect(
    "update-one-statistics-file",
    breaks="update.set-statistics.effect",
    suffering="Queries lose the statistics of every snapshot but the one that was analyzed last.",
)
def _one_statistics_file(registries: Registries) -> None:
    """Statistics are a column of the table's row: there is one file."""
    alter_update(
        registries,
        "set-statistics",
        lambda _faithful, update, draft: draft.change(statistics=(update.statistics,)),
    )


@defect(
    "update-one-partition-statistics-file",
    breaks="update.set-partition-statistics.effect",
    suffering="Partition statistics of every snapshot but one are computed for nothing.",
)
def _one_partition_statistics_file(registries: Registries) -> None:
    """Partition statistics are a column of the table's row: there is one file."""
    alter_update(
        registries,
        "set-partition-statistics",
        lambda _faithful, update, draft: draft.change(
            partition_statistics=(update.partition_statistics,)
        ),
    )


# ---- encryption keys


@defect(
    "update-encryption-key-loses-members",
    breaks="update.add-encryption-key.effect",
    suffering="Nobody can find out by which key the key is wrapped.",
)
def _encryption_key_loses_members(registries: Registries) -> None:
    """Optional members of an encryption key are not stored."""

    def bare(faithful: Faithful, update: Any, draft: Draft) -> None:
        key = structs.replace(update.encryption_key, encrypted_by_id=None, properties=None)
        faithful(structs.replace(update, encryption_key=key), draft)

    alter_update(registries, "add-encryption-key", bare)


@defect(
    "update-remove-encryption-key-removes-all",
    breaks="update.remove-encryption-key.effect",
    suffering="The table's data cannot be decrypted any more.",
)
def _remove_encryption_key_removes_all(registries: Registries) -> None:
    """remove-encryption-key removes every key."""
    alter_update(
        registries,
        "remove-encryption-key",
        lambda _faithful, _update, draft: draft.change(encryption_keys=()),
    )


@defect(
    "update-one-encryption-key",
    breaks="update.add-encryption-key.effect",
    suffering="What was encrypted with an earlier key cannot be read any more.",
)
def _one_encryption_key(registries: Registries) -> None:
    """A new key takes the place of the one that the table has."""
    alter_update(
        registries,
        "add-encryption-key",
        lambda _faithful, update, draft: draft.change(encryption_keys=(update.encryption_key,)),
    )
