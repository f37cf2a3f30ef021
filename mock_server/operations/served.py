"""The behaviour of a faithful server: importing the operation modules registers them."""

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
