"""Tables: list, create, load, exists, drop."""

from icecheck.mock_server.commits import publication
from icecheck.mock_server.commits.create import decode_create_table, new_table_metadata
from icecheck.mock_server.commits.default_locations import default_location
from icecheck.mock_server.core.context import Call, Context, Outcome, RemoveFiles, Reply
from icecheck.mock_server.core.locations import check_places
from icecheck.mock_server.core.state import TableEntry, WarehouseState
from icecheck.mock_server.operations.listing import identifiers_reply
from icecheck.mock_server.operations.name_conflicts import check_free
from icecheck.mock_server.operations.purge import purged_files
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.protocol import names, problem, replies
from icecheck.mock_server.protocol.referenced_by import check_referenced_by
from icecheck.mock_server.security.vending import (
    location_for_signing,
    table_path,
    with_access,
)

_REPRESENTATIONS = (publication.ALL_SNAPSHOTS, publication.REFERENCED_SNAPSHOTS)
_BOOLEANS = {"true": True, "false": False}


@operation("listTables")
def list_tables(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """List the tables of one namespace by name; views are never among them."""
    reply = identifiers_reply(context, state, call, "tables", lambda entry: entry.tables)
    return Outcome(state, reply)


@operation("createTable")
def create_table(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Create a table, or with `stage-create` only its metadata (L514-L575).

    Faults in the request itself (400) are reported before faults in the names.
    """
    request = decode_create_table(call.request.body)
    name = names.new_name(request.name)
    uuid = context.identities.new_uuid()
    location = location_for_signing(context, call, name, uuid) or default_location(
        context, state, call.namespace, name, uuid, is_staged=bool(request.stage_create)
    )
    metadata = new_table_metadata(
        request,
        uuid=uuid,
        location=location,
        now_ms=context.clock.now_ms(),
    )
    check_places(context, metadata.location, metadata.properties)
    if call.namespace not in state.namespaces:
        raise problem.no_such_namespace(call.namespace)
    check_free(state, call.namespace, name, "table")
    directories = publication.prepared_directories(
        context, metadata, is_staged=bool(request.stage_create)
    )
    path = table_path(call, name)
    if request.stage_create:
        staged = Reply(200, replies.JSON_CONTENT, publication.staged_body(metadata))
        reply = with_access(context, call, metadata, staged, path)
        return Outcome(state, reply, directories, staged)
    entry, effects = publication.published(context, metadata)
    plain = publication.load_reply(entry)
    return Outcome(
        state.with_table(call.namespace, name, entry),
        with_access(context, call, metadata, plain, path),
        (*directories, *effects),
        plain,
    )


@operation("loadTable")
def load_table(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Answer the metadata with all snapshots or the referenced ones; 304 if the client has it."""
    representation = call.query.get("snapshots", publication.ALL_SNAPSHOTS)
    if representation not in _REPRESENTATIONS:
        raise problem.malformed(f"snapshots must be all or refs, not {representation[:40]!r}")
    check_references(context, call)
    entry = existing_table(state, call)
    if_none_match = call.request.headers.get("if-none-match")
    reply = publication.load_reply(entry, representation)
    if context.vending is not None:
        path = call.request.raw_path
        reply = with_access(context, call, entry.metadata, reply, path)
    if if_none_match is not None:
        reply = publication.not_modified(reply, if_none_match) or reply
    return Outcome(state, reply)


@operation("tableExists")
def table_exists(_context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Answer 204 or 404, either without a body."""
    existing_table(state, call)
    return Outcome(state, replies.NO_CONTENT)


@operation("dropTable")
def drop_table(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Drop a table; with `purgeRequested` its files go too, data included (L1118-L1124)."""
    purge = _BOOLEANS.get(call.query.get("purgeRequested", "false").lower())
    if purge is None:
        raise problem.malformed("purgeRequested must be true or false")
    entry = existing_table(state, call)
    removal = (
        (RemoveFiles(lambda files: purged_files(files, entry, context.location)),) if purge else ()
    )
    state = state.without_table(call.namespace, call.name)
    return Outcome(state, replies.NO_CONTENT, removal)


def check_references(context: Context, call: Call) -> None:
    """Refuse (400) a malformed list of views; older documents than 1.11.0 have none."""
    if context.contract.is_at_least("1.11.0"):
        check_referenced_by(call.request.query_string, context.separator)


def existing_table(state: WarehouseState, call: Call) -> TableEntry:
    """Return the table that a path names; 404 if it is missing.

    A missing namespace is reported as a missing table too: clients need that.
    """
    entry = state.table(call.namespace, call.name)
    if entry is None:
        raise problem.no_such_table(call.namespace, call.name)
    return entry
