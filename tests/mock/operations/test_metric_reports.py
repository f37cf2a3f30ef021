"""Reports about scans and commits of tables: what is one, and about what."""

from typing import Any

import httpx
import pytest

COUNTER = {"unit": "count", "value": 1}
TIMER = {"time-unit": "nanoseconds", "count": 1, "total-duration": 5}
COMMIT_REPORT = {
    "report-type": "commit-report",
    "table-name": "wh.ns.t",
    "snapshot-id": 1,
    "sequence-number": 1,
    "operation": "append",
    "metrics": {"attempts": COUNTER, "total-duration": TIMER},
    "metadata": {},
}
SCAN_REPORT = {
    "report-type": "scan-report",
    "table-name": "wh.ns.t",
    "snapshot-id": 1,
    "filter": True,
    "schema-id": 0,
    "projected-field-ids": [1],
    "projected-field-names": ["id"],
    "metrics": {},
}


@pytest.mark.parametrize(
    "report", [COMMIT_REPORT, SCAN_REPORT, {**SCAN_REPORT, "report-type": "other"}]
)
def test_a_report_about_a_table_is_accepted(
    http: httpx.Client, table: str, report: dict[str, Any]
) -> None:
    response = http.post(f"{table}/metrics", json=report)
    assert (response.status_code, response.content) == (204, b"")


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"report-type": "scan-report"},
        {"report-type": "other"},
        {**COMMIT_REPORT, "metrics": {"attempts": {"unit": "count"}}},
        {**COMMIT_REPORT, "snapshot-id": "1"},
        {**COMMIT_REPORT, "report-type": "scan-report"},
    ],
)
def test_a_report_that_is_none_is_400_also_for_unknown_tables(
    http: httpx.Client, table: str, report: dict[str, Any]
) -> None:
    assert http.post(f"{table}/metrics", json=report).status_code == 400
    assert http.post("/namespaces/no/tables/t/metrics", json=report).status_code == 400
