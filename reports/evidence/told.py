"""Reads runs back from the evidence, for the reports about several runs and for people."""

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from icecheck.contract import Level
from icecheck.reports.evidence.arrivals import DUPLICATE
from icecheck.reports.evidence.declared_tables import (
    CAUSES,
    CHECKS,
    FILES,
    FINDINGS,
    PROFILES,
    QUARANTINE,
    RUNS,
    TABLES,
)
from icecheck.reports.evidence.gold import GOLD
from icecheck.reports.evidence.store import Store, reports_among
from icecheck.reports.many.stored import StoredCause, StoredProfile, StoredRun
from icecheck.reports.many.trend import newest_document

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

RESULTS = "gold.requirement_results"


def last_runs(store: Store, catalogs: Collection[str] = ()) -> tuple[StoredRun, ...]:
    """Return the last run of each catalog and document, the catalogs in the order of their names.

    With ``catalogs`` only of these. Results are those of gold.
    """
    runs = [row for row in _runs(store) if not catalogs or row.catalog in catalogs]
    last = {(row.catalog, row.spec): row for row in runs}
    chosen = [row for _, row in sorted(last.items())]
    if not chosen:
        return ()
    among = reports_among(row.report_id for row in chosen)
    causes = _by_report(store, CAUSES.name, among, "position")
    profiles = _by_report(store, PROFILES.name, among, "position")
    results = _by_report(store, RESULTS, among, "position")
    return tuple(
        _stored(row, *(each.get(row.report_id, []) for each in (profiles, causes, results)))
        for row in chosen
    )


def documents(store: Store, catalog: str) -> Iterator[dict[str, Any]]:
    """Yield what a comparison reads of each run of a catalog, the oldest first."""
    runs = [row for row in _runs(store) if row.catalog == catalog]
    if not runs:
        return
    among = reports_among(row.report_id for row in runs)
    causes = _by_report(store, CAUSES.name, among, "position")
    profiles = _by_report(store, PROFILES.name, among, "position")
    checks = store.spark.sql(
        f"""
        SELECT c.*, f.assertions FROM {store.name(CHECKS)} c
        JOIN (SELECT report_id, generated_at FROM {store.name(RUNS)} WHERE {among}) r
          ON c.report_id = r.report_id
        LEFT JOIN (
          SELECT report_id, check_id, collect_list(struct(symptom, actual)) AS assertions
          FROM {store.name(FINDINGS)} WHERE {among} GROUP BY report_id, check_id
        ) f ON c.report_id = f.report_id AND c.check_id = f.check_id
        ORDER BY r.generated_at, c.report_id, c.position
        """
    )
    grouped = itertools.groupby(checks.toLocalIterator(), key=attrgetter("report_id"))
    following = next(grouped, None)
    for run in runs:
        report_id, judged = run.report_id, []
        if following is not None and following[0] == report_id:  # otherwise it has no check
            judged = [*map(_check, following[1])]
            following = next(grouped, None)
        yield {
            **json.loads(run.blocks),
            "run_id": run.run_id,
            "generated_at": run.generated_at_text,
            "complete": run.complete,
            "checks": judged,
            "causes": [
                {"id": row.cause_id, "title": row.title, "level": row.level}
                for row in causes.get(report_id, [])
            ],
            "profiles": [*map(_profile, profiles.get(report_id, []))],
        }


def catalogs(store: Store) -> Mapping[str, str]:
    """Return the catalogs of which there are runs, by name: the document of the newest one."""
    newest: dict[str, list[Row]] = {}
    for row in _runs(store):
        others = newest.get(row.catalog, [])
        at_once = [each for each in others if each.generated_at == row.generated_at]
        newest[row.catalog] = [*at_once, row]
    return {
        name: newest_document(row.spec for row in rows) for name, rows in sorted(newest.items())
    }


def status(store: Store) -> dict[str, Any]:
    """Return how many rows each table has, and what is known of each catalog."""
    names = [*(table.name for table in TABLES), *(table.name for table in GOLD)]
    runs = _runs(store)
    of_catalog: dict[str, list[Any]] = {}
    for row in runs:
        of_catalog.setdefault(row.catalog, []).append(row)
    return {
        "tables": {
            name: store.spark.table(store.name(name)).count() if store.has(name) else None
            for name in names
        },
        "files": {
            row.state: row.many
            for row in store.spark.sql(
                f"SELECT state, count(*) AS many FROM {store.name(FILES)} GROUP BY state"
            ).collect()
        },
        "catalogs": {
            name: {
                "runs": len(rows),
                "first": rows[0].generated_at_text,
                "last": rows[-1].generated_at_text,
                "status": rows[-1].status,
            }
            for name, rows in sorted(of_catalog.items())
        },
    }


def put_aside(store: Store) -> list[dict[str, Any]]:
    """Return what was not taken in, with the reason: files and lines, and then duplicates."""
    wrong = store.spark.sql(
        f"SELECT file, line, reason, excerpt, report_id FROM {store.name(QUARANTINE)} "
        "ORDER BY file, line"
    ).collect()
    copies = store.spark.sql(
        f"SELECT uri AS file, 0 AS line, reason, CAST(NULL AS string) AS excerpt, report_id "
        f"FROM {store.name(FILES)} WHERE state = '{DUPLICATE}' ORDER BY uri"
    ).collect()
    kinds = [("quarantined", wrong), ("duplicate", copies)]
    return [{"state": kind, **row.asDict()} for kind, rows in kinds for row in rows]


def _runs(store: Store) -> "Sequence[Row]":
    """Return the runs that were taken in whole, the oldest first."""
    found: Sequence[Row] = store.spark.sql(
        f"""
        SELECT * FROM {store.name(RUNS)} WHERE report_id IN ({store.taken_in()})
        ORDER BY generated_at, report_id
        """
    ).collect()
    return found


def _by_report(store: Store, table: str, among: str, order: str) -> "Mapping[str, list[Row]]":
    frame: DataFrame = store.spark.sql(
        f"SELECT * FROM {store.name(table)} WHERE {among} ORDER BY report_id, `{order}`"
    )
    found: dict[str, list[Row]] = {}
    for row in frame.collect():
        found.setdefault(row.report_id, []).append(row)
    return found


def _stored(
    run: "Row", profiles: "Iterable[Row]", causes: "Iterable[Row]", results: "Iterable[Row]"
) -> StoredRun:
    of = [*results]
    target = json.loads(run.blocks)["target"]
    return StoredRun(
        label=str((target.get("implementation") or {}).get("project") or target.get("url")),
        run_id=run.run_id,
        generated_at=run.generated_at_text,
        suite=run.suite_version,
        spec=run.spec,
        judged_by=run.requirement_set.rpartition("/")[2],
        status=run.status,
        complete=run.complete,
        exit_code=run.exit_code,
        exit_reason=run.exit_reason,
        totals={
            "pass": run.passed,
            "fail": run.failed,
            "blocked": run.blocked,
            "skip": run.skipped,
            "error": run.errors,
        },
        profiles={
            row.profile: StoredProfile(
                row.profile, row.claimed, row.status, row.must_pass, row.must_fail, row.must_blocked
            )
            for row in profiles
        },
        causes=tuple(StoredCause(row.cause_id, row.title, Level(row.level)) for row in causes),
        results={row.requirement: row.result for row in of},
        levels={row.requirement: Level(row.level) for row in of},
        profile_of={row.requirement: row.profile or "" for row in of},
    )


def _check(row: "Row") -> dict[str, Any]:
    return {
        "id": row.check_id,
        "title": row.title,
        "severity": row.level,
        "outcome": row.outcome,
        "profile": [row.profile] if row.profile else [],
        "requirements": [*row.requirements],
        "skip": {"kind": row.skip_kind, "reason": row.skip_reason} if row.skip_kind else None,
        "blocked_by": [*row.blocked_by],
        "summary": row.summary,
        "assertions": [
            {"id": found.symptom, "actual": found.actual} for found in row.assertions or ()
        ],
    }


def _profile(row: "Row") -> dict[str, Any]:
    must = {"pass": row.must_pass, "fail": row.must_fail, "blocked": row.must_blocked}
    return {"id": row.profile, "claimed": row.claimed, "status": row.status, "must": must}
