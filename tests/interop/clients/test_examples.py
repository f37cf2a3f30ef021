"""The examples of docs/examples run, and say what they are there to show."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.shares import some

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
LOST = """\
answer-lost: fired 1, attempts 1, rows 1
connection-dropped: fired 1, attempts 2, rows 1
"""
OWN_JVM = pytest.mark.complete("starts a JVM of its own, as whoever copies it does")
TOLD = {
    "lost_answer_pyiceberg.py": LOST,
    "lost_answer_spark.py": LOST,
    "throttled_pyiceberg.py": "read 30 rows in 10 loads, 4 refused\n",
    "race_by_gate.py": "first conflict, second committed, rows [2]\n",
    "expired_token.py": "after two hours the token is refused; with a new one: [('db',)]\n",
    "expired_token_spark.py": "the first token: 200, then 401; Spark: 2 rows, never refused\n",
    "protocol.py": """\
5 tables on 3 pages; unchanged: 304
both or none: 409, then 204
""",
    "journal.py": "the commit: add-snapshot, set-snapshot-ref; every request is in run.har\n",
    "snapshots.py": "elsewhere: sales of ann has orders with id, at\n",
    "vended_credentials.py": "3 keys in ten steps, 2 of them by loadCredentials\n",
    "planned_scan.py": """\
submitted, submitted, submitted, completed: 3 of 5 files, 1 more part
PyIceberg reads [0, 1, 2] by the catalog's plan
""",
    "misbehaving_catalog.py": """\
trusting: the table survives True, with the defect False
looking: the table survives True, with the defect True
""",
    "same_bytes.py": "4 answers are the same to the last byte; with another seed they differ\n",
    "client_lint.py": """\
homemade/1: any, header Authorization: a bearer token that is none: 'null'
homemade/1: listNamespaces, query pageSize: it does not fit: minimum 1 (L262)
""",
    "beside_a_command.sh": """\
PyIceberg finds [('db',)]
clickhouse.sql
duckdb.sql
flink.sql
spark-defaults.conf
trino-iceberg.properties
its exit code is ours: 3
ATTACH 'wh' AS "mock" (TYPE iceberg, ENDPOINT 'http://127.0.0.1:8181', AUTHORIZATION_TYPE 'none');
""",
    "snapshots.sh": """\
after going back: {"namespaces":[["db"]],"next-page-token":null}
throttled: 429
asked: 2 times
""",
}
TESTS = "test_with_a_catalog.py"


def _marks(number: int, example: str) -> list[pytest.MarkDecorator]:
    if "spark" in example:
        return [pytest.mark.spark, OWN_JVM]
    if number % 2:
        return [pytest.mark.complete("the usual command runs every second example")]
    return []


@pytest.mark.parametrize(
    "example",
    [pytest.param(each, marks=_marks(number, each)) for number, each in enumerate(TOLD)],
)
def test_an_example_says_what_it_shows(example: str, tmp_path: Path) -> None:
    done = run([interpreter(example), str(EXAMPLES / example)], tmp_path)
    assert done.stdout == TOLD[example], done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("workers", some([((),), (("-n", "4"),)], 2), ids=["one", "four"])
def test_the_tests_among_them_pass_also_side_by_side(tmp_path: Path, workers: list[str]) -> None:
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, str(EXAMPLES / TESTS)]
    done = run([sys.executable, *words], tmp_path)
    assert done.returncode == 0, done.stdout
    assert "10 passed" in done.stdout


def test_every_example_is_run_and_told_of() -> None:
    files = {each.name for each in EXAMPLES.iterdir() if each.is_file()}
    assert files == {*TOLD, TESTS}
    page = (EXAMPLES.parent / "mock.md").read_text(encoding="utf-8")
    assert [each for each in sorted(files) if f"(examples/{each})" not in page] == []


def interpreter(example: str) -> str:
    return "sh" if example.endswith(".sh") else sys.executable


def run(command: list[str], where: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with the programs of this environment first."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return subprocess.run(
        command,
        cwd=where,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
