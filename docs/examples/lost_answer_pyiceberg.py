"""PyIceberg loses the answer of an append, looks what became of it, and ends with one row.

Run it: `python lost_answer_pyiceberg.py`. It needs `icecheck[suite]` and PyArrow.
"""

import uuid

import pyarrow as pa
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException
from pyiceberg.table import Table
from requests.exceptions import ConnectionError as ConnectionLost

from icecheck.mock_server import MockCatalog

ROWS = pa.table({"id": pa.array([1], pa.int64())})
ATTEMPTS_MAX = 3


def append_once(table: Table, rows: pa.Table) -> int:
    """Append rows exactly once, whatever happens to the answer; return how often it was tried.

    The snapshot bears a name of its own. After an error nobody knows whether the catalog
    committed it, so the table is asked before anything is sent again.
    """
    run_id = str(uuid.uuid4())
    for attempt in range(1, ATTEMPTS_MAX + 1):
        try:
            table.append(rows, snapshot_properties={"run-id": run_id})
            return attempt
        except (ConnectionLost, CommitStateUnknownException, CommitFailedException):
            snapshots = table.refresh().snapshots()
            if any(s.summary and s.summary.get("run-id") == run_id for s in snapshots):
                return attempt
    raise RuntimeError(f"the append failed {ATTEMPTS_MAX} times")


def main() -> None:
    """Lose the answer of a commit that was applied, then that of one that was not."""
    with MockCatalog() as mock:
        catalog = mock.pyiceberg("wh")
        catalog.create_namespace("db")
        for fault in ("answer-lost", "connection-dropped"):
            table = catalog.create_table(f"db.{fault}", ROWS.schema)
            with mock.fault(fault, table=f"db.{fault}") as rule:
                attempts = append_once(table, ROWS)
            count = table.scan().to_arrow().num_rows
            print(f"{fault}: fired {rule.fired}, attempts {attempts}, rows {count}")


if __name__ == "__main__":
    main()
