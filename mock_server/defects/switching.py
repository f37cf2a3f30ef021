"""Switches defects on and off while a server runs."""

import threading
from collections.abc import MutableMapping
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects import defects


class UnknownDefect(ValueError):
    """Raised for a defect that does not exist, or that needs what the server does not serve."""


class DefectSwitches:
    """The defects that one server has at the moment.

    A defect replaces what is in the registries, and may be one of several around the same
    operation: to switch one off, the others are installed anew on the faithful behaviour.
    """

    __slots__ = ("_active", "_faithful", "_live", "_lock")

    def __init__(self, registries: Registries) -> None:
        self._live = registries
        self._faithful: Registries | None = None
        self._active: tuple[str, ...] = ()
        self._lock = threading.Lock()

    @property
    def active(self) -> tuple[str, ...]:
        """The names of the defects that are on, in the order in which they were switched on."""
        return self._active

    def switch_on(self, *names: str) -> None:
        """Let the server misbehave in these ways from now on.

        Raises UnknownDefect, and switches nothing, if it cannot.
        """
        for name in names:
            if name not in defects():
                raise UnknownDefect(f"there is no defect {name!r}; see `icecheck list defects`")
        with self._lock:
            wanted = tuple(dict.fromkeys((*self._active, *names)))
            if wanted != self._active:
                self._install(wanted)

    def switch_off(self, name: str) -> None:
        """Let the server behave in this point again; UnknownDefect if the defect is not on."""
        with self._lock:
            if name not in self._active:
                raise UnknownDefect(f"the defect {name!r} is not on")
            self._install(tuple(each for each in self._active if each != name))

    def clear(self) -> None:
        """Switch every defect off."""
        with self._lock:
            if self._active:
                self._install(())

    def _install(self, names: tuple[str, ...]) -> None:
        if self._faithful is None:
            self._faithful = _copied(self._live)
        made = _copied(self._faithful)
        for name in names:
            try:
                defects()[name].install(made)
            except KeyError as missing:
                raise UnknownDefect(f"{name} needs {missing}, which is hidden") from None
        for field in Registries.__struct_fields__:
            _replace(getattr(self._live, field), getattr(made, field))
        self._active = names


def _copied(registries: Registries) -> Registries:
    fields = {name: dict(getattr(registries, name)) for name in Registries.__struct_fields__}
    return msgspec.structs.replace(registries, **fields)


def _replace(live: MutableMapping[str, Any], made: MutableMapping[str, Any]) -> None:
    """Make one mapping the same as another, one entry at a time: requests go on meanwhile."""
    live.update(made)
    for gone in live.keys() - made.keys():
        del live[gone]
