"""The behaviour of a faithful server: importing the operation modules registers them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from icecheck.contract import load
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

Kind = TypeVar("Kind")
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
    contract = load(version)
    assertions, updates = commit.default_registries()
    view_assertions, view_updates = view_commit.default_view_registries()
    updates = _documented(updates, contract.table_updates)
    assertions = _documented(assertions, contract.table_assertions)
    view_updates = _documented(view_updates, contract.view_updates)
    view_assertions = _documented(view_assertions, contract.view_assertions)
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


def _documented(known: Mapping[str, Kind], names: Collection[str]) -> dict[str, Kind]:
    """Return what a version of the document has: a server of an older one refuses the rest."""
    return {name: each for name, each in known.items() if name in names}
