"""Views: list, create, load, replace, exists, drop, rename."""

from icecheck.mock_server.commits.default_locations import default_location
from icecheck.mock_server.commits.view_commit import apply_view_commit, decode_view_commit
from icecheck.mock_server.commits.view_create import decode_create_view, new_view_metadata
from icecheck.mock_server.commits.view_publication import published_view
from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.locations import check_changed_places, check_places
from icecheck.mock_server.core.state import ViewEntry, WarehouseState
from icecheck.mock_server.operations.listing import identifiers_reply
from icecheck.mock_server.operations.name_conflicts import check_free, check_rename_target
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.operations.rename import decode_rename
from icecheck.mock_server.operations.tables import check_references
from icecheck.mock_server.protocol import names, problem, replies


@operation("listViews")
def list_views(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """List the views of one namespace by name; tables are never among them."""
    reply = identifiers_reply(context, state, call, "views", lambda entry: entry.views)
    return Outcome(state, reply)


@operation("createView")
def create_view(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Create a view with its first version (L1486-L1531).

    Faults in the request itself (400) are reported before faults in the names, as for tables.
    """
    request = decode_create_view(call.request.body)
    name = names.new_name(request.name, "view")
    uuid = context.identities.new_uuid()
    location = default_location(context, state, call.namespace, name, uuid)
    metadata = new_view_metadata(request, uuid=uuid, location=location)
    check_places(context, metadata.location, metadata.properties)
    if call.namespace not in state.namespaces:
        raise problem.no_such_namespace(call.namespace)
    check_free(state, call.namespace, name, "view")
    entry, file = published_view(context, metadata)
    return Outcome(state.with_view(call.namespace, name, entry), entry.reply, (file,))


@operation("loadView")
def load_view(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Answer the metadata and its location."""
    check_references(context, call)
    return Outcome(state, _existing_view(state, call).reply)


@operation("replaceView")
def replace_view(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Commit to a view: requirements, then updates, all or none (L1585-L1683).

    The path names the view; an `identifier` in the body is ignored. A commit that changes
    nothing answers the present version, and no file is written.
    """
    commit = decode_view_commit(call.request.body)
    entry = _existing_view(state, call)
    metadata = apply_view_commit(
        entry.metadata,
        commit,
        assertions=context.registries.view_assertions,
        updates=context.registries.view_updates,
        now_ms=context.clock.now_ms(),
    )
    if metadata is None:
        return Outcome(state, entry.reply)
    check_changed_places(context, metadata, entry.metadata)
    changed, file = published_view(context, metadata, entry)
    return Outcome(state.with_view(call.namespace, call.name, changed), changed.reply, (file,))


@operation("viewExists")
def view_exists(_context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Answer 204 or 404, either without a body."""
    _existing_view(state, call)
    return Outcome(state, replies.NO_CONTENT)


@operation("dropView")
def drop_view(_context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Drop a view; its metadata files stay, like those of a table dropped without purge."""
    _existing_view(state, call)
    return Outcome(state.without_view(call.namespace, call.name), replies.NO_CONTENT)


@operation("renameView")
def rename_view(_context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Move a view to another name; files, uuid and location stay as they are.

    A missing target namespace is reported before a missing view, as the reference does. Renaming a
    view to its own name succeeds, because the name is not taken.
    """
    source, target = decode_rename(call.request.body, "view")
    if target.namespace not in state.namespaces:
        raise problem.no_such_namespace(target.namespace)
    entry = state.view(source.namespace, source.name)
    if entry is None:
        raise problem.no_such_view(source.namespace, source.name)
    if source == target:
        return Outcome(state, replies.NO_CONTENT)
    check_rename_target(state, source, target)
    moved = state.without_view(source.namespace, source.name)
    moved = moved.with_view(target.namespace, target.name, entry)
    return Outcome(moved, replies.NO_CONTENT)


def _existing_view(state: WarehouseState, call: Call) -> ViewEntry:
    """Return the view that a path names; a missing namespace is reported as a missing view."""
    entry = state.view(call.namespace, call.name)
    if entry is None:
        raise problem.no_such_view(call.namespace, call.name)
    return entry
