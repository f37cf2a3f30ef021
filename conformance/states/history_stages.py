"""Commits that change a table's snapshots, refs, statistics and encryption keys."""

from collections.abc import Mapping
from typing import Any

from icecheck.client import bodies
from icecheck.objects.after_updates import after_updates

Json = dict[str, Any]
Metadata = Mapping[str, Any]
Updates = list[Json]

AHEAD = "ahead"
"""The name of a branch with a snapshot that main never had."""
TAG = "v1"

_SUMMARY = {"operation": "append", "added-records": "0", "icecheck.offset": "007"}
_RETENTION = {"min_snapshots_to_keep": 3, "max_snapshot_age_ms": 2**31 + 1}
_ROWS = 7


# ---- snapshots and refs


def _snapshot(metadata: Metadata, ordinal: int, parent: int | None, **members: Any) -> Json:
    rows = {"added_rows": _ROWS} if metadata["format-version"] > 2 else {}
    return bodies.snapshot(
        metadata, ordinal, parent=parent, summary=dict(_SUMMARY), **rows, **members
    )


def _appended(ref: Json, snapshot: Json) -> Updates:
    return [{"action": "add-snapshot", "snapshot": snapshot}, ref]


def snapshots(metadata: Metadata) -> Updates:
    """Add two snapshots, the first with the first schema, and set main to the second."""
    first = _snapshot(metadata, 1, None, schema_id=metadata["schemas"][0]["schema-id"])
    added = {"action": "add-snapshot", "snapshot": first}
    second = _snapshot(after_updates(metadata, [added]), 2, first["snapshot-id"])
    return [added, *_appended(bodies.snapshot_ref(second["snapshot-id"]), second)]


def ahead(metadata: Metadata) -> Updates:
    """Add two snapshots that main does not have, and a branch at the second."""
    updates: Updates = []
    parent = metadata["current-snapshot-id"]
    for ordinal in (3, 5):
        snapshot = _snapshot(after_updates(metadata, updates), ordinal, parent)
        parent = snapshot["snapshot-id"]
        ref = bodies.snapshot_ref(parent, AHEAD, "branch", **_RETENTION)
        updates += _appended(ref, snapshot)
    return updates


def tagged(metadata: Metadata) -> Updates:
    """Tag the first snapshot and the branch's snapshot that main does not have."""
    first = metadata["snapshots"][0]["snapshot-id"]
    tags = [bodies.snapshot_ref(first, TAG, "tag", max_ref_age_ms=2**53 + 1)]
    if branch := metadata["refs"].get(AHEAD):
        tags.append(bodies.snapshot_ref(branch["snapshot-id"], TAG.upper(), "tag"))
    return tags


def rolled_back(metadata: Metadata) -> Updates:
    """Set main back to the first snapshot."""
    return [bodies.snapshot_ref(metadata["snapshots"][0]["snapshot-id"])]


def snapshot_on_main(metadata: Metadata) -> Updates:
    """Add a snapshot to main."""
    snapshot = _snapshot(metadata, 4, metadata["current-snapshot-id"])
    return _appended(bodies.snapshot_ref(snapshot["snapshot-id"]), snapshot)


def branch_gone(metadata: Metadata) -> Updates:
    """Remove the branch; its snapshot stays."""
    there = AHEAD in metadata["refs"]
    return [{"action": "remove-snapshot-ref", "ref-name": AHEAD}] if there else []


def snapshot_gone(metadata: Metadata) -> Updates:
    """Remove the snapshot before the last one added; the branch's tag names the last one.

    Where the branch was refused, that may be a snapshot of main: what becomes of a ref whose
    snapshot is removed is not said.
    """
    gone = metadata["snapshots"][-2]["snapshot-id"]
    if any(ref["snapshot-id"] == gone for ref in metadata["refs"].values()):
        return []
    return [{"action": "remove-snapshots", "snapshot-ids": [gone]}]


# ---- statistics and encryption keys


def files(metadata: Metadata) -> Updates:
    """Set statistics and partition statistics of two snapshots."""
    ids = [each["snapshot-id"] for each in metadata["snapshots"][:2]]
    at_ids = [*enumerate(ids, start=1)]
    files = [bodies.statistics_file(metadata, each, at) for at, each in at_ids]
    partitions = [bodies.partition_statistics_file(metadata, each, at) for at, each in at_ids]
    return [*map(bodies.set_statistics, files), *map(bodies.set_partition_statistics, partitions)]


def fewer_files(metadata: Metadata) -> Updates:
    """Remove the statistics of one snapshot and the partition statistics of the other."""
    first, second = (each["snapshot-id"] for each in metadata["snapshots"][:2])
    if not metadata["statistics"] or not metadata["partition-statistics"]:
        return []
    return [
        {"action": "remove-statistics", "snapshot-id": first},
        {"action": "remove-partition-statistics", "snapshot-id": second},
    ]


def keys(_: Metadata) -> Updates:
    """Add two encryption keys; the first encrypts the second."""
    keys: list[Json] = [
        {"key-id": name, "encrypted-key-metadata": encoded, "properties": {"of": name}}
        for name, encoded in (("key-1", "+/+/"), ("key-2", "AA=="))
    ]
    keys[1]["encrypted-by-id"] = "key-1"
    return [{"action": "add-encryption-key", "encryption-key": key} for key in keys]


def one_key(metadata: Metadata) -> Updates:
    """Remove the first of two encryption keys."""
    there = any(key["key-id"] == "key-1" for key in metadata["encryption-keys"])
    return [{"action": "remove-encryption-key", "key-id": "key-1"}] if there else []
