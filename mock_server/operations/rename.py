"""renameTable: gives a table another name, possibly in another namespace."""

import msgspec

from icecheck.mock_server.commits.commit import TableIdentifier
from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.operations.name_conflicts import check_rename_target
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.protocol import names, problem, replies
from icecheck.mock_server.protocol.json_input import decode_json


class RenameTableRequest(msgspec.Struct, frozen=True):
    """The body of renameTable and renameView (document L1977)."""

    source: TableIdentifier
    destination: TableIdentifier


@operation("renameTable")
def rename_table(_context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Move a table to another name; files, uuid and location stay as they are (L1233-L1277).

    Renaming a table to its own name succeeds, as it does in the reference: the name is not taken.
    """
    source, target = decode_rename(call.request.body, "table")
    entry = state.table(source.namespace, source.name)
    if entry is None:
        raise problem.no_such_table(source.namespace, source.name)
    if source == target:
        return Outcome(state, replies.NO_CONTENT)
    if target.namespace not in state.namespaces:
        raise problem.no_such_namespace(target.namespace)
    check_rename_target(state, source, target)
    moved = state.without_table(source.namespace, source.name)
    moved = moved.with_table(target.namespace, target.name, entry)
    return Outcome(moved, replies.NO_CONTENT)


def decode_rename(body: bytes, kind: str) -> tuple[TableIdentifier, TableIdentifier]:
    """Return source and target of a rename; Problem 400 unless both are valid names."""
    request = decode_json(RenameTableRequest, body)
    source, target = (_checked(each, kind) for each in (request.source, request.destination))
    names.new_name(target.name, kind)
    return source, target


def _checked(identifier: TableIdentifier, kind: str) -> TableIdentifier:
    return TableIdentifier(
        namespace=names.checked_namespace(identifier.namespace),
        name=names.checked_name(identifier.name, kind),
    )
