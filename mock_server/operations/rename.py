"""renameTable: another name, possibly in another namespace, for the same table."""

import msgspec

from icecheck.mock_server import names, problem, replies
from icecheck.mock_server.commit import TableIdentifier
from icecheck.mock_server.context import Call, Context, Outcome
from icecheck.mock_server.operations.bodies import decode_body
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.operations.tables import name_taken
from icecheck.mock_server.state import WarehouseState


class RenameTableRequest(msgspec.Struct, frozen=True):
    """The body of renameTable (document L1977)."""

    source: TableIdentifier
    destination: TableIdentifier


@operation("renameTable")
def rename_table(_context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Move a table to another name; files, uuid and location stay as they are (L1233-L1277).

    Renaming a table to its own name succeeds, as it does in the reference: nothing is in the way.
    """
    request = decode_body(RenameTableRequest, call.request.body)
    source = names.checked_namespace(request.source.namespace)
    target = names.checked_namespace(request.destination.namespace)
    source_name = names.checked_name(request.source.name)
    target_name = names.checked_name(request.destination.name)
    entry = state.table(source, source_name)
    if entry is None:
        raise problem.no_such_table(source, source_name)
    if (target, target_name) == (source, source_name):
        return Outcome(state, replies.NO_CONTENT)
    if target not in state.namespaces:
        raise problem.no_such_namespace(target)
    if state.table(target, target_name) is not None:
        raise name_taken(target, target_name)
    moved = state.without_table(source, source_name).with_table(target, target_name, entry)
    return Outcome(moved, replies.NO_CONTENT)
