"""Defects of reportMetrics: metrics reports that are accepted or refused wrongly."""

from collections.abc import Callable
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.remembering import remembering
from icecheck.mock_server.defects.kit.requests import Json, sent_json, with_content
from icecheck.mock_server.defects.kit.rewriting import Faithful, answer_status, refuse_as, wrap
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem


def _refuse_where(registries: Registries, unread: Callable[[Json], Any]) -> None:
    """Let reportMetrics refuse (400) the reports for which `unread` holds."""
    refuse_where(registries, "reportMetrics", lambda _, call: unread(sent_json(call)))


@defect(
    "metrics-type-unread",
    on="reportMetrics",
    breaks="reportMetrics.mismatched-report",
    suffering="Commits are counted as scans.",
)
def _type_unread(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The members of a report are not compared with its type."""
    body = sent_json(call)
    if "report-type" not in body:
        return faithful(state, call)
    kind = "scan-report" if "filter" in body else "commit-report"
    raw = msgspec.json.encode(body | {"report-type": kind})
    return faithful(state, with_content(call, raw))


@defect(
    "metrics-of-any-table",
    on="reportMetrics",
    breaks="reportMetrics.404",
    suffering="A misspelled table name fills the statistics with nothing.",
)
def _of_any_table(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Whether the table exists is not looked at."""
    if state.table(call.namespace, call.name) is None:
        return Outcome(state, replies.NO_CONTENT)
    return faithful(state, call)


def _metrics_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    metrics = body.get("metrics")
    return [*metrics.values()] if isinstance(metrics, dict) else []


@defect(
    "metrics-timers-in-32-bits",
    on=through(_refuse_where),
    breaks="reportMetrics.every-value",
    suffering="Reports of scans that took longer than two seconds are lost.",
)
def _timers_in_32_bits(body: dict[str, Any]) -> bool:
    """Numbers of metrics are read into 32 bits."""
    numbers = [n for each in _metrics_of(body) for n in each.values() if isinstance(n, int)]
    return any(n > 2**32 for n in numbers)


declare_each(
    ("metrics-filter-must-be-an-object", "reportMetrics.unfiltered-scan",
     "The filter is validated by its schema to the letter, which knows no bare booleans.",
     "Every scan of Spark without a filter logs a warning.",
     by(_refuse_where, lambda body: isinstance(body.get("filter"), bool))),
    ("metrics-200", "reportMetrics.204", "A report is answered 200.",
     "Strict clients take the report for lost.", by(answer_status, "reportMetrics", 200)),
    ("metrics-of-commits-only", "reportMetrics.scan-report", "Scan reports are refused.",
     "Every query of a client logs a warning.",
     by(_refuse_where, lambda body: body.get("report-type") == "scan-report")),
    ("metrics-of-scans-only", "reportMetrics.commit-report", "Commit reports are refused.",
     "Every write of a client logs a warning.",
     by(_refuse_where, lambda body: body.get("report-type") == "commit-report")),
    ("metrics-unread", "reportMetrics.400", "Reports are thrown away unread, whatever they are.",
     "Reports that mean nothing are stored.", by(refuse_as, "reportMetrics", 400, 204)),
    ("metrics-malformed-500", "reportMetrics.400", "The parser's error is caught by nobody.",
     "A client's mistake is reported as a failure of the server.",
     by(refuse_as, "reportMetrics", 400, 500, "InternalServerError")),
    ("metrics-nanoseconds-only", "reportMetrics.every-value",
     "Timers are understood in nanoseconds only.",
     "Clients that measure otherwise log a warning for each report.",
     by(
         _refuse_where,
         lambda body: any(
             m.get("time-unit", "nanoseconds") != "nanoseconds" for m in _metrics_of(body)
         ),
     )),
    ("metrics-filter-of-columns-only", "reportMetrics.every-value",
     "A filter with a transformed column is not understood.",
     "Scans that filter by a function of a column log a warning.",
     by(
         _refuse_where,
         lambda body: (
             isinstance(body.get("filter"), dict) and isinstance(body["filter"].get("term"), dict)
         ),
     )),
)  # fmt: skip


@defect(
    "metrics-once",
    on=remembering(set, wrap, "reportMetrics"),
    breaks="reportMetrics.twice",
    suffering="A client that repeats a report after a timeout logs a warning.",
)
def _once(seen: set[bytes], faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A report that was taken before is a conflict."""
    outcome = faithful(state, call)
    if call.request.body in seen:
        raise Problem(409, "ConflictException", "The report exists")
    seen.add(call.request.body)
    return outcome


@defect(
    "metrics-of-the-current-schema-only",
    on="reportMetrics",
    breaks="reportMetrics.every-value",
    suffering="Nobody sees who reads a table with columns that it had before.",
)
def _current_schema_only(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A scan report of another schema than the table's current one is refused."""
    entry = state.table(call.namespace, call.name)
    named = sent_json(call).get("schema-id")
    older = [] if entry is None else [each.schema_id for each in entry.metadata.schemas]
    if entry is not None and named in older and named != entry.metadata.current_schema_id:
        raise problem.bad_request(f"Unknown schema: {named}")
    return faithful(state, call)
