"""The operations a faithful server offers: importing their modules registers them."""

from icecheck.mock_server.context import Operation
from icecheck.mock_server.operations import config, namespaces, registry

__all__ = ["default_operations"]

_MODULES = (config, namespaces)


def default_operations() -> dict[str, Operation]:
    """A fresh dictionary, operationId -> function, for one server's registry."""
    return registry.registered()
