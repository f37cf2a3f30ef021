"""Pages of a listing of 100 000 tables, at its start and at its end; memory per table."""

import json
import statistics
import time
from itertools import pairwise
from pathlib import Path

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.protocol.wire import Request

TABLES = 100_000
PAGE_SIZE = 100
WIDE_TABLES = 2_000
PATH = "/v1/wh/namespaces/db/tables"


def schema(columns: int) -> dict[str, object]:
    names = [f"column_{number}" for number in range(1, columns + 1)]
    fields = [
        {"id": number, "name": name, "type": "string", "required": False}
        for number, name in enumerate(names, 1)
    ]
    return {"type": "struct", "schema-id": 0, "fields": fields}


def send(mock: MockCatalog, method: str, path: str, query: str = "", body: object = None) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    reply = mock.app.handle(Request(method, path, query, {}, content)).reply
    assert reply.status == 200, reply.body
    return reply.body


def mock_with_tables(count: int, columns: int) -> MockCatalog:
    mock = MockCatalog(root="memory://benchmark", warehouses=["wh"])
    send(mock, "POST", "/v1/wh/namespaces", body={"namespace": ["db"]})
    columns_of_all = schema(columns)
    for number in range(count):
        send(mock, "POST", PATH, body={"name": f"t{number:06}", "schema": columns_of_all})
    return mock


def page_costs(mock: MockCatalog) -> list[float]:
    """Return the microseconds of CPU for each page, from the first to the last."""
    costs = []
    token = ""
    while token is not None:
        query = f"pageToken={token}&pageSize={PAGE_SIZE}"
        started = time.process_time_ns()
        answer = send(mock, "GET", PATH, query)
        costs.append((time.process_time_ns() - started) / 1000)
        token = json.loads(answer)["next-page-token"]
    return costs


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def main() -> None:
    before = resident_bytes()
    wide = mock_with_tables(WIDE_TABLES, 50)
    per_table = (resident_bytes() - before) / WIDE_TABLES
    body = len(send(wide, "GET", f"{PATH}/t000000"))
    print(f"memory per table of 50 columns: {per_table / 1024:.1f} KiB, its metadata file in")
    print(f"  memory included; ratio to the answer of {body} bytes: {per_table / body:.1f}")
    wide.stop()
    mock = mock_with_tables(TABLES, 2)
    rounds = [page_costs(mock) for _ in range(3)]
    costs = [min(each) for each in zip(*rounds, strict=True)]
    tenth = len(costs) // 10
    parts = [statistics.median(costs[at : at + tenth]) for at in range(0, len(costs), tenth)]
    print(f"{len(costs)} pages of {PAGE_SIZE}: {parts[0]:.0f} µs per page in the first tenth")
    print(f"  last tenth against first: {parts[-1] / parts[0]:.2f}")
    steps = max(later / earlier for earlier, later in pairwise(parts))
    print(f"  greatest step from one tenth to the next: {steps:.2f}")
    mock.stop()


if __name__ == "__main__":
    main()
