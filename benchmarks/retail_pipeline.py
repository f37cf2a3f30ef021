"""The retail pipeline through Spark and a catalog, against pandas alone on the same events.

Both draw the events and end with the figures of gold; the pipeline also keeps every table,
publishes from a branch, compacts, expires and compares.
Usage: python benchmarks/retail_pipeline.py [--scale N] [--master URL]
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from process_memory import most_memory

from icecheck.spark_tests.pipeline.expected import Expected
from icecheck.spark_tests.pipeline.landing import Landing
from icecheck.spark_tests.pipeline.scale import DAYS, ROWS_OF_SCALE_1, Scale


def alone(scale: Scale) -> tuple[float, float]:
    """Return the seconds in which one process draws the events, and computes all figures."""
    with tempfile.TemporaryDirectory(prefix="icecheck-bench-") as name:
        began = time.perf_counter()
        Landing(Path(name), scale).arrive_all()
        drawn = time.perf_counter()
        expected = Expected(Path(name), scale)
        for day in DAYS:
            expected.revenue(day)
        return drawn - began, time.perf_counter() - drawn


def pipeline(scale: float, master: str) -> tuple[float, int, dict[str, float]]:
    """Run the command; return its seconds, its highest memory, and the seconds of its stages."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [
            sys.executable, "-m", "icecheck", "pipeline", "--mock",
            "--scale", str(scale), "--master", master,
        ],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with most_memory(process.pid) as most:
        said, _ = process.communicate()
    assert process.returncode == 0, said
    stages = re.findall(r"^(.+?) +\d+ rows +([0-9.]+) s", said, re.MULTILINE)
    seconds = time.perf_counter() - began
    return seconds, most[0], {name: float(each) for name, each in stages}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=5.0)
    parser.add_argument("--master", default="local[2]")
    options = parser.parse_args()
    print(f"{'events':>9} {'drawn s':>8} {'pandas s':>9} {'pipeline s':>11} {'ratio':>6} {'MB':>6}")
    slowest: dict[str, float] = {}
    for part in (16, 4, 1):
        scale = Scale(round(options.scale * ROWS_OF_SCALE_1 / part))
        drawn, computed = alone(scale)
        seconds, memory, slowest = pipeline(scale.rows / ROWS_OF_SCALE_1, options.master)
        print(f"{scale.rows:>9} {drawn:>8.1f} {computed:>9.1f} {seconds:>11.1f} "
              f"{seconds / (drawn + computed):>6.2f} {memory / 1e6:>6.0f}", flush=True)  # fmt: skip
    for name, taken in sorted(slowest.items(), key=lambda each: -each[1])[:5]:
        print(f"{name:<18} {taken:>7.1f} s")


if __name__ == "__main__":
    main()
