"""Switches defects on and off while a server runs."""

import threading
from collections.abc import Mapping
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects import defects

_ABSENT = object()

# Field of the registries and key -> what stood there before a defect, and what it put there.
_Changes = Mapping[tuple[str, str], tuple[Any, Any]]


class UnknownDefect(ValueError):
    """Raised for a defect that does not exist, or that needs what the server does not serve."""


class DefectSwitches:
    """The defects that one server has at the moment.

    A defect replaces what stands in the registries, and may be one of several around the same
    operation. The one that came last is taken away alone; below it, those above are taken away too
    and put back, and forget what they remembered.
    """

    __slots__ = ("_layers", "_live", "_lock")

    def __init__(self, registries: Registries) -> None:
        self._live = registries
        self._layers: tuple[tuple[str, _Changes], ...] = ()
        self._lock = threading.Lock()

    @property
    def active(self) -> tuple[str, ...]:
        """The names of the defects that are on, in the order in which they were switched on."""
        return tuple(name for name, _ in self._layers)

    def switch_on(self, *names: str) -> None:
        """Let the server misbehave in these ways from now on.

        Raises UnknownDefect, and switches nothing, if it cannot.
        """
        for name in names:
            if name not in defects():
                raise UnknownDefect(f"there is no defect {name!r}; see `icecheck list defects`")
        with self._lock:
            before = len(self._layers)
            try:
                for name in dict.fromkeys(names):
                    if name not in self.active:
                        self._put_on(name)
            except UnknownDefect:
                while len(self._layers) > before:
                    self._take_off()
                raise

    def switch_off(self, name: str) -> None:
        """Let the server behave in this point again; UnknownDefect if the defect is not on."""
        with self._lock:
            if name not in self.active:
                raise UnknownDefect(f"the defect {name!r} is not on")
            above = []
            while (last := self._take_off()) != name:
                above.append(last)
            for each in reversed(above):
                self._put_on(each)

    def clear(self) -> None:
        """Switch every defect off."""
        with self._lock:
            while self._layers:
                self._take_off()

    def _put_on(self, name: str) -> None:
        made = _copied(self._live)
        try:
            defects()[name].install(made)
        except KeyError as missing:
            raise UnknownDefect(
                f"{name} needs {missing}, which is hidden, or only in a later document: see --spec"
            ) from None
        changes = {}
        for field in Registries.__struct_fields__:
            live, new = getattr(self._live, field), getattr(made, field)
            for key in {*live, *new}:
                pair = live.get(key, _ABSENT), new.get(key, _ABSENT)
                if pair[0] is not pair[1]:
                    changes[field, key] = pair
        self._layers = (*self._layers, (name, changes))
        self._set({place: after for place, (_, after) in changes.items()})

    def _take_off(self) -> str:
        """Take away the defect that came last; what others have put in its place since stays."""
        name, changes = self._layers[-1]
        self._layers = self._layers[:-1]
        self._set(
            {
                (field, key): before
                for (field, key), (before, after) in changes.items()
                if getattr(self._live, field).get(key, _ABSENT) is after
            }
        )
        return name

    def _set(self, entries: Mapping[tuple[str, str], Any]) -> None:
        """Put entries into the registries one at a time: requests go on meanwhile."""
        for (field, key), value in entries.items():
            live = getattr(self._live, field)
            if value is _ABSENT:
                live.pop(key, None)
            else:
                live[key] = value


def _copied(registries: Registries) -> Registries:
    fields = {name: dict(getattr(registries, name)) for name in Registries.__struct_fields__}
    return msgspec.structs.replace(registries, **fields)
