"""Takes reports in: looks at the new files, writes bronze, then silver, then what gold says.

A file counts as taken in when it stands in ``bronze.files``, which is written last. Each table is
written in one commit and only for the reports that it lacks, so that a run that was killed, or two
at once, end in the same tables.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from icecheck.reports.evidence.declared_tables import (
    DOCUMENTS,
    EXCHANGES,
    FILES,
    LINES,
    QUARANTINE,
    Table,
    schema_of,
)
from icecheck.reports.evidence.documents import FROM_DOCUMENTS, rows_of
from icecheck.reports.evidence.files import SourceFile
from icecheck.reports.evidence.heads import HEAD_COLUMNS, contents, looking_at
from icecheck.reports.evidence.lines import exchange_lines
from icecheck.reports.evidence.sorting import (
    INGESTED,
    ORPHAN,
    QUARANTINED,
    Arrivals,
    Ingestion,
    Report,
    Seen,
    Sorting,
    Taken,
    other_content,
)
from icecheck.reports.evidence.store import Store, attempts, reports_among

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


REPORTS_AT_ONCE = 200
"""How many reports are written in one commit: Iceberg prunes by a list of ids up to this length."""
_PARTITIONS_MAX = 32
_EXCHANGE = (
    "`check` string, ordinal int, step string, operation string, method string, url string, "
    "status int, elapsed_ms double, error string, raced boolean, "
    "request_headers array<array<string>>, response_headers array<array<string>>, "
    "request_body struct<text: string, base64: string>, "
    "response_body struct<text: string, base64: string>"
)


def ingest(
    store: Store,
    files: Sequence[SourceFile],
    now: datetime,
    tell: Callable[[str], object] = lambda _: None,
) -> Ingestion:
    """Take in what is new among files; `tell` is told of each step."""
    fresh = _fresh(store, files)
    tell(f"{len(files)} files, {len(fresh)} of them new or changed")
    arrivals = Arrivals(files, fresh)
    done = Ingestion(known=len(files) - len(fresh))
    if arrivals.to_look_at:
        heads = _heads(store, arrivals.to_look_at, now)
        Sorting(_taken_before(store, heads), arrivals, done).sort(heads)
    named = {each.exchanges.uri for each in done.reports if each.exchanges is not None}
    named |= {each.file.uri for each in done.others}
    left = [each for each in fresh if each.holds_exchanges and each.uri not in named]
    done.others += [Seen(each, QUARANTINED, ORPHAN) for each in left]
    found, done.reports = done.reports, []
    for start in range(0, len(found), REPORTS_AT_ONCE):
        some = _with_documents(store, found[start : start + REPORTS_AT_ONCE], done, tell)
        _write(store, some, tell)
        done.reports += some
    _settle(store, done, now)
    return done


def _fresh(store: Store, files: Sequence[SourceFile]) -> list[SourceFile]:
    """Return the files that are new, changed, or exchanges whose run.json came later."""
    query = f"SELECT uri, size_bytes, modified_ms, reason FROM {store.name(FILES)}"
    known = {
        (row.uri, row.size_bytes, row.modified_ms): row.reason
        for row in store.spark.sql(query).collect()
    }
    return [
        each
        for each in files
        if known.get((each.uri, each.size, each.modified_ms), ORPHAN) == ORPHAN
    ]


def _heads(store: Store, files: Sequence[SourceFile], now: datetime) -> list[dict[str, Any]]:
    frame = _spread(store, [(each.uri,) for each in files], "uri string")
    found = frame.mapInPandas(looking_at(now), schema_of(HEAD_COLUMNS)).collect()
    return [row.asDict() for row in sorted(found, key=lambda row: str(row.uri))]


def _taken_before(store: Store, heads: Iterable[Mapping[str, Any]]) -> dict[str, Taken]:
    """Return report id -> what bronze has of it, for the reports among these."""
    wanted = [head["report_id"] for head in heads if not head["problem"]]
    there = store.reports_in(DOCUMENTS, wanted)
    if not there:
        return {}
    finished = {row.report_id for row in store.spark.sql(store.taken_in()).collect()}
    rows = store.spark.table(store.name(DOCUMENTS)).select("report_id", "sha256", "file")
    return {
        row.report_id: Taken(row.sha256, row.file, row.report_id in finished)
        for row in rows.where(reports_among(there)).collect()
    }


def _with_documents(
    store: Store, some: Sequence[Report], done: Ingestion, tell: Callable[[str], object]
) -> list[Report]:
    """Write the documents of reports; return those whose document is now the one in bronze.

    Another ingestion may have written one with other content, or a file may have changed.
    """
    fresh = {each.report_id: each for each in some if not each.renewed}
    _stage(store, DOCUMENTS, fresh, tell, _documents)
    rows = store.spark.table(store.name(DOCUMENTS)).select("report_id", "sha256", "file")
    there = {row.report_id: row for row in rows.where(_of(some)).collect()}
    kept = []
    for report in some:
        row = there.get(report.report_id)
        if row is not None and row.sha256 == report.sha256:
            kept.append(report)
            continue
        words = "it changed while it was read: take it in again"
        if row is not None:
            words = other_content(report.run_id, row.file)
        names = report.sha256, report.report_id
        done.others.append(Seen(report.file, QUARANTINED, words, *names))
    return kept


def _write(store: Store, some: Sequence[Report], tell: Callable[[str], object]) -> None:
    reports = {each.report_id: each for each in some}
    fresh = {id_: each for id_, each in reports.items() if not each.renewed}
    for table in FROM_DOCUMENTS:
        _stage(store, table, fresh, tell, _from_documents(table))
    with_lines = {id_: each for id_, each in reports.items() if each.exchanges is not None}
    renewed = [each for each in with_lines.values() if each.renewed]
    for attempt in attempts() if renewed else ():
        with attempt:
            # What was wrong with the file before is read anew.
            wrong = f"problem IS NOT NULL AND {_of(renewed)}"
            store.spark.sql(f"DELETE FROM {store.name(LINES)} WHERE {wrong}")
    _stage(store, LINES, with_lines, tell, _lines)
    _stage(store, EXCHANGES, with_lines, tell, _exchanges)


def _stage(
    store: Store,
    table: Table,
    reports: Mapping[str, Report],
    tell: Callable[[str], object],
    make: "Callable[[Store, Sequence[Report]], DataFrame]",
) -> None:
    """Write the rows of those reports that a table lacks, in one commit.

    What another ingestion may have written is looked up, after a conflict that of all: the rows of
    a report are there together, or not at all.
    """
    begun = [id_ for id_, each in reports.items() if each.resumed]
    for attempt in attempts():
        with attempt:
            there = store.reports_in(table, begun)
            begun = [*reports]
            lacking = [
                each for id_, each in sorted(reports.items()) if each.renewed or id_ not in there
            ]
            if not lacking:
                return
            tell(f"{table.name}: {len(lacking)} runs")
            store.put(table, make(store, lacking), only=_of(lacking, "t."))


def _documents(store: Store, reports: Sequence[Report]) -> "DataFrame":
    rows = [(each.file.uri, each.sha256, each.report_id, each.day) for each in reports]
    frame = _spread(store, rows, "uri string, sha256 string, report_id string, day date")
    return frame.mapInPandas(contents, schema_of(DOCUMENTS.columns))


def _from_documents(table: Table) -> "Callable[[Store, Sequence[Report]], DataFrame]":
    def make(store: Store, reports: Sequence[Report]) -> "DataFrame":
        pieces = store.spark.table(store.name(DOCUMENTS)).where(_of(reports))
        stored = pieces.repartition("report_id").sortWithinPartitions("report_id", "piece")
        return stored.mapInPandas(rows_of(table), schema_of(table.columns))

    return make


def _lines(store: Store, reports: Sequence[Report]) -> "DataFrame":
    found = [(each.exchanges, each) for each in reports if each.exchanges is not None]
    # The largest first: what is left at the end is small.
    found.sort(key=lambda each: -each[0].size)
    rows = [(file.uri, each.report_id, each.day) for file, each in found]
    frame = _spread(store, rows, "uri string, report_id string, day date")
    return frame.mapInPandas(exchange_lines, schema_of(LINES.columns))


def _exchanges(store: Store, reports: Sequence[Report]) -> "DataFrame":
    return store.spark.sql(
        f"""
        SELECT report_id, day, line, e.`check` AS check_id, e.ordinal, e.step, e.operation,
          e.method, e.url, e.status, e.elapsed_ms, e.error, coalesce(e.raced, false) AS raced,
          e.request_headers, e.response_headers,
          {_size("request_body")} AS request_bytes, {_size("response_body")} AS response_bytes
        FROM (
          SELECT report_id, day, line, from_json(content, '{_EXCHANGE}') AS e
          FROM {store.name(LINES)} WHERE problem IS NULL AND {_of(reports)}
        )
        """
    )


def _size(body: str) -> str:
    text, packed = f"e.{body}.text", f"e.{body}.base64"
    return f"octet_length(coalesce(CAST({text} AS binary), unbase64({packed})))"


def _settle(store: Store, done: Ingestion, now: datetime) -> None:
    """Write what was not taken in, and then that all of these files were looked at."""
    bad = [each for each in done.others if each.state == QUARANTINED]
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
    seen = [*done.others, *(_seen(report) for report in done.reports)]
    seen += [
        Seen(report.exchanges, INGESTED, report_id=report.report_id)
        for report in done.reports
        if report.exchanges is not None
    ]
    if not seen:
        return
    for attempt in attempts():
        with attempt:
            store.put(QUARANTINE, store.rows(told, QUARANTINE))
    if done.reports:
        _quarantine_lines(store, done, now)
    _take_out(store, [each.file.uri for each in seen if each.state != QUARANTINED], "q.line = 0")
    listed = [
        {
            "uri": each.file.uri,
            "size_bytes": each.file.size,
            "modified_ms": each.file.modified_ms,
            "sha256": each.sha256,
            "report_id": each.report_id,
            "state": each.state,
            "reason": each.reason,
            "seen_at": now,
        }
        for each in seen
    ]
    for attempt in attempts():
        with attempt:
            store.put(FILES, store.rows(listed, FILES))


def _seen(report: Report) -> Seen:
    return Seen(report.file, INGESTED, sha256=report.sha256, report_id=report.report_id)


def _quarantine_lines(store: Store, done: Ingestion, now: datetime) -> None:
    moment = now.astimezone(UTC).replace(tzinfo=None)
    read_again = [each.exchanges.uri for each in done.reports if each.renewed and each.exchanges]
    _take_out(store, read_again, "q.line > 0")
    for attempt in attempts():
        with attempt:
            bad = store.spark.sql(
                f"""
                SELECT file, line, sha256, report_id, problem AS reason, content AS excerpt,
                  TIMESTAMP'{moment}' AS seen_at
                FROM {store.name(LINES)} WHERE problem IS NOT NULL AND {_of(done.reports)}
                """
            )
            done.bad_lines = bad.count()
            if done.bad_lines:
                store.put(QUARANTINE, bad)
    counted = store.spark.sql(
        f"SELECT count(*) FROM {store.name(EXCHANGES)} WHERE {_of(done.reports)}"
    ).collect()
    done.lines = counted[0][0]


def _take_out(store: Store, uris: Sequence[str], which: str) -> None:
    """Take rows of files out of the quarantine; ``which`` is a condition for its rows ``q``."""
    if not uris:
        return
    _spread(store, [(uri,) for uri in uris], "uri string").createOrReplaceTempView("icecheck_files")
    name = store.name(QUARANTINE)
    same = f"q.file = f.uri AND {which}"
    for attempt in attempts():
        with attempt:
            query = f"SELECT count(*) FROM {name} q JOIN icecheck_files f ON {same}"
            if store.spark.sql(query).collect()[0][0]:
                store.spark.sql(
                    f"MERGE INTO {name} q USING icecheck_files f ON {same} WHEN MATCHED THEN DELETE"
                )


def _spread(store: Store, rows: Sequence[tuple[Any, ...]], schema: str) -> "DataFrame":
    """Return rows as a data frame in some partitions: what is next to each other is apart."""
    partitions = max(1, min(len(rows), _PARTITIONS_MAX))
    return store.spark.createDataFrame([*rows], schema).repartition(partitions)


def _of(reports: Sequence[Report], of: str = "") -> str:
    """Return the condition that a row belongs to one of these reports."""
    days = sorted({each.day for each in reports})
    dates = ", ".join(f"DATE'{day}'" for day in days)
    among = reports_among({each.report_id for each in reports}, of)
    return f"{among} AND {of}`day` IN ({dates})"
