"""Defects of registerTable."""

from typing import Any

import msgspec

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import answer_of
from icecheck.mock_server.defects.kit.requests import Json, sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_request_body,
    answer_status,
    refuse_as,
    wrap,
)
from icecheck.mock_server.defects.kit.storing import (
    store_otherwise,
    with_metadata,
    without_sent_table,
)
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem


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
    "register-makes-its-namespace",
    on="registerTable",
    breaks="registerTable.404",
    suffering="A misspelled database name makes a new database.",
)
def _makes_its_namespace(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A namespace that is missing is made along with the table."""
    if state.namespace(call.namespace) is None:
        state = state.with_namespace(call.namespace, {})
    return faithful(state, call)


declare_each(
    ("register-201", "registerTable.200", "A registered table is answered 201.",
     "The Java client takes 201 for an error, and the table is there all the same.",
     by(answer_status, "registerTable", 201)),
    ("register-malformed-500", "registerTable.400", "The parser's error is caught by nobody.",
     "A client's mistake is reported as a failure of the server.",
     by(refuse_as, "registerTable", 400, 500, "InternalServerError")),
    ("register-over-another", "registerTable.409", "Every registration overwrites.",
     "Registering under a name that is taken destroys the table that has it.",
     by(alter_request_body, "registerTable", lambda body: body | {"overwrite": True})),
)  # fmt: skip


@defect(
    "register-conflict-writes",
    on="registerTable",
    breaks="registerTable.overwrite-default",
    suffering="A refused registration has replaced the table all the same.",
)
def _conflict_writes(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A registration is written first and then refused because the table exists."""
    try:
        return faithful(state, call)
    except Problem as refused:
        if refused.status != 409:
            raise
        written = faithful(without_sent_table(state, call), call)
        return Outcome(written.state, replies.problem_reply(refused))


@defect(
    "register-new-uuid",
    on=through(store_otherwise, "registerTable"),
    breaks="registerTable.same-table",
    suffering="Writers that know the table refuse it as another one.",
)
def _new_uuid(metadata: TableMetadata, _body: Json) -> TableMetadata:
    """A registered table gets a uuid of its own."""
    uuid = f"00000000{metadata.table_uuid[8:]}"
    return msgspec.structs.replace(metadata, table_uuid=uuid)


@defect(
    "register-without-history",
    on=through(store_otherwise, "registerTable"),
    breaks="registerTable.same-table",
    suffering="A registered table is empty.",
)
def _without_history(metadata: TableMetadata, _body: Json) -> TableMetadata:
    """Registering takes over the schema only."""
    return msgspec.structs.replace(metadata, snapshots=(), refs={}, current_snapshot_id=None)


@defect(
    "register-without-statistics",
    on=through(store_otherwise, "registerTable"),
    breaks="roundtrip.registerTable",
    suffering="Plans of a table that was moved are made without its statistics.",
)
def _without_statistics(metadata: TableMetadata, _body: Json) -> TableMetadata:
    """Registering takes over what the server itself makes use of."""
    return msgspec.structs.replace(metadata, statistics=(), partition_statistics=())


@defect(
    "register-without-logs",
    on=through(store_otherwise, "registerTable"),
    breaks="roundtrip.registerTable",
    suffering="A table that was moved has no yesterday: FOR TIMESTAMP AS OF finds nothing.",
)
def _without_logs(metadata: TableMetadata, _body: Json) -> TableMetadata:
    """A registered table begins its logs anew."""
    return msgspec.structs.replace(metadata, snapshot_log=(), metadata_log=())


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


@defect(
    "register-read-only",
    breaks="registerTable.writable",
    suffering="A table that was moved here can be read and no longer written.",
)
def _read_only(registries: Registries) -> None:
    """Registered tables belong to somebody else: commits to them are refused."""
    registered: set[tuple[tuple[str, ...], str]] = set()

    def registering(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        registered.add((call.namespace, sent_name(call)))
        return outcome

    def committing(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if (call.namespace, call.name) in registered:
            raise problem.bad_request("The table is external")
        return faithful(state, call)

    wrap(registries, "registerTable", registering)
    wrap(registries, "updateTable", committing)


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
