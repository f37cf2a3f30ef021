"""What a check needs of a commit with several snapshots: that the catalog has kept all of them."""

from collections.abc import Sequence
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_loaded
from icecheck.judging.probes import has_capability
from icecheck.replies.expect import Blocked

Json = Any


def require_kept(catalog: Catalog, table: Table, snapshots: Sequence[Json]) -> None:
    """Raise Blocked if snapshots of an accepted commit are neither answered nor loaded.

    ``table`` is as the commit answered it. A catalog may keep only the current snapshot.
    """
    if not _missing(table, snapshots):
        return
    missing = _missing(given_loaded(catalog, table), snapshots)
    if missing and has_capability(catalog, "snapshot-history"):
        why = f"of {len(snapshots)} snapshots in an accepted commit, {missing} are missing"
        raise Blocked("update.add-snapshot.effect", why)


def _missing(table: Table, snapshots: Sequence[Json]) -> int:
    """Return how many of these snapshots the metadata of a table does not have."""
    shown = table.metadata.get("snapshots") or ()
    return len({each["snapshot-id"] for each in snapshots} - {s.get("snapshot-id") for s in shown})
