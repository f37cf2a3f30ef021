"""The gold tables: what people ask of the evidence, computed anew from silver when it changed.

Only runs of which everything was taken in count. Each table is replaced in one commit, which
records of which of them it was built, and when they were taken in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icecheck.reports.evidence.declared_tables import CHECKS, EXCHANGES, REPORTS, RUNS, VERSION
from icecheck.reports.evidence.store import Store, attempts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BUILT_FROM = "icecheck.built-from"
_ROUNDS_MAX = 5
_OUTCOMES = "array('fail', 'blocked', 'error', 'pass', 'skip')"
_LEVELS = "array('must', 'should', 'interop')"


@dataclass(frozen=True, slots=True)
class GoldTable:
    """A gold table: its name, what one row says, and the query that makes it."""

    name: str
    says: str
    query: str


GOLD = (
    GoldTable(
        "gold.requirement_results",
        "The result of a requirement in one run: the worst outcome of its checks.",
        f"""
        SELECT r.report_id, r.catalog, r.server, r.spec, r.suite_version, r.generated_at,
          c.requirement, min_by(c.profile, c.position * 1000 + c.nth) AS profile,
          {_LEVELS}[min(array_position({_LEVELS}, c.level)) - 1] AS level,
          {_OUTCOMES}[min(array_position({_OUTCOMES}, c.outcome)) - 1] AS result,
          min(c.position * 1000 + c.nth) AS position
        FROM (
          SELECT report_id, position, profile, level, outcome,
            posexplode(if(size(requirements) = 0, array(check_id), requirements))
              AS (nth, requirement)
          FROM checks
        ) c JOIN runs r ON c.report_id = r.report_id
        GROUP BY r.report_id, r.catalog, r.server, r.spec, r.suite_version, r.generated_at,
          c.requirement
        """,
    ),
    GoldTable(
        "gold.requirement_matrix",
        "A requirement on one version of a catalog: in its last run, and over all of them.",
        """
        SELECT catalog, server, spec, requirement, max_by(profile, at) AS profile,
          max_by(level, at) AS level, max_by(result, at) AS result,
          max_by(report_id, at) AS report_id, max(generated_at) AS generated_at,
          count(*) AS runs, count_if(result = 'pass') AS passed,
          count_if(result = 'fail') AS failed,
          count_if(result = 'blocked') AS blocked
        FROM (SELECT *, struct(generated_at, report_id) AS at FROM requirement_results)
        GROUP BY catalog, server, spec, requirement
        """,
    ),
    GoldTable(
        "gold.operation_coverage",
        "How often an operation of a catalog was answered with a status.",
        """
        SELECT r.catalog, r.server, r.spec, e.operation, e.status, count(*) AS exchanges,
          count(DISTINCT e.report_id) AS runs, max(r.generated_at) AS last_seen
        FROM exchanges e JOIN runs r ON e.report_id = r.report_id
        GROUP BY r.catalog, r.server, r.spec, e.operation, e.status
        """,
    ),
    GoldTable(
        "gold.operation_latency",
        "How long an operation took to answer in one run, in ms.",
        """
        SELECT r.report_id, r.catalog, r.generated_at, e.operation, count(*) AS requests,
          percentile(e.elapsed_ms, 0.5) AS p50_ms, percentile(e.elapsed_ms, 0.9) AS p90_ms,
          percentile(e.elapsed_ms, 0.95) AS p95_ms, percentile(e.elapsed_ms, 0.99) AS p99_ms,
          max(e.elapsed_ms) AS max_ms
        FROM exchanges e JOIN runs r ON e.report_id = r.report_id
        WHERE e.operation IS NOT NULL AND e.status IS NOT NULL
        GROUP BY r.report_id, r.catalog, r.generated_at, e.operation
        """,
    ),
    GoldTable(
        "gold.flakiness",
        "A check that passed and failed while catalog, suite and document stayed the same.",
        """
        SELECT catalog, server, config_sha256, suite_version, spec, check_id, count(*) AS runs,
          count_if(outcome = 'pass') AS passed, count_if(outcome = 'fail') AS failed,
          count_if(outcome != before) AS changes, max(generated_at) AS last_seen
        FROM (
          SELECT r.*, c.check_id, c.outcome, lag(c.outcome) OVER (
            PARTITION BY r.catalog, r.server, r.config_sha256, r.suite_version, r.spec, c.check_id
            ORDER BY r.generated_at, r.report_id
          ) AS before
          FROM checks c JOIN runs r ON c.report_id = r.report_id
          WHERE c.outcome IN ('pass', 'fail')
        )
        GROUP BY catalog, server, config_sha256, suite_version, spec, check_id
        HAVING count_if(outcome = 'pass') > 0 AND count_if(outcome = 'fail') > 0
        """,
    ),
    GoldTable(
        "gold.requirement_history",
        "When a requirement was first seen to fail on a catalog, and the run that then passed.",
        """
        SELECT f.catalog, f.spec, f.requirement, f.first_failed_at, f.first_failed_in,
          f.last_failed_at, f.last_failed_in, f.failed_runs,
          min(p.generated_at) AS fixed_at, min_by(p.report_id, p.generated_at) AS fixed_in
        FROM (
          SELECT catalog, spec, requirement, min(generated_at) AS first_failed_at,
            min_by(report_id, struct(generated_at, report_id)) AS first_failed_in,
            max(generated_at) AS last_failed_at,
            max_by(report_id, struct(generated_at, report_id)) AS last_failed_in,
            count(*) AS failed_runs
          FROM requirement_results WHERE result = 'fail' GROUP BY catalog, spec, requirement
        ) f LEFT JOIN requirement_results p ON p.result = 'pass' AND p.catalog = f.catalog
          AND p.spec = f.spec AND p.requirement = f.requirement
          AND p.generated_at > f.last_failed_at
        GROUP BY ALL
        """,
    ),
    GoldTable(
        "gold.conformance",
        "A run of a catalog, and how its checks moved since the one before that judged any.",
        """
        SELECT r.catalog, r.spec, r.report_id, r.run_id, r.generated_at, r.suite_version, r.server,
          r.complete, r.status, r.exit_code, r.passed, r.failed, r.blocked, r.skipped, r.errors,
          o.judged, o.before, coalesce(m.fixed, 0) AS fixed, coalesce(m.regressed, 0) AS regressed,
          coalesce(m.appeared, 0) AS appeared, coalesce(m.gone, 0) AS gone
        FROM runs r JOIN ordered o ON r.report_id = o.report_id LEFT JOIN (
          SELECT coalesce(now.report_id, was.next) AS report_id,
            count_if(was.outcome IN ('fail', 'blocked', 'error') AND now.outcome = 'pass') AS fixed,
            count_if(was.outcome = 'pass' AND now.outcome = 'fail') AS regressed,
            count_if(was.outcome IS NULL) AS appeared, count_if(now.outcome IS NULL) AS gone
          FROM (
            SELECT c.report_id, c.check_id, c.outcome FROM checks c
            JOIN ordered o ON c.report_id = o.report_id WHERE o.judged AND o.before IS NOT NULL
          ) now FULL OUTER JOIN (
            SELECT o.next, c.check_id, c.outcome FROM checks c
            JOIN ordered o ON c.report_id = o.report_id WHERE o.next IS NOT NULL
          ) was ON was.next = now.report_id AND was.check_id = now.check_id
          GROUP BY 1
        ) m ON r.report_id = m.report_id
        """,
    ),
)

# The runs of a catalog and document in order; queries name it besides silver of finished runs.
# Those in which no check passed or failed, as when the catalog was not there, are passed over:
# ``before`` is the last run that judged something, and ``next`` of such a run the next such one.
_ORDERED = """
    SELECT report_id, judged,
      last(if(judged, report_id, NULL), true) OVER (
        PARTITION BY catalog, spec ORDER BY generated_at, report_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS before,
      if(judged, first(if(judged, report_id, NULL), true) OVER (
        PARTITION BY catalog, spec ORDER BY generated_at, report_id
        ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
      ), NULL) AS next
    FROM (
      SELECT r.report_id, r.catalog, r.spec, r.generated_at, c.report_id IS NOT NULL AS judged
      FROM runs r LEFT JOIN (
        SELECT DISTINCT report_id FROM checks WHERE outcome IN ('pass', 'fail')
      ) c ON c.report_id = r.report_id
    )
"""


def build(store: Store, tell: Callable[[str], object] = lambda _: None) -> bool:
    """Replace the gold tables that are not of the present silver; return whether any was.

    Where another ingestion changes silver meanwhile, they are built again.
    """
    changed = False
    for _ in range(_ROUNDS_MAX):
        built = _stamp(store)
        old = [table for table in GOLD if _stamp_of(store, table) != built]
        if not old:
            return changed
        _open_views(store)
        for table in GOLD:
            if table in old:
                tell(table.name)
                _replace(store, table, store.spark.sql(table.query), built)
            if table.name == "gold.requirement_results":
                # The next ones read it back, as it was written just now.
                store.spark.table(store.name(table.name)).createOrReplaceTempView(
                    "requirement_results"
                )
        changed = True
    return changed


def _stamp(store: Store) -> str:
    """Return what stands for the reports that were taken in whole, and when."""
    columns = ", ".join(f"`{column}`" for column in REPORTS.columns)
    ((many, digest),) = store.spark.sql(
        f"SELECT count(*), bit_xor(xxhash64({columns})) FROM {store.name(REPORTS)}"
    ).collect()
    return f"v{VERSION}-{many}-{digest or 0}"


def _stamp_of(store: Store, table: GoldTable) -> str:
    name = store.name(table.name)
    if not store.has(table.name):
        return ""
    found = store.spark.sql(
        f"SELECT s.summary['{BUILT_FROM}'] FROM {name}.snapshots s "
        f"JOIN {name}.refs r ON r.snapshot_id = s.snapshot_id WHERE r.name = 'main'"
    ).collect()
    return str(found[0][0]) if found else ""


def _open_views(store: Store) -> None:
    """Let the queries name silver of the runs that were taken in whole."""
    for name, table in (("runs", RUNS), ("checks", CHECKS), ("exchanges", EXCHANGES)):
        query = f"SELECT * FROM {store.name(table)} WHERE report_id IN ({store.taken_in()})"
        store.spark.sql(query).createOrReplaceTempView(name)
    store.spark.sql(_ORDERED).createOrReplaceTempView("ordered")


def _replace(store: Store, table: GoldTable, frame: "DataFrame", built: str) -> None:
    from pyspark.sql.functions import lit

    name = store.name(table.name)
    for attempt in attempts():
        with attempt:
            if store.has(table.name):
                writer = frame.writeTo(name).option(f"snapshot-property.{BUILT_FROM}", built)
                writer.option("merge-schema", "true").overwrite(lit(True))
            else:
                writer = frame.writeTo(name).using("iceberg").tableProperty("format-version", "2")
                writer = writer.tableProperty("write.spark.accept-any-schema", "true")
                writer.option(f"snapshot-property.{BUILT_FROM}", built).create()
