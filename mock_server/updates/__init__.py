"""The updates of tables and views: one class each, with its fields, documentation and behaviour.

A new update needs only a class under `@table_update` or `@view_update` in a module of this package:
the registries and the types for decoding commits are made of these classes.
"""

import functools
import importlib
import operator
import pkgutil
from typing import TYPE_CHECKING, Any

from icecheck.mock_server.updates import registry

if TYPE_CHECKING:
    from icecheck.mock_server.updates.registry import TableUpdate, ViewUpdate

__all__ = ["UPDATES", "VIEW_UPDATES", "TableUpdate", "ViewUpdate"]

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

UPDATES: dict[str, type[Any]] = registry.table_updates()
"""Action to class, for every update that a table accepts."""

VIEW_UPDATES: dict[str, type[Any]] = registry.view_updates()
"""Action to class, for every update that a view accepts."""

if not TYPE_CHECKING:  # msgspec decodes this union; a type checker sees the methods that all have
    TableUpdate = functools.reduce(operator.or_, UPDATES.values())
    ViewUpdate = functools.reduce(operator.or_, VIEW_UPDATES.values())
