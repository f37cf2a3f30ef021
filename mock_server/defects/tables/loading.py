"""Defects of loadTable and tableExists."""

from itertools import count
from typing import Any

import msgspec

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import answer_of, call_of
from icecheck.mock_server.defects.kit.remembering import answer_again, by_name, remembering
from icecheck.mock_server.defects.kit.requests import Json, Name
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    alter_body,
    answer_status,
    refuse_as,
    wrap,
)
from icecheck.mock_server.protocol import problem, replies


def _metadata_as(registries: Registries, /, **members: Any) -> None:
    """Answer loads with altered metadata members; a member that is None is left out."""

    def altered(body: Json) -> Json:
        metadata = {k: v for k, v in (body["metadata"] | members).items() if v is not None}
        return body | {"metadata": metadata}

    alter_body(registries, "loadTable", altered)


# ------------------------------------------------------------------ which table


@defect(
    "load-answers-first-table",
    on="loadTable",
    breaks="loadTable.200",
    suffering="A query reads another table than the one it names.",
)
def _answers_first_table(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A load answers the first table of the namespace."""
    outcome = faithful(state, call)
    entry = state.namespace(call.namespace)
    if entry is None:
        return outcome
    _, first = next(entry.tables.after())
    return msgspec.structs.replace(outcome, reply=publication.load_reply(first))


declare_each(
    ("load-answered-201", "loadTable.200", "A load is answered 201.",
     "The Java client takes 201 for an error.", by(answer_status, "loadTable", 201)),
    ("load-missing-500", "loadTable.404", "A table that is not there is answered 500.",
     "Clients retry for minutes instead of creating the table.",
     by(refuse_as, "loadTable", 404, 500, "InternalServerError")),
    ("load-missing-empty", "loadTable.404",
     "A table that is not there is answered 200 and an empty object.",
     "Clients fail with an error about the answer instead of the table.",
     by(refuse_as, "loadTable", 404, 200)),
    ("load-missing-namespace-400", "loadTable.404",
     "A table in a namespace that is not there is answered 400.",
     "IF NOT EXISTS fails when the database is missing too.",
     by(refuse_where, "loadTable", lambda state, call: state.namespace(call.namespace) is None)),
    ("load-metadata-table-400", "loadTable.metadata-tables-not-found",
     "A table's name in the place of a namespace is answered 400.",
     "SELECT * FROM table.snapshots fails.",
     by(refuse_where, "loadTable",
        lambda state, call: state.table(call.namespace[:-1], call.namespace[-1]) is not None)),
)  # fmt: skip


# ------------------------------------------------------------------ which version


@defect(
    "load-old-location",
    on=remembering(dict, alter_answer, "loadTable"),
    breaks="loadTable.latest",
    suffering="Clients that compare metadata locations never see a change.",
)
def _old_location(first: dict[Name, str], call: Call, body: Json) -> Json:
    """The metadata location stays that of the first version."""
    location = first.setdefault((call.namespace, call.name), body["metadata-location"])
    return body | {"metadata-location": location}


@defect(
    "load-location-signed",
    on=remembering(count, alter_body, "loadTable"),
    breaks="loadTable.stable",
    suffering="Clients take every load for a new version and drop their caches.",
)
def _location_signed(answers: "count[int]", body: Json) -> Json:
    """The metadata location carries a signature that is made anew for every answer."""
    return body | {"metadata-location": f"{body['metadata-location']}?sig={next(answers)}"}


@defect(
    "load-schema-reordered",
    on=remembering(count, alter_body, "loadTable"),
    breaks="loadTable.stable",
    suffering="Columns change their places between two queries.",
)
def _schema_reordered(answers: "count[int]", body: Json) -> Json:
    """Columns are answered in the order of a hash table."""
    step = -1 if next(answers) % 2 else 1
    schemas = [s | {"fields": s["fields"][::step]} for s in body["metadata"]["schemas"]]
    return body | {"metadata": body["metadata"] | {"schemas": schemas}}


declare_each(
    ("load-cached", "loadTable.latest", "The first answer of a load is kept for ever.",
     "Readers miss writes that were acknowledged.",
     by(answer_again, "loadTable", by_name, blindly=True)),
    ("load-without-location", "loadTable.metadata-location",
     "The metadata location of a committed table is null.",
     "Clients cannot tell a new version from the old one.",
     by(alter_body, "loadTable", lambda body: body | {"metadata-location": None})),
)  # fmt: skip


# ------------------------------------------------------------------ extent of the answer


declare_each(
    ("load-without-last-column-id", "loadTable.full-metadata",
     "Metadata is assembled from a database that has no last-column-id.",
     "The Java client and PyIceberg refuse to read the table.",
     by(_metadata_as, **{"last-column-id": None})),
    ("load-dangling-schema-id", "loadTable.full-metadata",
     "The current schema's id is counted from 1, those of the schemas from 0.",
     "Clients find no current schema.", by(_metadata_as, **{"current-schema-id": 1})),
)  # fmt: skip


@defect(
    "load-last-column-id-of-columns",
    on=answer_of("loadTable"),
    breaks="loadTable.full-metadata",
    suffering="A new column takes the id of a nested one, and readers mix them up.",
)
def _last_column_id_of_columns(body: Json) -> Json:
    """The last column id is the number of top-level columns."""
    columns = len(body["metadata"]["schemas"][0]["fields"])
    return body | {"metadata": body["metadata"] | {"last-column-id": columns}}


@defect(
    "load-empty-table-snapshot-0",
    on=answer_of("loadTable"),
    breaks="loadTable.empty-table",
    suffering="Readers of an empty table look for a snapshot that does not exist.",
)
def _empty_table_snapshot_0(body: Json) -> Json:
    """No current snapshot is written as the number 0."""
    metadata = body["metadata"]
    none = metadata.get("current-snapshot-id") in {None, -1}
    return body | {"metadata": metadata | {"current-snapshot-id": 0}} if none else body


@defect(
    "load-newest-snapshots-only",
    on=answer_of("loadTable"),
    breaks="loadTable.snapshots-default-all",
    suffering="Time travel and expiry see a part of the history only.",
)
def _newest_snapshots_only(body: Json) -> Json:
    """Only the newest two snapshots are answered."""
    newest = body["metadata"]["snapshots"][-2:]
    return body | {"metadata": body["metadata"] | {"snapshots": newest}}


@defect(
    "load-refs-means-main",
    on=through(alter_answer, "loadTable"),
    breaks="loadTable.snapshots-refs",
    suffering="Branches and tags cannot be read in snapshot-loading-mode refs.",
)
def _refs_means_main(call: Call, body: Json) -> Json:
    """With snapshots=refs only the current snapshot is answered."""
    if call.query.get("snapshots") != "refs":
        return body
    metadata = body["metadata"]
    current = metadata["current-snapshot-id"]
    shown = [s for s in metadata["snapshots"] if s["snapshot-id"] == current]
    return body | {"metadata": metadata | {"snapshots": shown}}


def _cut(registries: Registries, *members: str) -> None:
    """With snapshots=refs, leave out of these lists too what is about other snapshots."""

    def altered(call: Call, body: Json) -> Json:
        if call.query.get("snapshots") != "refs":
            return body
        metadata = body["metadata"]
        shown = {each["snapshot-id"] for each in metadata.get("snapshots", ())}
        cut = {
            member: [each for each in metadata[member] if each["snapshot-id"] in shown]
            for member in members
            if member in metadata
        }
        return body | {"metadata": metadata | cut}

    alter_answer(registries, "loadTable", altered)


declare_each(
    ("load-refs-cuts-the-log", "loadTable.snapshots-refs-only",
     "With snapshots=refs, the log names the answered snapshots only.",
     "Spark finds no snapshot for TIMESTAMP AS OF in snapshot-loading-mode refs.",
     by(_cut, "snapshot-log")),
    ("load-refs-cuts-statistics", "loadTable.snapshots-refs-only",
     "With snapshots=refs, statistics of other snapshots are left out.",
     "Expiry in snapshot-loading-mode refs takes files of statistics for orphans.",
     by(_cut, "statistics", "partition-statistics")),
)  # fmt: skip


@defect(
    "load-any-snapshots-parameter",
    on=call_of("loadTable"),
    breaks="loadTable.400",
    suffering="A misspelled parameter goes unnoticed.",
)
def _any_snapshots_parameter(call: Call) -> Call:
    """A snapshots parameter that is unknown is ignored."""
    known = call.query.get("snapshots") in {"all", "refs"}
    query = {k: v for k, v in call.query.items() if k != "snapshots" or known}
    return msgspec.structs.replace(call, query=query)


# ------------------------------------------------------------------ tableExists


declare_each(
    ("table-head-200", "tableExists.204", "HEAD on a table is answered as GET would be: 200.",
     "PyIceberg does not take 200 for a yes.", by(answer_status, "tableExists", 200)),
    ("table-head-always-204", "tableExists.404", "HEAD finds every table.",
     "CREATE TABLE IF NOT EXISTS creates nothing.", by(refuse_as, "tableExists", 404, 204)),
    ("table-head-missing-400", "tableExists.404", "HEAD on a missing table is answered 400.",
     "CREATE TABLE IF NOT EXISTS fails.",
     by(refuse_as, "tableExists", 404, 400, "BadRequestException")),
)  # fmt: skip


@defect(
    "table-head-cached",
    breaks="tableExists.agrees-with-load",
    suffering="A new table does not exist until the cache expires.",
)
def _head_cached(registries: Registries) -> None:
    """HEAD remembers its first answer about a name."""
    missing: set[Name] = set()
    found: set[Name] = set()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        name = (call.namespace, call.name)
        if name in missing:
            raise problem.no_such_table(*name)
        if name in found:
            return Outcome(state, replies.NO_CONTENT)
        known = found if state.table(*name) is not None else missing
        known.add(name)
        return faithful(state, call)

    wrap(registries, "tableExists", around)
