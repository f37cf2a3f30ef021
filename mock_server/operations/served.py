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


def default_registries() -> Registries:
    """Return fresh dictionaries of a server's whole behaviour, for one server to keep."""
    assertions, updates = commit.default_registries()
    view_assertions, view_updates = view_commit.default_view_registries()
    gates: dict[str, RequestGate] = {"authorization": authorization.refusal}
    return Registries(
        registry.registered(), updates, assertions, gates, view_updates, view_assertions
    )


def registries_without(hidden: Iterable[str]) -> Registries:
    """Return the behaviour of a server that lacks some operations; ValueError for unknown ones."""
    registries = default_registries()
    for operation_id in checked_operations(hidden):
        if operation_id == "getConfig":
            raise ValueError("getConfig cannot be hidden: without it there is no catalog")
        registries.operations.pop(operation_id, None)
    return registries
