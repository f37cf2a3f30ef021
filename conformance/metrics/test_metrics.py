"""Checks of reportMetrics: valid reports are accepted, invalid ones refused."""

from typing import Any

from icecheck.client.catalog import NO_BODY, Catalog
from icecheck.client.given import shared_table
from icecheck.judging.check import check
from icecheck.objects.metrics_reports import commit_report, scan_report
from icecheck.targets.target import Namespace


@check("reportMetrics.succeeds", proves="reportMetrics.204")
def test_report(catalog: Catalog) -> None:
    """A metrics report is answered 204."""
    table = shared_table(catalog)
    catalog.report_metrics(table.namespace, table.name, commit_report(table)).expect(204)


@check("reportMetrics.scan", proves="reportMetrics.scan-report")
def test_scan_report(catalog: Catalog) -> None:
    """A scan report is accepted."""
    table = shared_table(catalog)
    catalog.report_metrics(table.namespace, table.name, scan_report(table)).expect(200, 204)


@check("reportMetrics.commit", proves="reportMetrics.commit-report")
def test_commit_report(catalog: Catalog) -> None:
    """A commit report is accepted."""
    table = shared_table(catalog)
    catalog.report_metrics(table.namespace, table.name, commit_report(table)).expect(200, 204)


@check("reportMetrics.bare-true-filter", proves="reportMetrics.unfiltered-scan")
def test_unfiltered_scan(catalog: Catalog) -> None:
    """A scan report whose filter is the bare boolean true is accepted, as Spark sends it."""
    table = shared_table(catalog)
    report = scan_report(table, filter_=True)
    catalog.report_metrics(table.namespace, table.name, report).expect(200, 204)


@check("reportMetrics.malformed-refused", proves="reportMetrics.400")
def test_malformed_bodies(catalog: Catalog) -> None:
    """A report with an unusable body is refused with 400."""
    table = shared_table(catalog)
    report = commit_report(table)
    wrong: dict[str, Any] = {
        "no body": NO_BODY,
        "no JSON": b"{",
        "no object": [report],
        "no report-type": {k: v for k, v in report.items() if k != "report-type"},
    }
    names: dict[str, str | Namespace] = {"namespace": table.namespace, "table": table.name}
    for what, body in wrong.items():
        catalog.call("reportMetrics", names, body=body).expect(400, detail=f"sent {what}")


@check("reportMetrics.wrong-members", proves="reportMetrics.mismatched-report")
def test_mismatched_report(catalog: Catalog) -> None:
    """A report whose members are not those of its type is refused."""
    table = shared_table(catalog)
    report = {**commit_report(table), "report-type": "scan-report"}
    catalog.report_metrics(table.namespace, table.name, report).expect(400)


@check("reportMetrics.missing-table", proves="reportMetrics.404")
def test_missing_table(catalog: Catalog) -> None:
    """A report about a table that does not exist is refused."""
    table = shared_table(catalog)
    catalog.report_metrics(table.namespace, catalog.new_name(), commit_report(table)).expect(404)
