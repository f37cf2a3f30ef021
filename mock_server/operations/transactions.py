"""commitTransaction: commits to several tables that all take effect, or none."""

from icecheck.mock_server.commits.commit import decode_commit_transaction
from icecheck.mock_server.core.context import Call, Context, FileEffect, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.operations.commits import committed
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.protocol import names, replies


@operation("commitTransaction")
def commit_transaction(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Apply every change in the order sent, each to the state that the previous one left.

    So two changes of one table both take effect, and the second one's requirements are judged after
    the first. The state is published once: no request sees a part of it, and a refusal (400, 404,
    409) leaves no trace, nor does a metadata file that cannot be written (L1336-L1361).
    """
    effects: list[FileEffect] = []
    for identifier, change in decode_commit_transaction(call.request.body):
        namespace = names.checked_namespace(identifier.namespace)
        name = names.checked_name(identifier.name)
        state, _, of_change = committed(context, state, namespace, name, change)
        effects += of_change
    return Outcome(state, replies.NO_CONTENT, tuple(effects))
