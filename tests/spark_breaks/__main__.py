"""``python -m tests.spark_breaks [DEFECT …]``: compare what the suite calls broken with Spark.

For each defect of the mock, the scripts' statements are run in Spark alone and by `icecheck run`.
Exit code 1: the suite calls a script broken whose statements show the same as on a faithful mock,
or works, and they do not. A defect costs about two minutes.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from icecheck.cli.stored_run import stored_run
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.reports.many.engines import BROKEN, Engine, engines_side_by_side
from icecheck.spark import SparkWorkbench
from icecheck.spark_tests.script import read_scripts
from icecheck.spark_tests.test_scripts import SCRIPTS
from tests.spark_breaks.plain_spark import broken_in, course_on, expected_of

EIGHT = (
    "commit-forgets-snapshot-log",
    "drop-still-listed",
    "load-newest-snapshots-only",
    "partition-spec-lost",
    "update-forgotten-set-current-schema",
    "update-forgotten-set-properties",
    "update-forgotten-set-snapshot-ref",
    "view-create-forgotten",
)


def main() -> int:
    """Compare both for each defect, and print what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.spark_breaks")
    parser.add_argument("defects", nargs="*", metavar="DEFECT", default=list(EIGHT))
    wanted = parser.parse_args().defects
    differing = 0
    scripts = read_scripts(SCRIPTS)
    with SparkWorkbench.start() as workbench:
        expected = expected_of(course_on(workbench, scripts), course_on(workbench, scripts))
        for defect in wanted:
            started = time.monotonic()
            really = broken_in(course_on(workbench, scripts, defect), expected)
            said = said_broken(defect) & expected.keys()
            print(f"{defect}: {len(really)} of {len(expected)} scripts fail in Spark,", end=" ")
            print(f"{len(said)} are said to; {time.monotonic() - started:.0f} s", flush=True)
            _print("not noticed", really - said)
            _print("blamed wrongly", said - really)
            differing += really != said
    return int(bool(differing))


def _print(what: str, checks: Iterable[str]) -> None:
    for check in sorted(checks):
        print(f"  {what}: {check}", flush=True)


def said_broken(defect: str) -> frozenset[str]:
    """Return the ids of checks that `icecheck run` calls broken on a mock with a defect."""
    with tempfile.TemporaryDirectory() as directory, MockCatalog() as mock:
        defects()[defect].install(mock.registries)
        words = ("run", mock.uri, "--only", "spark", "--output", directory)
        subprocess.run([sys.executable, "-m", "icecheck", *words], capture_output=True, check=False)
        engine = Engine("the only one", stored_run(Path(directory) / "run.json"))
    table = engines_side_by_side([engine])
    return frozenset(line.id for line in table.lines if line.entries[0].value == BROKEN)


if __name__ == "__main__":
    sys.exit(main())
