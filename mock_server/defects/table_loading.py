"""Ways in which servers answer loads and existence checks of tables wrongly."""

from typing import Any

import msgspec

from icecheck.mock_server import problem, publication, replies
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import (
    alter_answer,
    alter_body,
    alter_call,
    answer_status,
    refuse_as,
    wrap,
)
from icecheck.mock_server.defects.storing import Body
from icecheck.mock_server.state import WarehouseState

TableName = tuple[tuple[str, ...], str]


def _metadata_as(registries: Registries, **members: Any) -> None:
    """Answer loads with other members; one that is None is left out."""

    def altered(body: Body) -> Body:
        metadata = {k: v for k, v in (body["metadata"] | members).items() if v is not None}
        return body | {"metadata": metadata}

    alter_body(registries, "loadTable", altered)


# ------------------------------------------------------------------ which table


@defect(
    "load-answered-201",
    breaks="loadTable.200",
    suffering="The Java client takes 201 for an error.",
)
def _answered_201(registries: Registries) -> None:
    """A load is answered 201."""
    answer_status(registries, "loadTable", 201)


@defect(
    "load-answers-first-table",
    breaks="loadTable.200",
    suffering="A query reads another table than the one it names.",
)
def _answers_first_table(registries: Registries) -> None:
    """A load answers the first table of the namespace."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        entry = state.namespace(call.namespace)
        if entry is None:
            return outcome
        _, first = next(entry.tables.after())
        return msgspec.structs.replace(outcome, reply=publication.load_reply(first))

    wrap(registries, "loadTable", around)


@defect(
    "load-missing-500",
    breaks="loadTable.404",
    suffering="Clients retry for minutes instead of creating the table.",
)
def _missing_500(registries: Registries) -> None:
    """A table that is not there is answered 500."""
    refuse_as(registries, "loadTable", 404, 500, "InternalServerError")


@defect(
    "load-missing-empty",
    breaks="loadTable.404",
    suffering="Clients fail with an error about the answer instead of the table.",
)
def _missing_empty(registries: Registries) -> None:
    """A table that is not there is answered 200 and an empty object."""
    refuse_as(registries, "loadTable", 404, 200)


@defect(
    "load-missing-namespace-400",
    breaks="loadTable.404",
    suffering="IF NOT EXISTS fails when the database is missing too.",
)
def _missing_namespace_400(registries: Registries) -> None:
    """A table in a namespace that is not there is answered 400."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if state.namespace(call.namespace) is None:
            raise problem.bad_request("Invalid namespace")
        return faithful(context, state, call)

    wrap(registries, "loadTable", around)


@defect(
    "load-metadata-table-400",
    breaks="loadTable.metadata-tables-not-found",
    suffering="SELECT * FROM table.snapshots fails.",
)
def _metadata_table_400(registries: Registries) -> None:
    """A table's name in the place of a namespace is answered 400."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        *above, last = call.namespace
        if state.table(tuple(above), last) is not None:
            raise problem.bad_request(f"Not a namespace: {last}")
        return faithful(context, state, call)

    wrap(registries, "loadTable", around)


# ------------------------------------------------------------------ which version


@defect(
    "load-cached",
    breaks="loadTable.latest",
    suffering="Readers miss writes that were acknowledged.",
)
def _cached(registries: Registries) -> None:
    """The first answer of a load is kept for ever."""
    kept: dict[TableName, Outcome] = {}

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        name = (call.namespace, call.name)
        if name not in kept:
            kept[name] = faithful(context, state, call)
        return kept[name]

    wrap(registries, "loadTable", around)


@defect(
    "load-old-location",
    breaks="loadTable.latest",
    suffering="Clients that compare metadata locations never see a change.",
)
def _old_location(registries: Registries) -> None:
    """The metadata location stays that of the first version."""
    first: dict[TableName, str] = {}

    def altered(call: Call, body: Body) -> Body:
        location = first.setdefault((call.namespace, call.name), body["metadata-location"])
        return body | {"metadata-location": location}

    alter_answer(registries, "loadTable", altered)


@defect(
    "load-location-signed",
    breaks="loadTable.stable",
    suffering="Clients take every load for a new version and drop their caches.",
)
def _location_signed(registries: Registries) -> None:
    """The metadata location carries a signature that is made anew for every answer."""
    answers = iter(range(1, 1_000_000))

    def altered(body: Body) -> Body:
        return body | {"metadata-location": f"{body['metadata-location']}?sig={next(answers)}"}

    alter_body(registries, "loadTable", altered)


@defect(
    "load-schema-reordered",
    breaks="loadTable.stable",
    suffering="Columns change their places between two queries.",
)
def _schema_reordered(registries: Registries) -> None:
    """Columns are answered in the order of a hash table."""
    answers = iter(range(1_000_000))

    def altered(body: Body) -> Body:
        step = -1 if next(answers) % 2 else 1
        schemas = [s | {"fields": s["fields"][::step]} for s in body["metadata"]["schemas"]]
        return body | {"metadata": body["metadata"] | {"schemas": schemas}}

    alter_body(registries, "loadTable", altered)


@defect(
    "load-without-location",
    breaks="loadTable.metadata-location",
    suffering="Clients cannot tell a new version from the old one.",
)
def _without_location(registries: Registries) -> None:
    """The metadata location of a committed table is null."""
    alter_body(registries, "loadTable", lambda body: body | {"metadata-location": None})


# ------------------------------------------------------------------ how much of it


@defect(
    "load-without-last-column-id",
    breaks="loadTable.full-metadata",
    suffering="The Java client and PyIceberg refuse to read the table.",
)
def _without_last_column_id(registries: Registries) -> None:
    """Metadata is assembled from a database that has no last-column-id."""
    _metadata_as(registries, **{"last-column-id": None})


@defect(
    "load-dangling-schema-id",
    breaks="loadTable.full-metadata",
    suffering="Clients find no current schema.",
)
def _dangling_schema_id(registries: Registries) -> None:
    """The current schema's id is counted from 1, those of the schemas from 0."""
    _metadata_as(registries, **{"current-schema-id": 1})


@defect(
    "load-last-column-id-of-columns",
    breaks="loadTable.full-metadata",
    suffering="A new column takes the id of a nested one, and readers mix them up.",
)
def _last_column_id_of_columns(registries: Registries) -> None:
    """The last column id is the number of top-level columns."""

    def altered(body: Body) -> Body:
        columns = len(body["metadata"]["schemas"][0]["fields"])
        return body | {"metadata": body["metadata"] | {"last-column-id": columns}}

    alter_body(registries, "loadTable", altered)


@defect(
    "load-empty-table-snapshot-0",
    breaks="loadTable.empty-table",
    suffering="Readers of an empty table look for a snapshot that does not exist.",
)
def _empty_table_snapshot_0(registries: Registries) -> None:
    """No current snapshot is written as the number 0."""

    def altered(body: Body) -> Body:
        metadata = body["metadata"]
        none = metadata.get("current-snapshot-id") in {None, -1}
        return body | {"metadata": metadata | {"current-snapshot-id": 0}} if none else body

    alter_body(registries, "loadTable", altered)


@defect(
    "load-newest-snapshots-only",
    breaks="loadTable.snapshots-default-all",
    suffering="Time travel and expiry see a part of the history only.",
)
def _newest_snapshots_only(registries: Registries) -> None:
    """Only the newest two snapshots are answered."""

    def altered(body: Body) -> Body:
        newest = body["metadata"]["snapshots"][-2:]
        return body | {"metadata": body["metadata"] | {"snapshots": newest}}

    alter_body(registries, "loadTable", altered)


@defect(
    "load-refs-means-main",
    breaks="loadTable.snapshots-refs",
    suffering="Branches and tags cannot be read in snapshot-loading-mode refs.",
)
def _refs_means_main(registries: Registries) -> None:
    """With snapshots=refs only the current snapshot is answered."""

    def altered(call: Call, body: Body) -> Body:
        if call.query.get("snapshots") != "refs":
            return body
        metadata = body["metadata"]
        current = metadata["current-snapshot-id"]
        shown = [s for s in metadata["snapshots"] if s["snapshot-id"] == current]
        return body | {"metadata": metadata | {"snapshots": shown}}

    alter_answer(registries, "loadTable", altered)


@defect(
    "load-any-snapshots-parameter",
    breaks="loadTable.400",
    suffering="A misspelled parameter goes unnoticed.",
)
def _any_snapshots_parameter(registries: Registries) -> None:
    """A snapshots parameter that is unknown is ignored."""

    def altered(call: Call) -> Call:
        known = call.query.get("snapshots") in {"all", "refs"}
        query = {k: v for k, v in call.query.items() if k != "snapshots" or known}
        return msgspec.structs.replace(call, query=query)

    alter_call(registries, "loadTable", altered)


# ------------------------------------------------------------------ tableExists


@defect(
    "table-head-200",
    breaks="tableExists.204",
    suffering="PyIceberg does not take 200 for a yes.",
)
def _head_200(registries: Registries) -> None:
    """HEAD on a table is answered as GET would be: 200."""
    answer_status(registries, "tableExists", 200)


@defect(
    "table-head-always-204",
    breaks="tableExists.404",
    suffering="CREATE TABLE IF NOT EXISTS creates nothing.",
)
def _head_always_204(registries: Registries) -> None:
    """HEAD finds every table."""
    refuse_as(registries, "tableExists", 404, 204)


@defect(
    "table-head-missing-400",
    breaks="tableExists.404",
    suffering="CREATE TABLE IF NOT EXISTS fails.",
)
def _head_missing_400(registries: Registries) -> None:
    """HEAD on a missing table is answered 400."""
    refuse_as(registries, "tableExists", 404, 400, "BadRequestException")


@defect(
    "table-head-cached",
    breaks="tableExists.agrees-with-load",
    suffering="A new table does not exist until the cache expires.",
)
def _head_cached(registries: Registries) -> None:
    """HEAD remembers its first answer about a name."""
    missing: set[TableName] = set()
    found: set[TableName] = set()

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        name = (call.namespace, call.name)
        if name in missing:
            raise problem.no_such_table(*name)
        if name in found:
            return Outcome(state, replies.NO_CONTENT)
        known = found if state.table(*name) is not None else missing
        known.add(name)
        return faithful(context, state, call)

    wrap(registries, "tableExists", around)
