"""A complete Iceberg REST catalog in memory: reference target, and a catalog for developers."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icecheck.mock_server.core.idempotency_settings import IdempotencySettings
    from icecheck.mock_server.core.vending_settings import VendingSettings
    from icecheck.mock_server.mock import MockCatalog
    from icecheck.mock_server.planning.plans import PlanningMode, PlanningSettings
    from icecheck.mock_server.security.settings import Client, OAuth2Settings, Permissions
    from icecheck.mock_server.serving.states import MockSnapshot
    from icecheck.mock_server.serving.warehouses import WarehouseDeclaration

__all__ = [
    "Client",
    "IdempotencySettings",
    "MockCatalog",
    "MockSnapshot",
    "OAuth2Settings",
    "Permissions",
    "PlanningMode",
    "PlanningSettings",
    "VendingSettings",
    "WarehouseDeclaration",
]

_HOMES = {
    "Client": "icecheck.mock_server.security.settings",
    "IdempotencySettings": "icecheck.mock_server.core.idempotency_settings",
    "MockCatalog": "icecheck.mock_server.mock",
    "MockSnapshot": "icecheck.mock_server.serving.states",
    "OAuth2Settings": "icecheck.mock_server.security.settings",
    "Permissions": "icecheck.mock_server.security.settings",
    "PlanningMode": "icecheck.mock_server.planning.plans",
    "PlanningSettings": "icecheck.mock_server.planning.plans",
    "VendingSettings": "icecheck.mock_server.core.vending_settings",
    "WarehouseDeclaration": "icecheck.mock_server.serving.warehouses",
}


def __getattr__(name: str) -> Any:
    """Import a module on first access: a module of this package must not load the whole server."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
