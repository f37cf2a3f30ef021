"""Statistics files as clients commit them, and the updates that set them."""

from typing import Any

from icecheck.client.catalog import Table

__all__ = [
    "partition_statistics_file",
    "set_partition_statistics",
    "set_statistics",
    "statistics_file",
]

Json = dict[str, Any]


def statistics_file(table: Table, snapshot_id: int, ordinal: int = 1) -> Json:
    """Return a statistics file of a snapshot; another ordinal gives another file."""
    blob = {
        "type": "apache-datasketches-theta-v1",
        "snapshot-id": snapshot_id,
        "sequence-number": 1,
        "fields": [1],
        "properties": {"ndv": str(ordinal)},
    }
    return {
        "snapshot-id": snapshot_id,
        "statistics-path": f"{table.metadata.get('location')}/metadata/{ordinal}.stats",
        "file-size-in-bytes": 400 + ordinal,
        "file-footer-size-in-bytes": 40,
        "blob-metadata": [blob],
    }


def partition_statistics_file(table: Table, snapshot_id: int, ordinal: int = 1) -> Json:
    """Return a partition statistics file of a snapshot; another ordinal gives another file."""
    return {
        "snapshot-id": snapshot_id,
        "statistics-path": f"{table.metadata.get('location')}/metadata/{ordinal}.parquet",
        "file-size-in-bytes": 400 + ordinal,
    }


def set_statistics(file: Json) -> Json:
    """Return the update that sets a statistics file, with the deprecated snapshot id.

    Java clients send it, and before 1.8.0 it was required.
    """
    return {"action": "set-statistics", "snapshot-id": file["snapshot-id"], "statistics": file}


def set_partition_statistics(file: Json) -> Json:
    """Return the update that sets a partition statistics file."""
    return {"action": "set-partition-statistics", "partition-statistics": file}
