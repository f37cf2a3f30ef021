"""Defects of staged creations of tables."""

from collections.abc import Callable

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.remembering import remembering
from icecheck.mock_server.defects.kit.requests import Json, sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    alter_request_body,
    wrap,
)
from icecheck.mock_server.defects.kit.storing import without_sent_table
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem


@defect(
    "staged-table-listed",
    breaks="createTable.stage-creates-nothing",
    suffering="SHOW TABLES lists tables that cannot be read.",
)
def _staged_listed(registries: Registries) -> None:
    """Staged tables are kept with the others, and only loading tells them apart."""
    staged: list[Json] = []

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if sent_json(call).get("stage-create"):
            staged.append({"namespace": [*call.namespace], "name": sent_name(call)})
        return faithful(state, call)

    def listed(call: Call, body: Json) -> Json:
        more = [i for i in staged if i["namespace"] == [*call.namespace]]
        return body | {"identifiers": [*body["identifiers"], *more]}

    wrap(registries, "createTable", around)
    alter_answer(registries, "listTables", listed)


@defect(
    "staged-table-reserves-its-name",
    on=remembering(set, wrap, "createTable"),
    breaks="createTable.stage-creates-nothing",
    suffering="A name stays blocked after a job died in CREATE TABLE AS SELECT.",
)
def _staged_reserves(
    reserved: set[tuple[tuple[str, ...], str]],
    faithful: Faithful,
    state: WarehouseState,
    call: Call,
) -> Outcome:
    """The name of a staged table is taken."""
    name = (call.namespace, sent_name(call))
    if name in reserved:
        raise problem.already_exists(f"Table already exists: {name[1]}")
    outcome = faithful(state, call)
    if sent_json(call).get("stage-create"):
        reserved.add(name)
    return outcome


def _staged_answer(registries: Registries, /, **members: object) -> None:
    def altered(call: Call, body: Json) -> Json:
        if not sent_json(call).get("stage-create"):
            return body
        return body | {"metadata": body["metadata"] | members}

    alter_answer(registries, "createTable", altered)


@defect(
    "staged-table-unpartitioned",
    breaks="createTable.stage-returns-metadata",
    suffering="CREATE TABLE ... PARTITIONED BY ... AS SELECT makes an unpartitioned table.",
)
def _staged_unpartitioned(registries: Registries) -> None:
    """Staging answers the table's default layout, not the one that was asked for."""
    unpartitioned = [{"spec-id": 0, "fields": []}]
    _staged_answer(registries, **{"partition-specs": unpartitioned, "last-partition-id": 999})


@defect(
    "staged-table-unsorted",
    breaks="createTable.stage-returns-metadata",
    suffering="The write order of CREATE TABLE AS SELECT is lost.",
)
def _staged_unsorted(registries: Registries) -> None:
    """Staging answers without the sort order."""
    unsorted = [{"order-id": 0, "fields": []}]
    _staged_answer(registries, **{"sort-orders": unsorted, "default-sort-order-id": 0})


@defect(
    "staged-over-another",
    on="createTable",
    breaks="createTable.stage-over-existing",
    suffering="CREATE TABLE AS SELECT writes all files before it learns of the conflict.",
)
def _staged_over_another(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Staging does not look whether the name is taken."""
    if not sent_json(call).get("stage-create"):
        return faithful(state, call)
    outcome = faithful(without_sent_table(state, call), call)
    return Outcome(state, outcome.reply)


@defect(
    "staged-conflict-drops",
    on="createTable",
    breaks="createTable.stage-over-existing",
    suffering="A refused CREATE TABLE AS SELECT destroys the table that was there.",
)
def _staged_conflict_drops(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Staging clears the name first and then finds that it was taken."""
    try:
        return faithful(state, call)
    except Problem as refused:
        if refused.status != 409:
            raise
        return Outcome(without_sent_table(state, call), replies.problem_reply(refused))


def _staged_without(registries: Registries, change: Callable[[Json], Json]) -> None:
    """Let staging see an altered body; a table that is created at once is not affected."""

    def alter(body: Json) -> Json:
        return change(body) if body.get("stage-create") else body

    alter_request_body(registries, "createTable", alter)


declare_each(
    ("staged-table-created", "createTable.stage-creates-nothing",
     "The member stage-create is ignored.",
     "A failed CREATE TABLE AS SELECT leaves an empty table behind.",
     by(alter_request_body, "createTable", lambda body: body | {"stage-create": False})),
    ("staged-table-without-properties", "createTable.stage-returns-metadata",
     "Staging answers without the properties.", "TBLPROPERTIES of CREATE TABLE AS SELECT are lost.",
     by(_staged_answer, properties={})),
    ("staged-table-is-put-elsewhere", "createTable.stage-returns-metadata",
     "Staging does not pass the location on.",
     "CREATE TABLE … LOCATION … AS SELECT writes to another place.",
     by(_staged_without, lambda body: body | {"location": None})),
)  # fmt: skip


@defect(
    "staged-table-has-the-default-version",
    on=through(_staged_without),
    breaks="createTable.stage-returns-metadata",
    suffering="CREATE TABLE AS SELECT makes a table of another format version than it says.",
)
def _staged_default_version(body: Json) -> Json:
    """Staging does not look for the format version among the properties."""
    properties = body.get("properties") or {}
    return body | {"properties": {k: v for k, v in properties.items() if k != "format-version"}}


@defect(
    "staged-table-has-no-identifier-fields",
    on=through(_staged_without),
    breaks="createTable.stage-returns-metadata",
    suffering="A table made by CREATE TABLE AS SELECT has no key for upserts.",
)
def _staged_without_identifiers(body: Json) -> Json:
    """Staging builds its own schema of the columns alone."""
    schema = body.get("schema")
    if not isinstance(schema, dict):
        return body
    return body | {"schema": {**schema, "identifier-field-ids": []}}
