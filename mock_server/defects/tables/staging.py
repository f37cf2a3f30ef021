"""Defects of staged creations of tables."""

from collections.abc import Callable

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import change_and_refuse
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.remembering import by_body, keep_listed, remembering
from icecheck.mock_server.defects.kit.requests import Json, sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    alter_request_body,
    wrap,
)
from icecheck.mock_server.defects.kit.storing import without_sent_table
from icecheck.mock_server.protocol import problem


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


def _staged_without(registries: Registries, change: Callable[[Json], Json]) -> None:
    """Let staging see an altered body; a table that is created at once is not affected."""

    def alter(body: Json) -> Json:
        return change(body) if body.get("stage-create") else body

    alter_request_body(registries, "createTable", alter)


declare_each(
    ("staged-table-listed", "createTable.stage-creates-nothing",
     "Staged tables are kept with the others, and only loading tells them apart.",
     "SHOW TABLES lists tables that cannot be read.",
     by(keep_listed, "createTable", "listTables", by_body,
        lambda call: sent_json(call).get("stage-create"))),
    ("staged-table-unpartitioned", "createTable.stage-returns-metadata",
     "Staging answers the table's default layout, not the one that was asked for.",
     "CREATE TABLE ... PARTITIONED BY ... AS SELECT makes an unpartitioned table.",
     by(_staged_answer,
        **{"partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999})),
    ("staged-table-unsorted", "createTable.stage-returns-metadata",
     "Staging answers without the sort order.",
     "The write order of CREATE TABLE AS SELECT is lost.",
     by(_staged_answer,
        **{"sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0})),
    ("staged-conflict-drops", "createTable.stage-over-existing",
     "Staging clears the name first and then finds that it was taken.",
     "A refused CREATE TABLE AS SELECT destroys the table that was there.",
     by(change_and_refuse, "createTable", 409,
        lambda _, state, call: without_sent_table(state, call))),
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
