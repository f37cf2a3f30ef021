"""Defects of registerTable."""

from typing import Any

import msgspec

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import (
    make_namespace,
    refuse_where,
    write_and_refuse,
)
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import answer_of
from icecheck.mock_server.defects.kit.remembering import by_body, by_path, refuse_later
from icecheck.mock_server.defects.kit.requests import sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_request_body,
    answer_status,
    refuse_as,
)
from icecheck.mock_server.defects.kit.storing import (
    store_otherwise,
    with_metadata,
    without_sent_table,
)
from icecheck.mock_server.metadata.column_types import (
    FieldType,
    ListType,
    MapType,
    StructField,
    StructType,
)
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem


def _register_with(registries: Registries, /, **members: Any) -> None:
    """Let a registration keep these members of the metadata in place of those in the file."""
    store_otherwise(
        registries, "registerTable", lambda made, _: msgspec.structs.replace(made, **members)
    )


@defect(
    "register-refuses-its-own-files",
    on="registerTable",
    breaks="registerTable.200",
    suffering="Tables cannot be moved between catalogs.",
)
def _refuses_its_own_files(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Only files below one fixed directory may be registered."""
    faithful(state, call)
    raise problem.bad_request("The metadata location is not allowed")


@defect(
    "register-answer-is-a-draft",
    on=answer_of("registerTable"),
    breaks="registerTable.answer-is-the-table",
    suffering="A client works on columns and a location that the table does not have.",
)
def _answer_is_a_draft(body: Any) -> Any:
    """The answer is made before the file is read to its end."""
    body["metadata"]["last-column-id"] += 1
    return body


@defect(
    "register-copies-the-file",
    on="registerTable",
    breaks="registerTable.in-place",
    suffering="Two catalogs that share a table drift apart.",
)
def _copies_the_file(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A registered file is copied to where the catalog would have put it."""
    outcome = faithful(state, call)
    entry = outcome.state.table(call.namespace, sent_name(call))
    if entry is None:
        return outcome
    copy = f"{entry.metadata_location.rpartition('/')[0]}/00000-copy.metadata.json"
    moved = with_metadata(faithful.context, entry, entry.metadata, copy)
    kept = outcome.state.with_table(call.namespace, sent_name(call), moved)
    return Outcome(kept, publication.load_reply(moved))


declare_each(
    ("register-makes-its-namespace", "registerTable.404",
     "A namespace that is missing is made along with the table.",
     "A misspelled database name makes a new database.", by(make_namespace, "registerTable")),
    ("register-201", "registerTable.200", "A registered table is answered 201.",
     "The Java client takes 201 for an error, and the table is there all the same.",
     by(answer_status, "registerTable", 201)),
    ("register-malformed-500", "registerTable.400", "The parser's error is caught by nobody.",
     "A client's mistake is reported as a failure of the server.",
     by(refuse_as, "registerTable", 400, 500, "InternalServerError")),
    ("register-over-another", "registerTable.409", "Every registration overwrites.",
     "Registering under a name that is taken destroys the table that has it.",
     by(alter_request_body, "registerTable", lambda body: body | {"overwrite": True})),
    ("register-conflict-writes", "registerTable.overwrite-default",
     "A registration is written first and then refused because the table exists.",
     "A refused registration has replaced the table all the same.",
     by(write_and_refuse, "registerTable", without_sent_table)),
    ("register-new-uuid", "registerTable.same-table", "A registered table gets a uuid of its own.",
     "Writers that know the table refuse it as another one.",
     by(
         store_otherwise,
         "registerTable",
         lambda metadata, _: msgspec.structs.replace(
             metadata, table_uuid=f"00000000{metadata.table_uuid[8:]}"
         ),
     )),
    ("register-without-history", "registerTable.same-table",
     "Registering takes over the schema only.", "A registered table is empty.",
     by(_register_with, snapshots=(), refs={}, current_snapshot_id=None)),
    ("register-without-statistics", "roundtrip.registerTable",
     "Registering takes over what the server itself makes use of.",
     "Plans of a table that was moved are made without its statistics.",
     by(_register_with, statistics=(), partition_statistics=())),
    ("register-without-logs", "roundtrip.registerTable", "A registered table begins its logs anew.",
     "A table that was moved has no yesterday: FOR TIMESTAMP AS OF finds nothing.",
     by(_register_with, snapshot_log=(), metadata_log=())),
    ("register-refuses-two-delegations", "registerTable.access-delegation-list",
     "The access delegation header of a registration is read as one word.",
     "Clients that offer both ways of access to files can move no table here.",
     by(refuse_where, "registerTable",
        lambda _, call: "," in call.request.headers.get("x-iceberg-access-delegation", ""))),
    ("register-cannot-delegate", "registerTable.access-delegation-list",
     "Access to files that were not made here is not implemented, and is answered 500.",
     "PyIceberg, which asks for access with every request, can move no table here.",
     by(refuse_where, "registerTable",
        lambda _, call: "x-iceberg-access-delegation" in call.request.headers, 500,
        "NotImplementedError")),
    ("register-read-only", "registerTable.writable",
     "Registered tables belong to somebody else: commits to them are refused.",
     "A table that was moved here can be read and no longer written.",
     by(refuse_later, ("registerTable", by_body), ("updateTable", by_path), 400,
        "BadRequestException")),
)  # fmt: skip


@defect(
    "register-unread",
    on="registerTable",
    breaks="registerTable.unreadable-refused",
    suffering="A misspelled location makes a table that nobody can read.",
)
def _unread(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A registration only notes the location; the file is read when the table is."""
    try:
        return faithful(state, call)
    except Problem as refused:
        location = sent_json(call).get("metadata-location")
        if refused.status != 400 or location is None:
            raise
        return Outcome(state, replies.json_reply({"metadata-location": location}))


@defect(
    "register-overwrite-ignored",
    on="registerTable",
    breaks="registerTable.overwrite",
    suffering="Going back to an earlier version of a table succeeds and does nothing.",
)
def _overwrite_ignored(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Registering over a table with overwrite answers that table."""
    entry = state.table(call.namespace, sent_name(call))
    if entry is None or not sent_json(call).get("overwrite"):
        return faithful(state, call)
    return Outcome(state, publication.load_reply(entry))


# ---- files with nested columns


def _nullable_inside(type_: FieldType) -> FieldType:
    """Return a type in which the elements of lists and the values of maps may be null."""
    with_ = msgspec.structs.replace
    match type_:
        case ListType():
            return with_(type_, element=_nullable_inside(type_.element), element_required=False)
        case MapType():
            return with_(type_, value=_nullable_inside(type_.value), value_required=False)
        case StructType():
            return StructType(fields=_with_nullable(type_.fields))
    return type_


def _with_nullable(fields: tuple[StructField, ...]) -> tuple[StructField, ...]:
    return tuple(msgspec.structs.replace(each, type=_nullable_inside(each.type)) for each in fields)


@defect(
    "register-elements-optional",
    on=through(store_otherwise, "registerTable"),
    breaks="roundtrip.registerTable",
    suffering="A table that was moved here takes nulls that its owner forbade.",
)
def _elements_optional(metadata: TableMetadata, _body: Any) -> TableMetadata:
    """Elements of lists and values of maps that a file has are optional, whatever it says."""
    schemas = tuple(
        msgspec.structs.replace(each, fields=_with_nullable(each.fields))
        for each in metadata.schemas
    )
    return msgspec.structs.replace(metadata, schemas=schemas)


@defect(
    "register-of-plain-columns-only",
    on="registerTable",
    breaks="roundtrip.registerTable",
    suffering="Tables with lists or maps cannot be moved here.",
)
def _plain_columns_only(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The reader of files knows no type inside of another one."""
    outcome = faithful(state, call)
    entry = outcome.state.table(call.namespace, sent_name(call))
    fields = (
        [field for schema in entry.metadata.schemas for field in schema.fields] if entry else []
    )
    if all(isinstance(field.type, str) for field in fields):
        return outcome
    raise problem.bad_request("Cannot parse the type of a column")
