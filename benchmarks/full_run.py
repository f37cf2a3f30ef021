"""A whole `icecheck run --mock`: wall time, requests and peak memory, beside as many bare GETs."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from icecheck.mock_server import MockCatalog


def run(output: Path, *more: str) -> tuple[float, float, dict]:
    """Run the command line; return wall seconds, peak MiB of the process, and run.json."""
    command = [sys.executable, "-m", "icecheck", "run", "--mock", "--output", str(output), *more]
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    wall = time.perf_counter() - begin
    return wall, usage.ru_maxrss / 1024, json.loads((output / "run.json").read_text())


def bare_seconds(requests: int) -> float:
    """Return the seconds that so many GETs of the config take, one after the other."""
    with MockCatalog() as mock, httpx.Client(base_url=mock.uri) as http:
        begin = time.perf_counter()
        for _ in range(requests):
            http.get("/v1/config")
        return time.perf_counter() - begin


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        for name, more in (("checks only", ("--only", "checks")), ("everything but Spark", ())):
            wall, peak, report = run(Path(directory) / "out", *more)
            requests = report["timing"]["requests"]
            bare = bare_seconds(requests)
            print(
                f"{name:22} {wall:6.1f} s  {requests:5} requests  {peak:5.0f} MiB peak  "
                f"ratio to as many bare GETs {wall / bare:.1f}"
            )


if __name__ == "__main__":
    main()
