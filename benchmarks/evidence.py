"""Many runs taken in by Spark, against one Python process that writes the same lines as Parquet.

Runs are drawn from recorded ones: a run of the bundled mock, or those in the directories that are
named. With --scaling the same runs are taken in by one core, by two, and by a standalone cluster of
two workers with one core each, in place of three sizes of them.

Usage: python benchmarks/evidence.py [--runs N] [--exchanges N] [--master URL] [--scaling] [DIR ...]
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from process_memory import most_memory
from tests.kit.spark_cluster import spark_cluster

BEGAN = datetime(2026, 1, 1, 3, tzinfo=UTC)
CATALOGS = ("Acme", "Birch", "Cedar", "Dune")
LONG = 1024


def recorded(named: Sequence[Path], directory: Path) -> list[Path]:
    """Return the recorded runs to draw from."""
    if named:
        return [*named]
    command = [sys.executable, "-m", "icecheck", "run", "--mock", "--quiet"]
    subprocess.run([*command, "--output", str(directory)], check=True, capture_output=True)
    return [directory]


def lines_of(place: Path) -> list[bytes]:
    """Return the lines of a recorded run."""
    with (place / "exchanges.jsonl.zst").open("rb") as file:
        content = zstandard.ZstdDecompressor().stream_reader(file).read()
    return content.splitlines()


def long_enough(lines: Sequence[bytes]) -> list[bytes]:
    """Return lines without the shortest, so that half of them have 1 KiB or more."""
    by_length = sorted(lines, key=len)
    longer = sum(len(each) >= LONG for each in by_length)
    return by_length[max(0, len(by_length) - 2 * longer) :]


def draw(recordings: Sequence[Path], root: Path, runs: int, exchanges: int) -> tuple[int, float]:
    """Write so many runs with so many exchanges in all; return the bytes of lines, and a median."""
    documents = [json.loads((place / "run.json").read_text()) for place in recordings]
    lines = [long_enough(lines_of(place)) for place in recordings]
    chance = random.Random(7)  # noqa: S311 - the same runs each time
    size, lengths = 0, []
    for number in range(runs):
        at = (BEGAN + timedelta(days=number // len(CATALOGS))).isoformat(timespec="seconds")
        document = documents[number % len(documents)] | {
            "run_id": f"b{number}",
            "generated_at": at,
            "report_id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"b{number}")),
        }
        name = CATALOGS[number % len(CATALOGS)]
        document["target"] = document["target"] | {"implementation": {"project": name}}
        place = root / f"{number:04d}"
        place.mkdir(parents=True)
        many = exchanges * (number + 1) // runs - exchanges * number // runs
        drawn = chance.choices(lines[number % len(lines)], k=many)
        size += sum(map(len, drawn))
        lengths += [len(each) for each in drawn[:100]]
        packed = zstandard.ZstdCompressor().compress(b"\n".join([*drawn, b""]))
        (place / "exchanges.jsonl.zst").write_bytes(packed)
        document["artifacts"] = [
            {
                "name": "exchanges.jsonl.zst",
                "sha256": f"sha256:{hashlib.sha256(packed).hexdigest()}",
                "bytes": len(packed),
                "exchanges": many,
            }
        ]
        (place / "run.json").write_text(json.dumps(document))
    return size, statistics.median(lengths)


def plain(root: Path, target: Path) -> int:
    """Write each line, with its number and digest, and what it says, as Parquet; one process."""
    written = 0
    for place in sorted(root.iterdir()):
        lines = lines_of(place)
        parsed = [json.loads(line) for line in lines]
        table = pa.table(
            {
                "line": range(len(lines)),
                "sha256": [hashlib.sha256(line).hexdigest() for line in lines],
                "content": lines,
                "operation": [each["operation"] for each in parsed],
                "status": [each["status"] for each in parsed],
                "elapsed_ms": [each["elapsed_ms"] for each in parsed],
            }
        )
        pq.write_table(table, target / f"{place.name}.parquet", compression="zstd")
        written += len(lines)
    return written


def ingest(reports: Path, root: Path, master: str) -> tuple[float, int, str]:
    """Run the command; return its seconds, its highest memory, and its last line."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [
            sys.executable, "-m", "icecheck", "evidence", "ingest", str(reports),
            "--root", str(root), "--master", master,
        ],
        stdout=subprocess.PIPE, text=True, env=os.environ,
    )  # fmt: skip
    with most_memory(process.pid) as most:
        said, _ = process.communicate()
    assert process.returncode == 0, said
    return time.perf_counter() - began, most[0], said.strip()


def compare_masters(options: argparse.Namespace, recordings: Sequence[Path], work: Path) -> None:
    """Print how long one core, two, and a cluster of two workers take for the same runs."""
    reports = work / "reports"
    draw(recordings, reports, options.runs, options.exchanges)
    print(f"{options.runs} runs, {options.exchanges} lines")
    print(f"{'master':>10} {'seconds':>8} {'to one core':>12}")
    with spark_cluster(work / "cluster") as cluster:
        alone = 0.0
        for name, master in (
            ("local[1]", "local[1]"),
            ("local[2]", "local[2]"),
            ("cluster", cluster),
        ):
            seconds, _, said = ingest(reports, work / "evidence", master)
            assert f"{options.runs} runs and {options.exchanges} exchanges taken in" in said, said
            shutil.rmtree(work / "evidence")
            alone = alone or seconds
            print(f"{name:>10} {seconds:>8.1f} {seconds / alone:>12.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--exchanges", type=int, default=400_000)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--scaling", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="icecheck-bench-") as name:
        work = Path(name)
        recordings = recorded(options.recordings, work / "recorded")
        if options.scaling:
            compare_masters(options, recordings, work)
            return
        print(f"{'runs':>6} {'lines':>9} {'MB':>6} {'median':>7} {'plain s':>8} {'spark s':>8} "
              f"{'ratio':>6} {'again s':>8} {'MB most':>8}")  # fmt: skip
        for part in (4, 2, 1):
            runs, many = options.runs // part, options.exchanges // part
            reports = work / f"reports-{part}"
            size, median = draw(recordings, reports, runs, many)
            (work / "plain").mkdir()
            began = time.perf_counter()
            assert plain(reports, work / "plain") == many
            alone = time.perf_counter() - began
            seconds, memory, said = ingest(reports, work / "evidence", options.master)
            again, _, _ = ingest(reports, work / "evidence", options.master)
            assert f"{runs} runs and {many} exchanges taken in" in said, said
            print(f"{runs:>6} {many:>9} {size / 1e6:>6.0f} {median:>7.0f} {alone:>8.1f} "
                  f"{seconds:>8.1f} {seconds / alone:>6.2f} {again:>8.1f} {memory / 1e6:>8.0f}",
                  flush=True)  # fmt: skip
            for each in ("plain", "evidence", reports.name):
                shutil.rmtree(work / each)


if __name__ == "__main__":
    main()
