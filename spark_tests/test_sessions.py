"""Checks of two Spark sessions that change one table at the same time."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from icecheck.client.catalog import Catalog
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.replies.expect import Violation
from icecheck.spark_tests.own_tables import OwnTable, given_spark_tables, names_of
from icecheck.witnesses.spark_failures import read_failure
from icecheck.witnesses.spark_statements import (
    SparkSource,
    failure_outcome,
    judged_by_spark,
    spark_session,
)

_LOST_UPDATE = declare(
    "spark-lost-update",
    "Loses a change that it acknowledged to a Spark session",
    Severity.FALSE_OR_LOST,
    "Spark: concurrent jobs undo each other's changes",
)

ROUNDS = 4
"""Statements of each session: enough that some of them meet."""

# Iceberg's classes for a change that was refused because of another one.
_CONFLICTS = ("CommitFailedException", "ValidationException")
_UNKNOWN = "CommitStateUnknownException"


@check("spark.sessions.append", proves="client.spark.sessions.append")
def test_concurrent_appends(catalog: Catalog, spark: SparkSource) -> None:
    """Two sessions that append at the same time both succeed, and no row is lost."""
    table, other = _in_two_sessions(catalog, spark)
    _at_once(table, other, lambda who, turn: f"INSERT INTO {{t}} VALUES ({who}, {turn})")
    sent = {(str(who), str(turn)) for who in (1, 2) for turn in range(ROUNDS)}
    with judged_by_spark("the rows of two sessions", names_of(table)):
        table.session.sql(f"REFRESH TABLE {table.name}")
        table.expect("all that was appended", "SELECT * FROM {t}", [("0", "0"), *sorted(sent)])


@check("spark.sessions.update", proves="client.spark.sessions.update")
def test_concurrent_updates(catalog: Catalog, spark: SparkSource) -> None:
    """Of two sessions that change the same row each succeeds or is refused; no change is lost."""
    table, other = _in_two_sessions(catalog, spark)
    done = _at_once(
        table, other, lambda _who, _turn: "UPDATE {t} SET n = n + 1 WHERE who = 0", conflicts=True
    )
    with judged_by_spark("the row of two sessions", names_of(table)):
        table.session.sql(f"REFRESH TABLE {table.name}")
        rows = table.sql("SELECT n FROM {t}")
    least, most = done.count("done"), done.count("done") + done.count("unknown")
    numbers = [int(number or -1) for [number] in rows]
    if len(numbers) != 1 or not least <= numbers[0] <= most:
        due = str(least) if least == most else f"{least} to {most}"
        raise Violation(_LOST_UPDATE, due, ", ".join(map(str, numbers)) or "no rows")


def _in_two_sessions(catalog: Catalog, spark: SparkSource) -> tuple[OwnTable, OwnTable]:
    """Return a table of the one row (0, 0) as each of two sessions knows it."""
    [table] = given_spark_tables(catalog, spark)
    session, _ = spark_session(catalog, spark)
    with judged_by_spark("a table for two sessions", names_of(table)):
        # More attempts than two sessions can need, in quick succession.
        retries = "'commit.retry.num-retries' = '20', 'commit.retry.min-wait-ms' = '10'"
        table.session.sql(
            f"CREATE TABLE {table.name} (who INT, n INT) USING iceberg TBLPROPERTIES ({retries})"
        )
        table.append("(0, 0)")
    return table, OwnTable(session, table.catalog_name, table.namespace, table.bare)


def _at_once(
    table: OwnTable,
    other: OwnTable,
    statement: Callable[[int, int], str],
    *,
    conflicts: bool = False,
) -> list[str]:
    """Run statements in both sessions at once and return how each ended: done or unknown.

    A refused conflict is no entry if ``conflicts`` are expected. Any other failure is raised.
    """
    together = threading.Barrier(2)

    def run(mine: OwnTable, who: int) -> list[str]:
        together.wait()
        each = (_one(mine, statement(who, turn), conflicts=conflicts) for turn in range(ROUNDS))
        return [how for how in each if how]

    with ThreadPoolExecutor(2) as both:
        running = [both.submit(run, mine, who) for who, mine in enumerate((table, other), 1)]
    return [how for one in running for how in one.result()]


def _one(table: OwnTable, statement: str, *, conflicts: bool) -> str:
    """Run a statement and return how it ended: done, unknown, or "" if refused."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        table.session.sql(statement.replace("{t}", table.name))
    except (Py4JError, PySparkException) as error:
        failure = read_failure(error, names_of(table))
        if failure is None:
            raise
        if conflicts and failure.is_a(_UNKNOWN):
            return "unknown"
        if conflicts and any(failure.is_a(name) for name in _CONFLICTS):
            return ""
        raise failure_outcome(failure, "a statement beside that of another session") from error
    return "done"
