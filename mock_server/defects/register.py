"""Ways in which servers register metadata files wrongly."""

from typing import Any

import msgspec

from icecheck.mock_server import problem, publication, replies
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import (
    alter_body,
    alter_request_body,
    answer_status,
    refuse_as,
    sent_json,
    wrap,
)
from icecheck.mock_server.defects.storing import (
    Body,
    sent_name,
    store_otherwise,
    with_metadata,
    without_sent_table,
)
from icecheck.mock_server.model import TableMetadata
from icecheck.mock_server.problem import Problem
from icecheck.mock_server.state import WarehouseState


@defect(
    "register-201",
    breaks="registerTable.200",
    suffering="The Java client takes 201 for an error, and the table is there all the same.",
)
def _registered_201(registries: Registries) -> None:
    """A registered table is answered 201."""
    answer_status(registries, "registerTable", 201)


@defect(
    "register-refuses-its-own-files",
    breaks="registerTable.200",
    suffering="Tables cannot be moved between catalogs.",
)
def _refuses_its_own_files(registries: Registries) -> None:
    """Only files below one fixed directory may be registered."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        faithful(context, state, call)
        raise problem.bad_request("The metadata location is not allowed")

    wrap(registries, "registerTable", around)


@defect(
    "register-answer-is-a-draft",
    breaks="registerTable.answer-is-the-table",
    suffering="A client works on columns and a location that the table does not have.",
)
def _answer_is_a_draft(registries: Registries) -> None:
    """The answer is made before the file is read to its end."""

    def draft(body: Any) -> Any:
        body["metadata"]["last-column-id"] += 1
        return body

    alter_body(registries, "registerTable", draft)


@defect(
    "register-malformed-500",
    breaks="registerTable.400",
    suffering="A client's mistake is reported as a failure of the server.",
)
def _malformed_500(registries: Registries) -> None:
    """The parser's error is caught by nobody."""
    refuse_as(registries, "registerTable", 400, 500, "InternalServerError")


@defect(
    "register-makes-its-namespace",
    breaks="registerTable.404",
    suffering="A misspelled database name makes a new database.",
)
def _makes_its_namespace(registries: Registries) -> None:
    """A namespace that is missing is made along with the table."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if state.namespace(call.namespace) is None:
            state = state.with_namespace(call.namespace, {})
        return faithful(context, state, call)

    wrap(registries, "registerTable", around)


@defect(
    "register-over-another",
    breaks="registerTable.409",
    suffering="Registering under a name that is taken destroys the table that has it.",
)
def _over_another(registries: Registries) -> None:
    """Every registration overwrites."""
    alter_request_body(registries, "registerTable", lambda body: body | {"overwrite": True})


@defect(
    "register-conflict-writes",
    breaks="registerTable.overwrite-default",
    suffering="A refused registration has replaced the table all the same.",
)
def _conflict_writes(registries: Registries) -> None:
    """A registration is written first and then refused because the table exists."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except Problem as refused:
            if refused.status != 409:
                raise
            written = faithful(context, without_sent_table(state, call), call)
            return Outcome(written.state, replies.problem_reply(refused))

    wrap(registries, "registerTable", around)


@defect(
    "register-new-uuid",
    breaks="registerTable.same-table",
    suffering="Writers that know the table refuse it as another one.",
)
def _new_uuid(registries: Registries) -> None:
    """A registered table gets a uuid of its own."""

    def change(metadata: TableMetadata, _body: Body) -> TableMetadata:
        uuid = f"00000000{metadata.table_uuid[8:]}"
        return msgspec.structs.replace(metadata, table_uuid=uuid)

    store_otherwise(registries, "registerTable", change)


@defect(
    "register-without-history",
    breaks="registerTable.same-table",
    suffering="A registered table is empty.",
)
def _without_history(registries: Registries) -> None:
    """Registering takes over the schema only."""

    def change(metadata: TableMetadata, _body: Body) -> TableMetadata:
        return msgspec.structs.replace(metadata, snapshots=(), refs={}, current_snapshot_id=None)

    store_otherwise(registries, "registerTable", change)


@defect(
    "register-without-statistics",
    breaks="roundtrip.registerTable",
    suffering="Plans of a table that was moved are made without its statistics.",
)
def _without_statistics(registries: Registries) -> None:
    """Registering takes over what the server itself makes use of."""

    def change(metadata: TableMetadata, _body: Body) -> TableMetadata:
        return msgspec.structs.replace(metadata, statistics=(), partition_statistics=())

    store_otherwise(registries, "registerTable", change)


@defect(
    "register-without-logs",
    breaks="roundtrip.registerTable",
    suffering="A table that was moved has no yesterday: FOR TIMESTAMP AS OF finds nothing.",
)
def _without_logs(registries: Registries) -> None:
    """A registered table begins its logs anew."""

    def change(metadata: TableMetadata, _body: Body) -> TableMetadata:
        return msgspec.structs.replace(metadata, snapshot_log=(), metadata_log=())

    store_otherwise(registries, "registerTable", change)


@defect(
    "register-copies-the-file",
    breaks="registerTable.in-place",
    suffering="Two catalogs that share a table drift apart.",
)
def _copies_the_file(registries: Registries) -> None:
    """A registered file is copied to where the catalog would have put it."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        entry = outcome.state.table(call.namespace, sent_name(call))
        if entry is None:
            return outcome
        copy = f"{entry.metadata_location.rpartition('/')[0]}/00000-copy.metadata.json"
        moved = with_metadata(context, entry, entry.metadata, copy)
        kept = outcome.state.with_table(call.namespace, sent_name(call), moved)
        return Outcome(kept, publication.load_reply(moved))

    wrap(registries, "registerTable", around)


@defect(
    "register-read-only",
    breaks="registerTable.writable",
    suffering="A table that was moved here can be read and no longer written.",
)
def _read_only(registries: Registries) -> None:
    """Registered tables belong to somebody else: commits to them are refused."""
    registered: set[tuple[tuple[str, ...], str]] = set()

    def registering(
        faithful: Operation, context: Context, state: WarehouseState, call: Call
    ) -> Outcome:
        outcome = faithful(context, state, call)
        registered.add((call.namespace, sent_name(call)))
        return outcome

    def committing(
        faithful: Operation, context: Context, state: WarehouseState, call: Call
    ) -> Outcome:
        if (call.namespace, call.name) in registered:
            raise problem.bad_request("The table is external")
        return faithful(context, state, call)

    wrap(registries, "registerTable", registering)
    wrap(registries, "updateTable", committing)


@defect(
    "register-unread",
    breaks="registerTable.unreadable-refused",
    suffering="A misspelled location makes a table that nobody can read.",
)
def _unread(registries: Registries) -> None:
    """A registration only notes the location; the file is read when the table is."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except Problem as refused:
            location = sent_json(call).get("metadata-location")
            if refused.status != 400 or location is None:
                raise
            return Outcome(state, replies.json_reply({"metadata-location": location}))

    wrap(registries, "registerTable", around)


@defect(
    "register-overwrite-ignored",
    breaks="registerTable.overwrite",
    suffering="Going back to an earlier version of a table succeeds and does nothing.",
)
def _overwrite_ignored(registries: Registries) -> None:
    """Registering over a table with overwrite answers that table."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, sent_name(call))
        if entry is None or not sent_json(call).get("overwrite"):
            return faithful(context, state, call)
        return Outcome(state, publication.load_reply(entry))

    wrap(registries, "registerTable", around)
