"""The behaviour of a faithful server: importing the operation modules registers them."""

from collections.abc import Callable, Iterable

from icecheck.mock_server.commits import commit, view_commit
from icecheck.mock_server.core.context import KeyedOperation, Registries, RequestGate
from icecheck.mock_server.idempotency.performing import performed_once
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
    signing,
    tables,
    transactions,
    views,
)
from icecheck.mock_server.protocol.served_contract import keyed_operations, operations_of
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
    signing,
    tables,
    transactions,
    views,
)


def default_registries(
    version: str,
    hidden: Iterable[str] = (),
    install: Callable[[Registries], None] | None = None,
) -> Registries:
    """Return fresh dictionaries of a server's whole behaviour, for one server to keep.

    `version` is that of the contract. `install` changes the behaviour of what is served. `hidden`
    are operationIds that it has not; ValueError for one that there is not, or getConfig.
    """
    without = checked_operations(hidden)
    if "getConfig" in without:
        raise ValueError("getConfig cannot be hidden: without it there is no catalog")
    assertions, updates = commit.default_registries()
    view_assertions, view_updates = view_commit.default_view_registries()
    gates: dict[str, RequestGate] = {"authorization": authorization.refusal}
    known = registry.registered()
    operations = {id_: known[id_] for id_ in operations_of(version) if id_ in known}
    keyed: dict[str, KeyedOperation] = dict.fromkeys(keyed_operations(version), performed_once)
    served = Registries(
        operations, updates, assertions, gates, view_updates, view_assertions, keyed
    )
    if install is not None:
        install(served)  # a profile changes operations, which have to be there still
    for operation_id in without:
        operations.pop(operation_id, None)
    return served
