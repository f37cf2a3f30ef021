"""Java's client of Iceberg 1.11 on a mock of 1.11.0: keys of retries, and answers that it keeps."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.spark,
    pytest.mark.complete("a process of its own: no other test has this runtime of Iceberg"),
]

ROOT = Path(__file__).parents[2]
RUNTIME = "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.11.0"
STATEMENTS = {
    "createNamespace": "CREATE NAMESPACE ice.ns",
    "createTable": "CREATE TABLE ice.ns.t (id bigint) USING iceberg",
    "updateTable": "INSERT INTO ice.ns.t VALUES (1)",
    "renameTable": "ALTER TABLE ice.ns.t RENAME TO ns.u",
    "createView": "CREATE VIEW ice.ns.v AS SELECT * FROM ice.ns.u",
    "dropView": "DROP VIEW ice.ns.v",
    "dropTable": "DROP TABLE ice.ns.u",
    "dropNamespace": "DROP NAMESPACE ice.ns",
}
"""Each is applied, answered 503 with Retry-After, and repeated by the client."""
PROGRAM = f"""
import json
from icecheck.mock_server import MockCatalog
from icecheck.spark import SparkWorkbench

seen, snapshots, loads = {{}}, 0, []
with MockCatalog(spec="1.11.0") as mock, SparkWorkbench.start(packages={RUNTIME!r}) as workbench:
    conf = {{"type": "rest", "uri": mock.uri, "warehouse": "warehouse", "cache-enabled": "false"}}
    spark = workbench.catalog_session("ice", conf)
    lost = {{"phase": "after", "status": 503, "retry_after": 1, "times": 1}}
    for operation, statement in {STATEMENTS!r}.items():
        mock.faults.add("custom", operation=operation, **lost)
        spark.sql(statement)
        seen[operation] = [
            (each.status, each.content.request.headers.get("idempotency-key"))
            for each in mock.journal.find(operation)
        ]
        if operation == "updateTable":
            snapshots = spark.sql("SELECT count(*) FROM ice.ns.t.snapshots").collect()[0][0]
            rows = [len(spark.sql("SELECT * FROM ice.ns.t").collect()) for _ in range(2)]
            spark.sql("INSERT INTO ice.ns.t VALUES (2)")
            rows.append(len(spark.sql("SELECT * FROM ice.ns.t").collect()))
            loads = [
                (each.status, each.content.request.headers.get("if-none-match"))
                for each in mock.journal.find("loadTable")
            ]
print(json.dumps({{"seen": seen, "snapshots": snapshots, "rows": rows, "loads": loads}}))
"""  # noqa: S608 - the statements are those above


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What the program tells."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_statement_whose_answers_are_lost_takes_effect_once(told: dict[str, Any]) -> None:
    assert told["snapshots"] == 1
    assert {*told["seen"]} == {*STATEMENTS}
    for operation, answers in told["seen"].items():
        assert answers[0][0] == 503, operation
        assert answers[-1][0] in {200, 204}, operation
        assert len({key for _, key in answers}) == 1, operation
        assert answers[0][1], f"{operation} was sent without a key"


def test_a_table_that_has_not_changed_is_not_sent_again(told: dict[str, Any]) -> None:
    assert told["rows"] == [1, 1, 2]
    assert sorted({status for status, tag in told["loads"] if tag and status != 200}) == [304]


def test_it_sends_what_was_recorded() -> None:
    command = [sys.executable, "-m", "tests.dialects", "--compare", "spark", "--packages", RUNTIME]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, cwd=ROOT
    )
    assert done.stdout.splitlines()[-1:] == ["the same requests"], done.stdout + done.stderr[-2000:]
