"""A complete Iceberg REST catalog in memory: reference target, and a catalog for developers."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icecheck.mock_server.mock import MockCatalog, MockSnapshot
    from icecheck.mock_server.planning.plans import PlanningMode, PlanningSettings
    from icecheck.mock_server.warehouses import WarehouseDeclaration

__all__ = [
    "MockCatalog",
    "MockSnapshot",
    "PlanningMode",
    "PlanningSettings",
    "WarehouseDeclaration",
]

_HOMES = {
    "MockCatalog": "icecheck.mock_server.mock",
    "MockSnapshot": "icecheck.mock_server.mock",
    "PlanningMode": "icecheck.mock_server.planning.plans",
    "PlanningSettings": "icecheck.mock_server.planning.plans",
    "WarehouseDeclaration": "icecheck.mock_server.warehouses",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for: a module of this package must not load the whole server."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
