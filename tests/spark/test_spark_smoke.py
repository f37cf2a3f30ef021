"""Spark itself: a script passes, a wrong row is caught, sessions are apart."""

from pathlib import Path

import pytest

from icecheck.replies.expect import Violation
from icecheck.spark import SparkUnavailable, SparkWorkbench
from icecheck.spark_tests import running
from icecheck.spark_tests.running import run_script
from icecheck.spark_tests.script import parse_script
from icecheck.targets.target import Target

pytestmark = pytest.mark.spark

IN_MEMORY = {"catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog"}
HEADER = "-- check: spark.x\n-- title: Words\n-- proves: client.spark.x\n\n"


@pytest.fixture(autouse=True)
def _namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script begins with a namespace of its own: here the one that the session has made."""
    monkeypatch.setattr(running, "given_namespace", lambda _catalog: ("ns",))


class InMemory:
    """A catalog inside the JVM, for a script, in place of one under test."""

    target = Target("http://c")

    def __init__(self, workbench: SparkWorkbench) -> None:
        self.workbench = workbench
        self.names = 0

    def session(self, catalog: object) -> tuple[object, str]:
        assert catalog is self
        session = self.workbench.catalog_session("memory", IN_MEMORY)
        session.sql("CREATE NAMESPACE memory.ns")
        return session, "memory"

    def new_name(self) -> str:
        self.names += 1
        return f"t{self.names}"

    def new_namespace_name(self) -> tuple[str, ...]:
        return (self.new_name(),)

    def ledger_table(self, namespace: tuple[str, ...], name: str) -> None:
        assert (namespace, name) == (("ns",), f"t{self.names}")


def run(workbench: SparkWorkbench, body: str) -> None:
    memory = InMemory(workbench)
    run_script(parse_script(Path("x.sql"), HEADER + body), memory, memory)  # type: ignore[arg-type]


BODY = """\
CREATE TABLE {table} (id INT, at TIMESTAMP, word STRING) USING iceberg;

INSERT INTO {table} VALUES (1, TIMESTAMP '2024-03-31 02:30:00', 'a | b'), (2, NULL, '');

CREATE TABLE {table} (id INT) USING iceberg;
-- expect-error: TableAlreadyExistsException

SELECT id, at, word FROM {table} ORDER BY id DESC;
-- expect:
-- 2 | NULL | ""
"""


def test_a_script_runs_on_iceberg_and_its_rows_are_read_as_spark_casts_them(
    workbench: SparkWorkbench,
) -> None:
    run(workbench, BODY + '-- 1 | 2024-03-31 02:30:00 | "a | b"\n')


def test_a_row_that_is_not_as_expected_is_caught(workbench: SparkWorkbench) -> None:
    with pytest.raises(Violation) as caught:
        run(workbench, BODY + '-- 1 | 2024-03-31 02:30:01 | "a | b"\n')
    assert "x.sql:12: SELECT id, at, word FROM memory.ns.t1" in caught.value.finding.detail


def test_sessions_do_not_see_each_others_catalogs(workbench: SparkWorkbench) -> None:
    first = workbench.catalog_session("one", IN_MEMORY)
    second = workbench.catalog_session("one", IN_MEMORY)
    first.sql("CREATE NAMESPACE one.only_here")
    assert [row[0] for row in first.sql("SHOW NAMESPACES IN one").collect()] == ["only_here"]
    assert second.sql("SHOW NAMESPACES IN one").collect() == []


def test_a_second_spark_in_one_process_is_refused(workbench: SparkWorkbench) -> None:
    with pytest.raises(SparkUnavailable, match="already runs Spark"):
        SparkWorkbench.start()
    assert workbench.version.startswith("Spark ")
