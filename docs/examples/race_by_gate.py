"""Two writers race, and the gate decides who is first: what happens once in a thousand runs.

Run it: `python race_by_gate.py`. It needs `icecheck[suite]` and PyArrow.
"""

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
from pyiceberg.exceptions import CommitFailedException

from icecheck.mock_server import MockCatalog


def append(mock: MockCatalog, value: int) -> str:
    """Append a row as a writer of its own; say how that ended."""
    table = mock.pyiceberg("wh").load_table("db.t")
    try:
        table.append(pa.table({"id": pa.array([value], pa.int64())}))
    except CommitFailedException:
        return "conflict"
    return "committed"


def main() -> None:
    """Hold both commits until both have arrived, and let the second one go first."""
    with MockCatalog() as mock, ThreadPoolExecutor(2) as writers:
        catalog = mock.pyiceberg("wh")
        catalog.create_namespace("db")
        # PyIceberg would try again by itself; here the conflict is to be seen.
        properties = {"commit.retry.num-retries": "0"}
        schema = pa.schema([("id", pa.int64())])
        catalog.create_table("db.t", schema, properties=properties)
        with mock.gate("updateTable", table="db.t", holds=2) as gate:
            first = writers.submit(append, mock, 1)
            gate.wait_for(1)
            second = writers.submit(append, mock, 2)
            gate.wait_for(2)
            gate.release(order=[2, 1])
        rows = catalog.load_table("db.t").scan().to_arrow()["id"].to_pylist()
        print(f"first {first.result()}, second {second.result()}, rows {rows}")


if __name__ == "__main__":
    main()
