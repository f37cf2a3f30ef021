"""The catalog plans a scan: it is submitted, polled, completed, and its tasks come in parts.

Run it: `python planned_scan.py`. It needs `icecheck[suite]` and PyArrow. PyIceberg asks a catalog
that answers at once; it does not poll, which a few lines of httpx do here.
"""

import httpx
import pyarrow as pa

from icecheck.mock_server import MockCatalog, PlanningMode, PlanningSettings

SCHEMA = pa.schema([("id", pa.int64())])
FILES = 5


def filled(mock: MockCatalog, **properties: str):
    """Return a table of five files with the numbers 0 to 4."""
    catalog = mock.pyiceberg("wh", **properties)
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", SCHEMA)
    for number in range(FILES):
        table.append(pa.table({"id": pa.array([number], pa.int64())}))
    return catalog.load_table("db.t")


def planned(http: httpx.Client, scan: dict) -> tuple[list[str], list[str]]:
    """Return every status that a plan had, and the files that it names."""
    answer = http.post("/plan", json=scan).raise_for_status().json()
    seen, plan_id = [answer["status"]], answer["plan-id"]
    while answer["status"] == "submitted":
        answer = http.get(f"/plan/{plan_id}").raise_for_status().json()
        seen.append(answer["status"])
    tasks = answer.get("file-scan-tasks", [])
    for plan_task in answer.get("plan-tasks", []):
        more = http.post("/tasks", json={"plan-task": plan_task}).raise_for_status().json()
        tasks += more["file-scan-tasks"]
    return seen, sorted(task["data-file"]["file-path"] for task in tasks)


def main() -> None:
    """Poll a plan until it is completed, and let PyIceberg use one that is so at once."""
    waiting = PlanningSettings(mode=PlanningMode.ASYNC, polls_until_ended=2, files_per_task=2)
    with MockCatalog(planning=waiting) as mock:
        table = filled(mock)
        with httpx.Client(base_url=f"{mock.uri}/v1/wh/namespaces/db/tables/t") as http:
            seen, files = planned(http, {"filter": {"type": "lt", "term": "id", "value": 3}})
        here = sorted(task.file.file_path for task in table.scan("id < 3").plan_files())
        assert files == here
        parts = mock.journal.count("fetchScanTasks")
        print(f"{', '.join(seen)}: {len(files)} of {FILES} files, {parts} more part")

    with MockCatalog() as mock:
        table = filled(mock, **{"scan-planning-mode": "server"})
        found = sorted(table.scan("id < 3").to_arrow()["id"].to_pylist())
        assert mock.journal.count("planTableScan", status=200) == 1
        print(f"PyIceberg reads {found} by the catalog's plan")


if __name__ == "__main__":
    main()
