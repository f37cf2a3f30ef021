"""CPU of a catalog's process per request: `icecheck serve` against Apache's fixture in Java.

The same requests go to each by turns, over one connection each. The fixture is warmed up first.
First all share one core; then each may run on any, and the server's core waits while the client's
works. A virtual core that waits goes back to the host, and the request that wakes it up can cost
some times its own work: the first figures show the programs, the second such a machine.

Files are written below `TMPDIR`. On ext4 a new file or directory can cost ten times as much for
minutes after many were deleted: a file system in memory (`TMPDIR=/dev/shm`) shows the programs.
Needs the packages of `tests.reference` (Maven, Java 17). A third catalog is measured beside them if
its URL is given, `URL` or `URL?warehouse=NAME`: it runs on this machine and wants no credentials.
"""

import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
from tests.reference.catalogs import CATALOGS
from tests.reference.starting import free_ports, running

ROUNDS = 9
WARMING = 3000
COLUMNS = [
    {"id": i, "name": f"column_{i}", "type": "string", "required": False} for i in range(1, 51)
]
SNAPSHOTS = 1000
PROPERTIES = [{"action": "set-properties", "updates": {f"k{i}": "v"}} for i in range(5)]


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used, by its own clock (clock_getcpuclockid(3)).

    The figures of /proc are in ticks of 10 ms.
    """
    return time.clock_gettime((~pid << 3) | 2)


def place(pids: list[int], cores: set[int]) -> None:
    """Let all threads of these processes run on these cores only."""
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), cores)


def listening(port: int) -> int:
    """Return the process of ours that listens on a port."""
    wanted = f":{port:04X}"
    inodes = {
        line.split()[9]
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        if line.split()[1].endswith(wanted) and line.split()[3] == "0A"
    }
    for process in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if process.readlink().name.removeprefix("socket:[").rstrip("]") in inodes:
                return int(process.parts[2])
    raise SystemExit(f"nothing listens on {port}")


@contextlib.contextmanager
def served() -> Iterator[str]:
    """Start the mock as a process."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "icecheck", "serve", "--port", str(port), "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


class Catalog:
    """A catalog that requests are sent to."""

    def __init__(self, url: str, warehouse: str) -> None:
        port = httpx.URL(url).port
        assert port is not None
        self.pid = listening(port)
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb", buffering=1 << 20)
        query = f"?warehouse={warehouse}" if warehouse else ""
        told = json.loads(self.ask("GET", f"/v1/config{query}"))
        prefix = {**told["defaults"], **told["overrides"]}.get("prefix", "")
        self.config = f"/v1/config{query}"
        self.at = f"/v1/{prefix}/namespaces" if prefix else "/v1/namespaces"
        self.made = 0
        self.ask("POST", self.at, {"namespace": ["db"]})
        self.ask("POST", self.at, {"namespace": ["many"]})
        self.table("db", "t")
        self.long_at = self.table("db", "long")
        self.snapshots = 0
        for _ in range(SNAPSHOTS):
            self.append()

    def ask(self, method: str, path: str, body: Any = None) -> bytes:
        """Send a request and return the body of its answer."""
        sent = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Accept: */*"]
        lines += ["Content-Type: application/json", f"Content-Length: {len(sent)}", "", ""]
        self.socket.sendall("\r\n".join(lines).encode() + sent)
        status = self.file.readline().split()[1]
        length, chunked = 0, False
        while (line := self.file.readline()) != b"\r\n":
            name, _, value = line.lower().partition(b":")
            length = int(value) if name == b"content-length" else length
            chunked = chunked or (name == b"transfer-encoding" and b"chunked" in value)
        answer = self.file.read(length)
        while chunked and (size := int(self.file.readline(), 16)) >= 0:
            answer += self.file.read(size)
            self.file.readline()
            chunked = size > 0
        if status not in (b"200", b"204"):
            raise SystemExit(f"{method} {path}: {status.decode()} {answer[:300]!r}")
        return answer

    def table(self, namespace: str, name: str = "") -> str:
        """Create a table of fifty columns, and return its location."""
        self.made += 1
        schema = {"type": "struct", "schema-id": 0, "fields": COLUMNS}
        body = {"name": name or f"t{self.made}", "schema": schema}
        made = self.ask("POST", f"{self.at}/{namespace}/tables", body)
        location: str = json.loads(made)["metadata"]["location"]
        return location

    def append(self) -> None:
        """Append a snapshot to a table that has many, as a writer does."""
        before, self.snapshots = self.snapshots, self.snapshots + 1
        snapshot = {
            "snapshot-id": self.snapshots,
            "sequence-number": self.snapshots,
            "timestamp-ms": int(time.time() * 1000),
            # Some catalogs take no file outside of the table.
            "manifest-list": f"{self.long_at}/metadata/snap-{self.snapshots}.avro",
            "summary": {"operation": "append", "added-records": "1", "total-records": "1"},
            "schema-id": 0,
        }
        if before:
            snapshot["parent-snapshot-id"] = before
        updates = [
            {"action": "add-snapshot", "snapshot": snapshot},
            {
                "action": "set-snapshot-ref",
                "ref-name": "main",
                "type": "branch",
                "snapshot-id": self.snapshots,
            },
        ]
        required = [
            {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": before or None}
        ]
        body = {"requirements": required, "updates": updates}
        self.ask("POST", f"{self.at}/db/tables/long", body)

    def microseconds(self, act: Callable[[], object], many: int) -> float:
        """Return the CPU of the process for one of many requests."""
        before = cpu_seconds(self.pid)
        for _ in range(many):
            act()
        return (cpu_seconds(self.pid) - before) / many * 1e6


def acts(catalog: Catalog) -> dict[str, tuple[Callable[[], object], int]]:
    """Return what is measured, and how many requests a round has."""
    table = f"{catalog.at}/db/tables/t"
    commit = {"requirements": [], "updates": PROPERTIES}
    return {
        "config": (lambda: catalog.ask("GET", catalog.config), 2000),
        "load of 50 columns": (lambda: catalog.ask("GET", table), 1000),
        "list of 600 tables": (lambda: catalog.ask("GET", f"{catalog.at}/many/tables"), 400),
        "commit of five updates": (lambda: catalog.ask("POST", table, commit), 200),
        f"append to {SNAPSHOTS} snapshots": (catalog.append, 50),
        "create": (lambda: catalog.table("db"), 100),
    }


def catalogs(mock: str, fixture: str, other: str | None) -> dict[str, Catalog]:
    """Return the catalogs by name; the URL of the ``other`` one may end in `?warehouse=NAME`."""
    measured = {"mock": Catalog(mock, "wh"), "fixture": Catalog(fixture, "")}
    if other is not None:
        url, _, warehouse = other.partition("?warehouse=")
        measured["other"] = Catalog(url, warehouse)
    return measured


def measure(measured: dict[str, Catalog]) -> None:
    """Print the CPU of each catalog for each kind of request, and its ratio to that of the mock."""
    requests = {name: acts(catalog) for name, catalog in measured.items()}
    for what in requests["mock"]:
        rounds = [
            {
                name: catalog.microseconds(*requests[name][what])
                for name, catalog in measured.items()
            }
            for _ in range(ROUNDS)
        ]
        told = [f"mock {statistics.median(each['mock'] for each in rounds):6.0f} µs"]
        for name in list(measured)[1:]:
            spent = statistics.median(each[name] for each in rounds)
            ratio = statistics.median(each[name] / each["mock"] for each in rounds)
            told.append(f"{name} {spent:6.0f} µs  ratio {ratio:5.1f}")
        print(f"{what:24} {'  '.join(told)}")


def main() -> None:
    """Start the mock and the fixture, make the same tables in each, and measure by turns."""
    other = sys.argv[1] if len(sys.argv) > 1 else None
    name = "iceberg-rest-fixture-1.10.1"
    fixture = next(each for each in CATALOGS if each.name == name)
    with (
        tempfile.TemporaryDirectory() as data,
        served() as mine,
        running(fixture.start(Path(data))) as theirs,
    ):
        measured = catalogs(mine, theirs, other)
        for catalog in measured.values():
            for _ in range(600):
                catalog.table("many")
            for act, _ in acts(catalog).values():
                catalog.microseconds(act, WARMING // 10)
        cores = os.sched_getaffinity(0)  # before it is changed
        for where, allowed in (("all on one core", {min(cores)}), ("on any core", cores)):
            place([os.getpid(), *[each.pid for each in measured.values()]], allowed)
            print(f"CPU per request, {where}, median of {ROUNDS} rounds by turns")
            measure(measured)


if __name__ == "__main__":
    main()
