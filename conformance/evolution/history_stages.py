"""Commits that change a table's snapshots, refs, statistics and encryption keys."""

from collections.abc import Mapping
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Table
from icecheck.conformance.evolution.layout_stages import Growth
from icecheck.objects.statistics_files import (
    partition_statistics_file,
    set_partition_statistics,
    set_statistics,
    statistics_file,
)

__all__ = [
    "AHEAD",
    "TAG",
    "ahead",
    "branch_gone",
    "fewer_files",
    "files",
    "keys",
    "one_key",
    "rolled_back",
    "snapshot_gone",
    "snapshot_on_main",
    "snapshots",
    "tagged",
]

Json = dict[str, Any]
Metadata = Mapping[str, Any]

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


def _with_snapshot(metadata: Metadata, snapshot: Json) -> Json:
    """Return the members that an added snapshot changes."""
    due: Json = {"snapshots": [*(metadata.get("snapshots") or []), snapshot]}
    if "sequence-number" in snapshot:
        due["last-sequence-number"] = snapshot["sequence-number"]
    if "added-rows" in snapshot and isinstance(metadata.get("next-row-id"), int):
        due["next-row-id"] = snapshot["first-row-id"] + snapshot["added-rows"]
    return due


def _with_ref(metadata: Metadata, update: Json) -> Json:
    ref = {k: v for k, v in update.items() if k not in {"action", "ref-name"}}
    due: Json = {"refs": {**(metadata.get("refs") or {}), update["ref-name"]: ref}}
    if update["ref-name"] == "main":
        due["current-snapshot-id"] = update["snapshot-id"]
    return due


def _appended(metadata: Metadata, ref: Json, snapshot: Json) -> Growth:
    due = _with_snapshot(metadata, snapshot) | _with_ref(metadata, ref)
    updates = [{"action": "add-snapshot", "snapshot": snapshot}, ref]
    # The first row id is not compared if the table does not show one before the commit, as when the
    # same commit upgrades it to version 3.
    return Growth(updates, due, free=() if "next-row-id" in due else ("next-row-id",))


def snapshots(metadata: Metadata) -> Growth:
    """Add two snapshots, the first with the first schema, and set main to the second."""
    first = _snapshot(metadata, 1, None, schema_id=metadata["schemas"][0]["schema-id"])
    with_first = _with_snapshot(metadata, first)
    second = _snapshot({**metadata, **with_first}, 2, first["snapshot-id"])
    ref = bodies.snapshot_ref(second["snapshot-id"])
    growth = _appended({**metadata, **with_first}, ref, second)
    updates = [{"action": "add-snapshot", "snapshot": first}, *growth.updates]
    return Growth(updates, growth.due, growth.free)


def ahead(metadata: Metadata) -> Growth:
    """Add two snapshots that main does not have, and a branch at the second."""
    first = _snapshot(metadata, 3, metadata["current-snapshot-id"])
    ref = bodies.snapshot_ref(first["snapshot-id"], AHEAD, "branch", **_RETENTION)
    growth = _appended(metadata, ref, first)
    second = _snapshot({**metadata, **growth.due}, 5, first["snapshot-id"])
    ref = bodies.snapshot_ref(second["snapshot-id"], AHEAD, "branch", **_RETENTION)
    further = _appended({**metadata, **growth.due}, ref, second)
    return Growth([*growth.updates, *further.updates], {**growth.due, **further.due}, further.free)


def tagged(metadata: Metadata) -> Growth:
    """Tag the first snapshot and the branch's snapshot that main does not have."""
    first = metadata["snapshots"][0]["snapshot-id"]
    tags = [bodies.snapshot_ref(first, TAG, "tag", max_ref_age_ms=2**53 + 1)]
    if branch := metadata["refs"].get(AHEAD):
        tags.append(bodies.snapshot_ref(branch["snapshot-id"], TAG.upper(), "tag"))
    due: Json = {}
    for tag in tags:
        due |= _with_ref({**metadata, **due}, tag)
    return Growth(tags, due)


def rolled_back(metadata: Metadata) -> Growth:
    """Set main back to the first snapshot."""
    main = bodies.snapshot_ref(metadata["snapshots"][0]["snapshot-id"])
    return Growth([main], _with_ref(metadata, main))


def snapshot_on_main(metadata: Metadata) -> Growth:
    """Add a snapshot to main."""
    snapshot = _snapshot(metadata, 4, metadata["current-snapshot-id"])
    return _appended(metadata, bodies.snapshot_ref(snapshot["snapshot-id"]), snapshot)


def branch_gone(metadata: Metadata) -> Growth:
    """Remove the branch; its snapshot stays."""
    left = {name: ref for name, ref in metadata["refs"].items() if name != AHEAD}
    return Growth([{"action": "remove-snapshot-ref", "ref-name": AHEAD}], {"refs": left})


def snapshot_gone(metadata: Metadata) -> Growth:
    """Remove the snapshot before the last one added; the branch's tag names the last one."""
    gone = metadata["snapshots"][-2]["snapshot-id"]
    update = {"action": "remove-snapshots", "snapshot-ids": [gone]}
    left = [each for each in metadata["snapshots"] if each["snapshot-id"] != gone]
    return Growth([update], {"snapshots": left})


# ---- statistics and encryption keys


def files(metadata: Metadata) -> Growth:
    """Set statistics and partition statistics of two snapshots."""
    table = Table((), "", dict(metadata), None)
    ids = [each["snapshot-id"] for each in metadata["snapshots"][:2]]
    files = [statistics_file(table, each, at) for at, each in enumerate(ids, start=1)]
    of_partitions = [partition_statistics_file(table, each, at) for at, each in enumerate(ids, 1)]
    updates = [*map(set_statistics, files), *map(set_partition_statistics, of_partitions)]
    return Growth(updates, {"statistics": files, "partition-statistics": of_partitions})


def fewer_files(metadata: Metadata) -> Growth:
    """Remove the statistics of one snapshot and the partition statistics of the other."""
    first, second = (each["snapshot-id"] for each in metadata["snapshots"][:2])

    def without(member: str, gone: int) -> list[Json]:
        return [each for each in metadata[member] if each["snapshot-id"] != gone]

    updates = [
        {"action": "remove-statistics", "snapshot-id": first},
        {"action": "remove-partition-statistics", "snapshot-id": second},
    ]
    due = {
        "statistics": without("statistics", first),
        "partition-statistics": without("partition-statistics", second),
    }
    return Growth(updates, due)


def keys(metadata: Metadata) -> Growth:
    """Add two encryption keys; the first encrypts the second."""
    keys: list[Json] = [
        {"key-id": name, "encrypted-key-metadata": encoded, "properties": {"of": name}}
        for name, encoded in (("key-1", "+/+/"), ("key-2", "AA=="))
    ]
    keys[1]["encrypted-by-id"] = "key-1"
    updates = [{"action": "add-encryption-key", "encryption-key": key} for key in keys]
    known = metadata.get("encryption-keys") or []
    return Growth(updates, {"encryption-keys": [*known, *keys]})


def one_key(metadata: Metadata) -> Growth:
    """Remove the first of two encryption keys."""
    left = [key for key in metadata["encryption-keys"] if key["key-id"] != "key-1"]
    update = {"action": "remove-encryption-key", "key-id": "key-1"}
    return Growth([update], {"encryption-keys": left})
