"""The registry of operations: functions under `@operation("operationId")`."""

from collections.abc import Callable

from icecheck.mock_server.core.context import Operation

_OPERATIONS: dict[str, Operation] = {}


def operation(operation_id: str) -> Callable[[Operation], Operation]:
    """Serve a function as an operation of the contract; method and path follow from the id."""

    def register(function: Operation) -> Operation:
        if operation_id in _OPERATIONS:
            raise ValueError(f"two functions for {operation_id}")
        _OPERATIONS[operation_id] = function
        return function

    return register


def registered() -> dict[str, Operation]:
    """Return a fresh dictionary of the operations registered so far."""
    return dict(_OPERATIONS)
