"""A catalog is throttled: every third load is refused with 429, and the job has to try again.

Run it: `python throttled_pyiceberg.py`. It needs `icecheck[suite]` and PyArrow.
"""

import time

import pyarrow as pa
from pyiceberg.exceptions import RESTError
from pyiceberg.table import Table

from icecheck.mock_server import MockCatalog

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64())})
ATTEMPTS_MAX = 3


def load_patiently(catalog, name: str) -> Table:
    """Load a table; PyIceberg does not come back by itself when it is told to slow down."""
    for attempt in range(1, ATTEMPTS_MAX + 1):
        try:
            return catalog.load_table(name)
        except RESTError as error:
            if attempt == ATTEMPTS_MAX or "TooManyRequests" not in str(error):
                raise
            time.sleep(0.01 * attempt)
    raise AssertionError("not reached")


def main() -> None:
    """Load a table ten times while every third request is refused."""
    with MockCatalog() as mock:
        catalog = mock.pyiceberg("wh")
        catalog.create_namespace("db")
        catalog.create_table("db.events", ROWS.schema).append(ROWS)
        with mock.fault("throttled", operation="loadTable", every=3, times=0, strict=True) as rule:
            counts = [load_patiently(catalog, "db.events").scan().count() for _ in range(10)]
        refused = mock.journal.count("loadTable", status=429, fault=rule.id)
        print(f"read {sum(counts)} rows in {len(counts)} loads, {refused} refused")


if __name__ == "__main__":
    main()
