"""updateTable: assertions, updates, one new version; also the creation of staged tables."""

from icecheck.mock_server.commits import publication
from icecheck.mock_server.commits.commit import CommitRequest, apply_commit, decode_commit
from icecheck.mock_server.commits.default_locations import default_location
from icecheck.mock_server.core.context import Call, Context, FileEffect, Outcome, Reply
from icecheck.mock_server.core.locations import check_changed_places
from icecheck.mock_server.core.state import TableEntry, WarehouseState
from icecheck.mock_server.operations.name_conflicts import check_free
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.protocol import names, problem


@operation("updateTable")
def update_table(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Commit to a table, or create it if the commit asserts that it does not exist (L975-L1064).

    The path names the table; an `identifier` in the body is ignored. A commit that changes nothing
    answers the present version, and no file is written.
    """
    commit = decode_commit(call.request.body)
    state, entry, effects = committed(context, state, call.namespace, call.name, commit)
    return Outcome(state, _reply(context, entry), effects)


def _reply(context: Context, entry: TableEntry) -> Reply:
    """Return the answer with the new version; since 1.11.0 it has an entity tag."""
    if context.contract.is_at_least("1.11.0"):
        return publication.load_reply(entry)
    return publication.commit_reply(entry)


def committed(
    context: Context,
    state: WarehouseState,
    namespace: tuple[str, ...],
    name: str,
    commit: CommitRequest,
) -> tuple[WarehouseState, TableEntry, tuple[FileEffect, ...]]:
    """Return the state after a commit, the table's version in it, and the effects on files.

    Raises Problem 400, 404 or 409; a commit without effect gives the present version.
    """
    entry = state.table(namespace, name)
    if entry is None and not commit.is_create:
        raise problem.no_such_table(namespace, name)
    location = None
    if entry is None:
        uuid = context.identities.new_uuid()
        location = default_location(context, state, namespace, name, uuid)
    metadata = apply_commit(
        None if entry is None else entry.metadata,
        commit,
        assertions=context.registries.assertions,
        updates=context.registries.updates,
        now_ms=context.clock.now_ms(),
        new_uuid=context.identities.new_uuid,
        base_location=None if entry is None else entry.metadata_location,
        default_location=location,
    )
    if namespace not in state.namespaces:
        raise problem.no_such_namespace(namespace)
    if metadata is None:
        if entry is None:
            raise problem.bad_request("A commit that creates a table needs updates")
        return state, entry, ()
    if entry is None:
        check_free(state, namespace, names.new_name(name), "table")
    check_changed_places(context, metadata, None if entry is None else entry.metadata)
    changed, effects = publication.published(context, metadata, entry)
    if entry is None:
        effects = (*publication.prepared_directories(context, metadata), *effects)
    return state.with_table(namespace, name, changed), changed, effects
