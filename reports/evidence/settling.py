"""Writes what an ingestion has come to: whole reports, what was put aside, and every file."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from icecheck.reports.evidence.arrivals import INGESTED, QUARANTINED, Arrivals, Seen
from icecheck.reports.evidence.declared_tables import (
    EXCHANGES,
    FILES,
    LINES,
    QUARANTINE,
    REPORTS,
    Table,
)
from icecheck.reports.evidence.sorting import Ingestion, Report
from icecheck.reports.evidence.store import Store, attempts, of_reports


def settle(store: Store, done: Ingestion, arrivals: Arrivals, now: datetime) -> None:
    """Write which reports are whole, what was not taken in, and how each file was looked at.

    What the tables say already is not written again, and not told as news.
    """
    taken = [each for report in done.reports for each in report.seen]
    # Of one file the last word counts: it may be a copy's and a report's exchanges at once.
    last = {each.file.uri: each for each in (*done.others, *done.whole, *taken)}
    news = [each for uri, each in last.items() if arrivals.known.get(uri) != each]
    done.others = [each for each in news if each.state != INGESTED]
    done.known = len(arrivals.by_uri) - len(news)
    if done.reports:
        _quarantine_lines(store, done, now)
        _complete(store, done.reports, now)
    if not news:
        return
    bad = [each for each in news if each.state == QUARANTINED]
    if bad:
        _put_aside(store, bad, now)
    _take_out(store, [each.file.uri for each in news if each.state != QUARANTINED], "q.line = 0")
    listed = [
        {
            "uri": each.file.uri,
            "size_bytes": each.file.size,
            "modified_ms": each.file.modified_ms,
            "sha256": each.sha256,
            "report_id": each.report_id,
            "state": each.state,
            "reason": each.reason,
            "look_again": each.again,
            "seen_at": now,
        }
        for each in news
    ]
    _put(store, FILES, listed)


def _put(store: Store, table: Table, values: Sequence[Mapping[str, Any]]) -> None:
    for attempt in attempts():
        with attempt:
            store.put(table, store.rows(values, table))


def _complete(store: Store, reports: Iterable[Report], now: datetime) -> None:
    """Say that everything of these reports was taken in."""
    whole = [
        {
            "report_id": each.report_id,
            "day": each.day,
            "run_id": each.run_id,
            "file": each.uri,
            "sha256": each.sha256,
            "exchanges_stated": each.stated,
            "exchanges_file": each.exchanges.file.uri if each.exchanges else None,
            "exchanges_sha256": each.exchanges.sha256 if each.exchanges else None,
            "taken_at": now,
        }
        for each in reports
    ]
    _put(store, REPORTS, whole)


def _put_aside(store: Store, bad: Iterable[Seen], now: datetime) -> None:
    told = [
        {
            "file": each.file.uri,
            "line": 0,
            "sha256": each.sha256,
            "report_id": each.report_id,
            "reason": each.reason,
            "excerpt": each.excerpt,
            "seen_at": now,
        }
        for each in bad
    ]
    _put(store, QUARANTINE, told)


def _quarantine_lines(store: Store, done: Ingestion, now: datetime) -> None:
    moment = now.astimezone(UTC).replace(tzinfo=None)
    read_again = [
        each.exchanges.file.uri
        for each in done.reports
        if each.exchanges is not None and (each.renewed or each.resumed)
    ]
    _take_out(store, read_again, "q.line > 0")
    for attempt in attempts():
        with attempt:
            bad = store.spark.sql(
                f"""
                SELECT file, line, sha256, report_id, problem AS reason, content AS excerpt,
                  TIMESTAMP'{moment}' AS seen_at
                FROM {store.name(LINES)} WHERE problem IS NOT NULL AND {of_reports(done.reports)}
                """
            )
            # Two reports may have the same file.
            bad = bad.dropDuplicates([*QUARANTINE.keys])
            done.bad_lines = bad.count()
            if done.bad_lines:
                store.put(QUARANTINE, bad)
    counted = store.spark.sql(
        f"SELECT count(*) FROM {store.name(EXCHANGES)} WHERE {of_reports(done.reports)}"
    ).collect()
    done.lines = counted[0][0]


def _take_out(store: Store, uris: Sequence[str], which: str) -> None:
    """Take rows of files out of the quarantine; ``which`` is a condition for its rows ``q``."""
    if not uris:
        return
    store.spread([(uri,) for uri in uris], "uri string").createOrReplaceTempView("icecheck_files")
    name = store.name(QUARANTINE)
    same = f"q.file = f.uri AND {which}"
    for attempt in attempts():
        with attempt:
            query = f"SELECT count(*) FROM {name} q JOIN icecheck_files f ON {same}"
            if store.spark.sql(query).collect()[0][0]:
                store.spark.sql(
                    f"MERGE INTO {name} q USING icecheck_files f ON {same} WHEN MATCHED THEN DELETE"
                )
