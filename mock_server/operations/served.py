"""The behaviour of a faithful server: importing the operation modules registers them."""

from collections.abc import Iterable

from icecheck.mock_server.commits import commit, view_commit
from icecheck.mock_server.core.context import Registries, RequestGate
from icecheck.mock_server.operations import (
    commits,
    config,
    credentials,
    metrics,
    namespaces,
    oauth,
    planning,
    register,
    registry,
    rename,
    tables,
    transactions,
    views,
)
from icecheck.mock_server.security import authorization
from icecheck.mock_server.security.settings import checked_operations

_MODULES = (
    commits,
    config,
    credentials,
    metrics,
    namespaces,
    oauth,
    planning,
    register,
    rename,
    tables,
    transactions,
    views,
)


def default_registries(hidden: Iterable[str] = ()) -> Registries:
    """Return fresh dictionaries of a server's whole behaviour, for one server to keep.

    `hidden` are operationIds that it has not; ValueError for one that there is not, or getConfig.
    """
    assertions, updates = commit.default_registries()
    view_assertions, view_updates = view_commit.default_view_registries()
    gates: dict[str, RequestGate] = {"authorization": authorization.refusal}
    operations = registry.registered()
    for operation_id in checked_operations(hidden):
        if operation_id == "getConfig":
            raise ValueError("getConfig cannot be hidden: without it there is no catalog")
        operations.pop(operation_id, None)
    return Registries(operations, updates, assertions, gates, view_updates, view_assertions)
