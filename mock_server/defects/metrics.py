"""Ways in which servers take or refuse metrics reports wrongly."""

from collections.abc import Callable
from typing import Any

import msgspec

from icecheck.mock_server import problem, replies
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import answer_status, refuse_as, sent_json, wrap
from icecheck.mock_server.problem import Problem
from icecheck.mock_server.state import WarehouseState


def _refuse_reports(registries: Registries, member: str, value: Any) -> None:
    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if sent_json(call).get(member) == value:
            raise problem.bad_request(f"Cannot read {member}: {value}")
        return faithful(context, state, call)

    wrap(registries, "reportMetrics", around)


@defect(
    "metrics-200",
    breaks="reportMetrics.204",
    suffering="Strict clients take the report for lost.",
)
def _metrics_200(registries: Registries) -> None:
    """A report is answered 200."""
    answer_status(registries, "reportMetrics", 200)


@defect(
    "metrics-of-commits-only",
    breaks="reportMetrics.scan-report",
    suffering="Every query of a client logs a warning.",
)
def _commits_only(registries: Registries) -> None:
    """Scan reports are refused."""
    _refuse_reports(registries, "report-type", "scan-report")


@defect(
    "metrics-of-scans-only",
    breaks="reportMetrics.commit-report",
    suffering="Every write of a client logs a warning.",
)
def _scans_only(registries: Registries) -> None:
    """Commit reports are refused."""
    _refuse_reports(registries, "report-type", "commit-report")


@defect(
    "metrics-filter-must-be-an-object",
    breaks="reportMetrics.unfiltered-scan",
    suffering="Every scan of Spark without a filter logs a warning.",
)
def _filter_must_be_an_object(registries: Registries) -> None:
    """The filter is validated by its schema to the letter, which knows no bare booleans."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if isinstance(sent_json(call).get("filter"), bool):
            raise problem.bad_request("True is not of type 'object'")
        return faithful(context, state, call)

    wrap(registries, "reportMetrics", around)


@defect(
    "metrics-unread",
    breaks="reportMetrics.400",
    suffering="Reports that mean nothing are stored.",
)
def _unread(registries: Registries) -> None:
    """Reports are thrown away unread, whatever they are."""
    refuse_as(registries, "reportMetrics", 400, 204)


@defect(
    "metrics-malformed-500",
    breaks="reportMetrics.400",
    suffering="A client's mistake is reported as a failure of the server.",
)
def _malformed_500(registries: Registries) -> None:
    """The parser's error is caught by nobody."""
    refuse_as(registries, "reportMetrics", 400, 500, "InternalServerError")


@defect(
    "metrics-type-unread",
    breaks="reportMetrics.mismatched-report",
    suffering="Commits are counted as scans.",
)
def _type_unread(registries: Registries) -> None:
    """The members of a report are not compared with its type."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        body = sent_json(call)
        if "report-type" not in body:
            return faithful(context, state, call)
        kind = "scan-report" if "filter" in body else "commit-report"
        raw = msgspec.json.encode(body | {"report-type": kind})
        request = msgspec.structs.replace(call.request, body=raw)
        return faithful(context, state, msgspec.structs.replace(call, request=request))

    wrap(registries, "reportMetrics", around)


@defect(
    "metrics-of-any-table",
    breaks="reportMetrics.404",
    suffering="A misspelled table name fills the statistics with nothing.",
)
def _of_any_table(registries: Registries) -> None:
    """Whether the table exists is not looked at."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if state.table(call.namespace, call.name) is None:
            return Outcome(state, replies.NO_CONTENT)
        return faithful(context, state, call)

    wrap(registries, "reportMetrics", around)


def _refuse_where(registries: Registries, unread: Callable[[dict[str, Any]], bool]) -> None:
    """Refuse (400) the reports of which this holds."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if unread(sent_json(call)):
            raise problem.bad_request("Cannot read the report")
        return faithful(context, state, call)

    wrap(registries, "reportMetrics", around)


def _metrics_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    metrics = body.get("metrics")
    return [*metrics.values()] if isinstance(metrics, dict) else []


@defect(
    "metrics-timers-in-32-bits",
    breaks="reportMetrics.every-value",
    suffering="Reports of scans that took longer than two seconds are lost.",
)
def _timers_in_32_bits(registries: Registries) -> None:
    """Numbers of metrics are read into 32 bits."""

    def beyond(body: dict[str, Any]) -> bool:
        numbers = [n for each in _metrics_of(body) for n in each.values() if isinstance(n, int)]
        return any(n > 2**32 for n in numbers)

    _refuse_where(registries, beyond)


@defect(
    "metrics-nanoseconds-only",
    breaks="reportMetrics.every-value",
    suffering="Clients that measure otherwise log a warning for each report.",
)
def _nanoseconds_only(registries: Registries) -> None:
    """Timers are understood in nanoseconds only."""
    _refuse_where(
        registries,
        lambda body: any(
            m.get("time-unit", "nanoseconds") != "nanoseconds" for m in _metrics_of(body)
        ),
    )


@defect(
    "metrics-filter-of-columns-only",
    breaks="reportMetrics.every-value",
    suffering="Scans that filter by a function of a column log a warning.",
)
def _filter_of_columns_only(registries: Registries) -> None:
    """A filter with a transformed column is not understood."""

    def transformed(body: dict[str, Any]) -> bool:
        filter_ = body.get("filter")
        return isinstance(filter_, dict) and isinstance(filter_.get("term"), dict)

    _refuse_where(registries, transformed)


@defect(
    "metrics-once",
    breaks="reportMetrics.twice",
    suffering="A client that repeats a report after a timeout logs a warning.",
)
def _once(registries: Registries) -> None:
    """A report that was taken before is a conflict."""
    seen: set[bytes] = set()

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        if call.request.body in seen:
            raise Problem(409, "ConflictException", "The report exists")
        seen.add(call.request.body)
        return outcome

    wrap(registries, "reportMetrics", around)


@defect(
    "metrics-of-the-current-schema-only",
    breaks="reportMetrics.every-value",
    suffering="Nobody sees who reads a table with columns that it had before.",
)
def _current_schema_only(registries: Registries) -> None:
    """A scan report of another schema than the table's current one is refused."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        named = sent_json(call).get("schema-id")
        older = [] if entry is None else [each.schema_id for each in entry.metadata.schemas]
        if entry is not None and named in older and named != entry.metadata.current_schema_id:
            raise problem.bad_request(f"Unknown schema: {named}")
        return faithful(context, state, call)

    wrap(registries, "reportMetrics", around)
