"""Finds entries of a table's or view's metadata that are listed twice by their id."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

SNAPSHOTS = "snapshots"
_IDS = {
    SNAPSHOTS: "snapshot-id",
    "schemas": "schema-id",
    "partition-specs": "spec-id",
    "sort-orders": "order-id",
    "statistics": "snapshot-id",
    "partition-statistics": "snapshot-id",
    "versions": "version-id",
}
"""The lists of metadata, and the member that identifies their entries."""


def repeated(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each member of metadata that lists an id twice, with the id."""
    for member, name in _IDS.items():
        entries = metadata.get(member)
        if not isinstance(entries, list):
            continue
        ids = [entry.get(name) for entry in entries if isinstance(entry, dict)]
        times = Counter(id_ for id_ in ids if isinstance(id_, int | str))
        for id_, count in times.items():
            if count > 1:
                yield member, f"{name} {id_} is listed {count} times"
                break
