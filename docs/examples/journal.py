"""What a client asked for: waited for while it works, compared as a sequence, and kept as HAR.

Run it: `python journal.py`. It needs `icecheck[suite]` and PyArrow.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa

from icecheck.mock_server import MockCatalog

ROWS = pa.table({"id": pa.array([1, 2], pa.int64())})


def job(mock: MockCatalog) -> None:
    """Make a table and write to it, as the program would that is tested."""
    catalog = mock.pyiceberg("wh")
    catalog.create_namespace("db")
    catalog.create_table("db.t", ROWS.schema).append(ROWS)


def main() -> None:
    """Run a job beside the test, and look at what came of it."""
    with MockCatalog() as mock, ThreadPoolExecutor() as beside:
        ended = beside.submit(job, mock)
        (commit,) = mock.journal.wait_for("updateTable", table="db.t", timeout=30)
        ended.result()
        actions = [update["action"] for update in json.loads(commit.request_body)["updates"]]
        assert commit.status == 200
        mock.journal.assert_sequence(
            ["getConfig", "createNamespace", "createTable", "updateTable"],
            ignore=["loadTable", "reportMetrics"],
            warehouse="wh",
        )
        assert mock.journal.count(status=409) == 0
        mock.journal.save("run.har")
        kept = json.loads(Path("run.har").read_text(encoding="utf-8"))["log"]["entries"]
        assert len(kept) == len(mock.journal)
        print(f"the commit: {', '.join(actions)}; every request is in run.har")


if __name__ == "__main__":
    main()
