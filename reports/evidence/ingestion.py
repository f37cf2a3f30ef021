"""Takes reports in: looks at the new files, writes bronze, then silver, then what gold says.

A report counts as taken in when it stands in ``bronze.reports``, which is written after all that it
brings. Each table is written in one commit and only for the reports that it lacks, so that a run
that was killed, or two at once, end in the same tables.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from icecheck.reports.evidence.arrivals import QUARANTINED, Arrivals, Seen
from icecheck.reports.evidence.declared_tables import (
    DOCUMENTS,
    EXCHANGES,
    FILES,
    LINES,
    REPORTS,
    Table,
    schema_of,
)
from icecheck.reports.evidence.documents import FROM_DOCUMENTS, rows_of
from icecheck.reports.evidence.files import SourceFile
from icecheck.reports.evidence.heads import HEAD_COLUMNS, contents, looking_at
from icecheck.reports.evidence.lines import UNREAD, exchange_lines
from icecheck.reports.evidence.settling import settle
from icecheck.reports.evidence.sorting import Ingestion, Report, Sorting, Taken, other_content
from icecheck.reports.evidence.store import Store, attempts, of_reports, reports_among

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

REPORTS_AT_ONCE = 200
"""How many reports are written in one commit: Iceberg prunes by a list of ids up to this length."""
# Version 1 of the tables gave the only piece of a document no number.
_FIRST = "coalesce(piece, 0) = 0"


def ingest(
    store: Store,
    files: Sequence[SourceFile],
    now: datetime,
    tell: Callable[[str], object] = lambda _: None,
) -> Ingestion:
    """Take in what is new among files; `tell` is told of each step."""
    arrivals = Arrivals(files, _known(store))
    fresh = [each for each in files if arrivals.is_fresh(each)]
    tell(f"{len(files)} files, {len(fresh)} of them new or changed")
    done = Ingestion()
    heads = _heads(store, arrivals.to_look_at(), now)
    arrivals.learn(heads)
    runs = [each for each in heads if not arrivals.by_uri[each["uri"]].holds_exchanges]
    sorting = Sorting(_taken_before(store, runs), arrivals, done)
    sorting.sort(runs)
    left = map(arrivals.with_digest, sorting.left())
    sorting.end(_lacking(store, {each.sha256 for each in left if each is not None}))
    found, done.reports = done.reports, []
    for start in range(0, len(found), REPORTS_AT_ONCE):
        some = _with_documents(store, found[start : start + REPORTS_AT_ONCE], done, tell)
        done.reports += _write(store, some, done, tell)
    settle(store, done, arrivals, now)
    return done


def _known(store: Store) -> dict[str, Seen]:
    """Return URI -> how a file was looked at before.

    What earlier releases put aside may have been put aside for a reason that has gone.
    """
    rows = store.spark.table(store.name(FILES)).collect()
    return {
        row.uri: Seen(
            SourceFile(row.uri, row.size_bytes, row.modified_ms),
            row.state,
            row.reason or "",
            row.sha256,
            row.report_id,
            row.state == QUARANTINED if row.look_again is None else row.look_again,
        )
        for row in rows
    }


def _heads(store: Store, files: Sequence[SourceFile], now: datetime) -> list[dict[str, Any]]:
    if not files:
        return []
    frame = store.spread([(each.uri,) for each in files], "uri string")
    found = frame.mapInPandas(looking_at(now), schema_of(HEAD_COLUMNS)).collect()
    return [row.asDict() for row in sorted(found, key=lambda row: str(row.uri))]


def _taken_before(store: Store, heads: Iterable[Mapping[str, Any]]) -> dict[str, Taken]:
    """Return report id -> what bronze has of it, for the reports among these."""
    wanted = [head["report_id"] for head in heads if not head["problem"]]
    there = store.reports_in(DOCUMENTS, wanted)
    if not there:
        return {}
    begun = store.spark.table(store.name(DOCUMENTS)).where(f"{_FIRST} AND {reports_among(there)}")
    columns = ("report_id", "day", "sha256", "file")
    found = {
        row.report_id: Taken(row.report_id, "", row.day, row.sha256, row.file, finished=False)
        for row in begun.select(*columns).collect()
    }
    return found | {each.report_id: each for each in _finished(store, reports_among(there))}


def _lacking(store: Store, digests: Iterable[str]) -> list[Taken]:
    """Return the reports that may have exchanges with these digests, or say nothing of theirs."""
    listed = ", ".join(f"'{each}'" for each in sorted(digests))
    if not listed:
        return []
    return _finished(store, f"exchanges_stated IS NULL OR exchanges_stated IN ({listed})")


def _finished(store: Store, which: str) -> list[Taken]:
    return [
        Taken(
            row.report_id,
            row.run_id or "",
            row.day,
            row.sha256,
            row.file,
            True,
            row.exchanges_stated,
            row.exchanges_file,
            row.exchanges_sha256,
        )
        for row in store.spark.table(store.name(REPORTS)).where(which).collect()
    ]


def _with_documents(
    store: Store, some: Sequence[Report], done: Ingestion, tell: Callable[[str], object]
) -> list[Report]:
    """Write the documents of reports; return those whose document is now the one in bronze.

    Another ingestion may have written one with other content, or a file may have changed.
    """
    fresh = {each.report_id: each for each in some if not each.renewed}
    _stage(store, DOCUMENTS, fresh, tell, _documents)
    if not some:
        return []
    stored = store.spark.table(store.name(DOCUMENTS)).where(f"{_FIRST} AND {of_reports(some)}")
    rows = stored.select("report_id", "sha256", "file").collect()
    there = {row.report_id: row for row in rows}
    kept, lost = [], []
    for report in some:
        row = there.get(report.report_id)
        if row is not None and row.sha256 == report.sha256:
            kept.append(report)
            continue
        words = "it changed while it was read: take it in again"
        if row is not None:
            words = other_content(report.run_id, row.file)
            lost.append(report)
        if report.file is not None:
            names = report.sha256, report.report_id
            done.others.append(Seen(report.file, QUARANTINED, words, *names, again=row is None))
    _take_back(store, lost)
    return kept


def _take_back(store: Store, lost: Sequence[Report]) -> None:
    """Delete the pieces of documents that came too late, where theirs are more than the first's."""
    if not lost:
        return
    theirs = ", ".join(f"'{each.sha256}'" for each in lost)
    which = f"{of_reports(lost)} AND sha256 IN ({theirs})"
    for attempt in attempts():
        with attempt:
            store.spark.sql(f"DELETE FROM {store.name(DOCUMENTS)} WHERE {which}")


def _write(
    store: Store, some: Sequence[Report], done: Ingestion, tell: Callable[[str], object]
) -> list[Report]:
    """Write what reports bring; return those of which everything is there."""
    reports = {each.report_id: each for each in some}
    fresh = {id_: each for id_, each in reports.items() if not each.renewed}
    for table in FROM_DOCUMENTS:
        _stage(store, table, fresh, tell, _from_documents(table))
    with_lines = {id_: each for id_, each in reports.items() if each.exchanges is not None}
    _stage(store, LINES, with_lines, tell, _lines)
    for id_ in _unread(store, [*with_lines.values()], done):
        del reports[id_], with_lines[id_]
    _stage(store, EXCHANGES, with_lines, tell, _exchanges)
    return [*reports.values()]


def _unread(store: Store, reports: Sequence[Report], done: Ingestion) -> list[str]:
    """Return the reports whose exchanges could not be read as they were looked at.

    Nothing of them stays in bronze; the next ingestion reads them.
    """
    if not reports:
        return []
    name, wrong = store.name(LINES), f"problem LIKE '{UNREAD}%'"
    rows = store.spark.sql(
        f"SELECT report_id, problem FROM {name} WHERE {wrong} AND {of_reports(reports)}"
    ).collect()
    why = {row.report_id: row.problem for row in rows}
    unread = [each for each in reports if each.report_id in why]
    for attempt in attempts() if unread else ():
        with attempt:
            store.spark.sql(f"DELETE FROM {name} WHERE {of_reports(unread)}")
    for each in unread:
        if each.exchanges is not None:
            file, names = each.exchanges.file, (each.exchanges.sha256, each.report_id, True)
            done.others.append(Seen(file, QUARANTINED, why[each.report_id], *names))
    return [*why]


def _stage(
    store: Store,
    table: Table,
    reports: Mapping[str, Report],
    tell: Callable[[str], object],
    make: "Callable[[Store, Sequence[Report]], DataFrame]",
) -> None:
    """Write the rows of those reports that a table lacks, in one commit.

    What another ingestion may have written is looked up, after a conflict that of all: the rows of
    a report are there together, or not at all. Rows of other exchanges are taken out before.
    """
    # Of a report that states nothing, another may have taken in other exchanges.
    begun = [
        id_
        for id_, each in reports.items()
        if each.resumed or each.renewed or (table in (LINES, EXCHANGES) and not each.stated)
    ]
    for attempt in attempts():
        with attempt:
            lacking, wrong = _lacking_in(store, table, reports, begun)
            begun = [*reports]
            if not lacking:
                return
            tell(f"{table.name}: {len(lacking)} runs")
            if wrong:
                store.spark.sql(f"DELETE FROM {store.name(table)} WHERE {of_reports(wrong)}")
            # Of two documents of one run the first stays.
            keeping = table is DOCUMENTS
            store.put(table, make(store, lacking), only=of_reports(lacking, "t."), keeping=keeping)


def _lacking_in(
    store: Store, table: Table, reports: Mapping[str, Report], begun: Sequence[str]
) -> tuple[list[Report], list[Report]]:
    """Return the reports whose rows a table lacks, and those of which it has rows of other files.

    Only those that were ``begun`` can have any.
    """
    ordered = [each for _, each in sorted(reports.items())]
    if table not in (LINES, EXCHANGES):
        there = store.reports_in(table, begun)
        return [each for each in ordered if each.report_id not in there], []
    digests = store.exchanges_in(table, begun)
    lacking = [
        each
        for each in ordered
        if each.exchanges and digests.get(each.report_id) != {each.exchanges.sha256}
    ]
    return lacking, [each for each in lacking if each.report_id in digests]


def _documents(store: Store, reports: Sequence[Report]) -> "DataFrame":
    rows = [(each.uri, each.sha256, each.report_id, each.day) for each in reports]
    frame = store.spread(rows, "uri string, sha256 string, report_id string, day date")
    return frame.mapInPandas(contents, schema_of(DOCUMENTS.columns))


def _from_documents(table: Table) -> "Callable[[Store, Sequence[Report]], DataFrame]":
    def make(store: Store, reports: Sequence[Report]) -> "DataFrame":
        pieces = store.spark.table(store.name(DOCUMENTS)).where(of_reports(reports))
        stored = pieces.repartition("report_id").sortWithinPartitions("report_id", "piece")
        return stored.mapInPandas(rows_of(table), schema_of(table.columns))

    return make


def _lines(store: Store, reports: Sequence[Report]) -> "DataFrame":
    found = [(each.exchanges, each) for each in reports if each.exchanges is not None]
    # The largest first: what is left at the end is small.
    found.sort(key=lambda each: -each[0].file.size)
    rows = [(its.file.uri, its.sha256, each.report_id, each.day) for its, each in found]
    columns = "uri string, exchanges_sha256 string, report_id string, day date"
    frame = store.spread(rows, columns)
    return frame.mapInPandas(exchange_lines, schema_of(LINES.columns))


def _exchanges(store: Store, reports: Sequence[Report]) -> "DataFrame":
    lines = store.spark.table(store.name(LINES)).where(f"problem IS NULL AND {of_reports(reports)}")
    return lines.select(*EXCHANGES.columns)
