"""``python -m tests.spark_breaks [DEFECT …]``: compare what the suite calls broken with Spark.

For each defect of the mock, the scripts' statements are run in Spark alone and as checks. Exit code
1: a check fails although its statements show the same as on a faithful mock, or it passes, and they
do not. A defect costs about two minutes.
"""

import argparse
import sys
import time
from collections.abc import Iterable

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.findings.verdict import Group, Outcome
from icecheck.judging.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.run.collect import collect
from icecheck.spark import SparkWorkbench
from icecheck.spark_tests.script import read_scripts
from icecheck.spark_tests.test_scripts import SCRIPTS
from icecheck.targets.target import Target
from tests.kit.contracts import CONTRACT
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
            course = course_on(workbench, scripts, defect)
            first = broken_in(course, expected)
            really = first.keys()
            said = failing_on(workbench, defect, expected)
            print(f"{defect}: {len(really)} of {len(expected)} scripts fail in Spark,", end=" ")
            print(f"{len(said)} as checks; {time.monotonic() - started:.0f} s", flush=True)
            _print("fails", really & said)
            _print("NOT NOTICED", really - said)
            for check in sorted(really - said):
                print(f"    statement {first[check]}: {course[check][first[check]]}", flush=True)
                print(f"    expected {expected[check][first[check]]}", flush=True)
            _print("BLAMED WRONGLY", said - really)
            differing += really != said
    return int(bool(differing))


def _print(what: str, checks: Iterable[str]) -> None:
    for check in sorted(checks):
        print(f"  {what}: {check}", flush=True)


def failing_on(workbench: SparkWorkbench, defect: str, ids: Iterable[str]) -> frozenset[str]:
    """Return which of these checks fail on a mock with a defect."""
    checks = {check.id: check for check in collect((Group.SPARK,), CONTRACT)}
    with MockCatalog() as mock:
        defects()[defect].install(mock.registries)
        session = open_session(Target(mock.uri, warehouse="wh", isolation="flat"), run_id="own")
        verdicts = [judge(checks[id_], Catalog(session, id_), {"spark": workbench}) for id_ in ids]
        session.close()
    return frozenset(each.check for each in verdicts if each.outcome is Outcome.FAIL)


if __name__ == "__main__":
    sys.exit(main())
