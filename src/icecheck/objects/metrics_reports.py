"""Metrics reports as clients send them, for a scan and for a commit."""

from typing import Any

from icecheck.client.catalog import Table

_COUNTER = {"unit": "count", "value": 1}
_TIMER = {"count": 1, "time-unit": "nanoseconds", "total-duration": 2644235116}


def scan_report(table: Table, filter_: Any = None) -> dict[str, Any]:
    """Return a scan report with every member of the schema, as Java sends it."""
    wanted = {"type": "eq", "term": "id", "value": 1} if filter_ is None else filter_
    return {
        "report-type": "scan-report",
        "table-name": ".".join((*table.namespace, table.name)),
        "snapshot-id": 7_000_000_000_000_000_001,
        "filter": wanted,
        "schema-id": 0,
        "projected-field-ids": [1, 2],
        "projected-field-names": ["id", "data"],
        "metrics": {"total-planning-duration": _TIMER, "result-data-files": _COUNTER},
        "metadata": {"engine-name": "icecheck"},
    }


def commit_report(table: Table) -> dict[str, Any]:
    """Return a commit report with every member of the schema."""
    return {
        "report-type": "commit-report",
        "table-name": ".".join((*table.namespace, table.name)),
        "snapshot-id": 7_000_000_000_000_000_001,
        "sequence-number": 1,
        "operation": "append",
        "metrics": {"total-duration": _TIMER, "attempts": _COUNTER},
        "metadata": {"engine-name": "icecheck"},
    }
