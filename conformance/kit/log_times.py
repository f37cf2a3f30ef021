"""What the times of a table's logs have in common with its last update, in any state."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from icecheck.findings.symptoms import Severity, declare
from icecheck.objects import metadata_view as view
from icecheck.replies.expect import Reply

_LOG_OUT_OF_ORDER = declare(
    "log-out-of-order", "The times of a table's logs do not run forwards", Severity.SHAPE
)
_TOLERANCE_MS = 60_000
"""The tolerance by which Java accepts that a log's times run backwards, in milliseconds."""
_UPDATED = "last-updated-ms"


def expect_times_in_order(reply: Reply, before: Mapping[str, Any] | None = None) -> None:
    """Judge that the times of both logs run forwards, up to that of the last update.

    With the metadata from ``before`` a commit, the time of the last update does, too.
    """
    metadata = view.metadata_in(reply)
    updated = metadata.get(_UPDATED)
    logs = {
        log: [*(each.get("timestamp-ms") for each in metadata.get(log) or ()), updated]
        for log in ("snapshot-log", "metadata-log")
    }
    logs[_UPDATED] = [(before or {}).get(_UPDATED), updated]
    for log, times in logs.items():
        known = [time for time in times if isinstance(time, int)]
        if any(later < earlier - _TOLERANCE_MS for earlier, later in pairwise(known)):
            raise reply.violation(
                _LOG_OUT_OF_ORDER,
                f"times that run forwards, up to {_UPDATED}",
                "a time after a later one",
                detail=f"{log}: {known}",
                pointer=f"/metadata/{log}",
            )
