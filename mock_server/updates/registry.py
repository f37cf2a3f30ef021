"""The registry of updates: classes under `@table_update`, under `@view_update`, or both."""

from typing import Any, ClassVar, Protocol, TypeVar

from msgspec.structs import StructConfig

from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.view_builder import ViewDraft


class TableUpdate(Protocol):
    """An update of a table as it was sent; its tag is the action."""

    __struct_config__: ClassVar[StructConfig]

    def apply(self, draft: Draft, /) -> None:
        """Change the draft; raises Problem to refuse."""


class ViewUpdate(Protocol):
    """An update of a view as it was sent; its tag is the action."""

    __struct_config__: ClassVar[StructConfig]

    def apply(self, draft: ViewDraft, /) -> None:
        """Change the draft; raises Problem to refuse."""


OfTable = TypeVar("OfTable", bound=TableUpdate)
OfView = TypeVar("OfView", bound=ViewUpdate)

_OF_TABLES: dict[str, type[Any]] = {}
_OF_VIEWS: dict[str, type[Any]] = {}


def table_update(update: type[OfTable]) -> type[OfTable]:
    """Accept a class in commits to tables; ValueError if another one has the action."""
    _add(update, _OF_TABLES)
    return update


def view_update(update: type[OfView]) -> type[OfView]:
    """Accept a class in commits to views; ValueError if another one has the action."""
    _add(update, _OF_VIEWS)
    return update


def table_updates() -> dict[str, type[Any]]:
    """Return action to class, for every update of tables declared so far."""
    return dict(_OF_TABLES)


def view_updates() -> dict[str, type[Any]]:
    """Return action to class, for every update of views declared so far."""
    return dict(_OF_VIEWS)


def _add(update: type[TableUpdate] | type[ViewUpdate], found: dict[str, type[Any]]) -> None:
    action = str(update.__struct_config__.tag)
    if action in found:
        raise ValueError(f"two updates are called {action}")
    found[action] = update
