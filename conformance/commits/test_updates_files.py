"""Checks of the updates of statistics files and encryption keys."""

from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_table
from icecheck.judging.check import check
from icecheck.objects.committing import commit, expect_effect, given_snapshots, with_ids
from icecheck.replies.matching import containing

Json = dict[str, Any]

KEY: Json = {
    "key-id": "icecheck-key-1",
    "encrypted-key-metadata": "+/+/aWNlY2hlY2s=",  # other base64 alphabets differ
    "encrypted-by-id": "icecheck-root",
    "properties": {"purpose": "test"},
}
ANOTHER_KEY: Json = {"key-id": "icecheck-key-2", "encrypted-key-metadata": "aWNlY2hlY2stMg=="}


# ---- statistics


@check(
    "update.set-statistics",
    proves="update.set-statistics.effect",
    needs=("metadata-only-snapshots",),
)
def test_set_statistics(catalog: Catalog) -> None:
    """set-statistics stores a snapshot's statistics file, in place of an earlier one."""
    table, [snapshot_id] = given_snapshots(catalog, 1)
    for ordinal in (1, 2):
        file = bodies.statistics_file(table.metadata, snapshot_id, ordinal)
        updates = [bodies.set_statistics(file)]
        table = expect_effect(catalog, table, updates, {"statistics": [file]}, what="statistics")


@check(
    "update.set-statistics.without-outer-id",
    proves="update.set-statistics.outer-snapshot-id-optional",
    needs=("metadata-only-snapshots",),
)
def test_outer_snapshot_id_is_optional(catalog: Catalog) -> None:
    """Statistics are stored although the deprecated snapshot id is not sent."""
    table, [snapshot_id] = given_snapshots(catalog, 1)
    file = bodies.statistics_file(table.metadata, snapshot_id)
    updates = [{"action": "set-statistics", "statistics": file}]
    expect_effect(catalog, table, updates, {"statistics": [file]}, what="statistics")


@check(
    "update.remove-statistics",
    proves=("update.remove-statistics.effect", "update.set-statistics.effect"),
    needs=("metadata-only-snapshots", "snapshot-history"),
)
def test_remove_statistics(catalog: Catalog) -> None:
    """remove-statistics removes the statistics of one snapshot and leaves those of others."""
    table, [first, second] = given_snapshots(catalog, 2)
    files = [
        bodies.statistics_file(table.metadata, id_, n) for n, id_ in enumerate((first, second), 1)
    ]
    set_both = [bodies.set_statistics(file) for file in files]
    both = {"statistics": containing(*files)}
    table = expect_effect(catalog, table, set_both, both, what="statistics")
    expect_effect(
        catalog,
        table,
        [{"action": "remove-statistics", "snapshot-id": first}],
        {"statistics": [files[1]]},
        what="removed-statistics",
    )


@check(
    "update.remove-partition-statistics",
    proves=("update.remove-partition-statistics.effect", "update.set-partition-statistics.effect"),
    needs=("metadata-only-snapshots", "snapshot-history"),
)
def test_remove_partition_statistics(catalog: Catalog) -> None:
    """The updates of partition statistics, which the list of updates leaves out, are taken."""
    table, [snapshot_id] = given_snapshots(catalog, 1)
    file = bodies.partition_statistics_file(table.metadata, snapshot_id, 1)
    removal = {"action": "remove-partition-statistics", "snapshot-id": snapshot_id}
    # What a success claims is a MUST (L1009-L1010), which roundtrip.updateTable.* judge.
    for update in (bodies.set_partition_statistics(file), removal):
        commit(catalog, table, [update]).expect(200, detail=str(update["action"]))


# ---- encryption keys


@check(
    "update.remove-encryption-key",
    proves=("update.remove-encryption-key.effect", "update.add-encryption-key.effect"),
    needs=("format-version-3",),
)
def test_remove_encryption_key(catalog: Catalog) -> None:
    """remove-encryption-key removes the key that it names and leaves the others."""
    table = given_table(catalog, properties={"format-version": "3"})
    added = [{"action": "add-encryption-key", "encryption-key": key} for key in (KEY, ANOTHER_KEY)]
    both = {"encryption-keys": containing(KEY, ANOTHER_KEY)}
    table = expect_effect(catalog, table, added, both, what="encryption-key")
    expect_effect(
        catalog,
        table,
        [{"action": "remove-encryption-key", "key-id": KEY["key-id"]}],
        {"encryption-keys": with_ids("key-id", ANOTHER_KEY["key-id"])},
        what="removed-encryption-key",
    )
