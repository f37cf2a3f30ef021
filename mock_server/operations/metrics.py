"""reportMetrics: a report is checked; the journal counts it, and nothing else is kept."""

from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.operations.tables import existing_table
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.json_input import decode_json


class MetricResult(msgspec.Struct, frozen=True, rename="kebab"):
    """A counter (unit, value) or a timer (time-unit, count, total-duration)."""

    unit: str | None = None
    value: int | None = None
    time_unit: str | None = None
    count: int | None = None
    total_duration: int | None = None

    def is_complete(self) -> bool:
        """Return whether the result is a complete counter or a complete timer."""
        timer = (self.time_unit, self.count, self.total_duration)
        return None not in (self.unit, self.value) or None not in timer


class ReportKind(msgspec.Struct, frozen=True, rename="kebab"):
    """The member that every report has: its type."""

    report_type: str


class ScanReport(msgspec.Struct, frozen=True, rename="kebab"):
    """The measurements of a client's scan planning (document L3788).

    The filter is not checked: Java writes constants as bare JSON booleans.
    """

    table_name: str
    snapshot_id: int
    filter: Any
    schema_id: int
    projected_field_ids: tuple[int, ...]
    projected_field_names: tuple[str, ...]
    metrics: dict[str, MetricResult]
    metadata: dict[str, str] | None = None


class CommitReport(msgspec.Struct, frozen=True, rename="kebab"):
    """The measurements of a client's commit (document L3823)."""

    table_name: str
    snapshot_id: int
    sequence_number: int
    operation: str
    metrics: dict[str, MetricResult]
    metadata: dict[str, str] | None = None


@operation("reportMetrics")
def report_metrics(_context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Accept a report about a table; 404 if there is no such table.

    Java reports the commit that creates a table before it sends that commit, and ignores the 404
    that the document prescribes.
    """
    report = _decoded(call.request.body)
    if not all(metric.is_complete() for metric in report.metrics.values()):
        raise problem.bad_request("A metric must be a counter or a timer")
    existing_table(state, call)
    return Outcome(state, replies.NO_CONTENT)


def _decoded(body: bytes) -> ScanReport | CommitReport:
    match decode_json(ReportKind, body).report_type:
        case "scan-report":
            return decode_json(ScanReport, body)
        case "commit-report":
            return decode_json(CommitReport, body)
        case _:
            # The document names no report types: any type is accepted if the report has one of two
            # shapes.
            try:
                return decode_json(ScanReport, body)
            except problem.Problem:
                return decode_json(CommitReport, body)
