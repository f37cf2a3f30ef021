"""What a faithful server does: importing the operation modules registers them."""

from icecheck.mock_server import commit
from icecheck.mock_server.context import Registries
from icecheck.mock_server.operations import (
    commits,
    config,
    metrics,
    namespaces,
    register,
    registry,
    rename,
    tables,
)

__all__ = ["default_registries"]

_MODULES = (commits, config, metrics, namespaces, register, rename, tables)


def default_registries() -> Registries:
    """Fresh dictionaries of operations, updates and assertions, for one server to keep."""
    assertions, updates = commit.default_registries()
    return Registries(registry.registered(), updates, assertions)
