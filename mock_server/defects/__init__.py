"""Named misbehaviours of the mock: each a replaced registry entry, with the sentence it breaks."""

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

import msgspec

from icecheck.mock_server.context import Registries

__all__ = ["Defect", "defect", "defects"]

Install = Callable[[Registries], None]

_DEFECTS: dict[str, "Defect"] = {}


class Defect(msgspec.Struct, frozen=True):
    """One way in which real servers go wrong.

    `breaks` is the id of a requirement of the contract; `suffering` says what users notice;
    `install` replaces entries of one server's registries.
    """

    name: str
    title: str
    breaks: str
    suffering: str
    install: Install


def defect(name: str, *, breaks: str, suffering: str = "") -> Callable[[Install], Install]:
    """Declare a function on registries to be a defect; its docstring is the title."""

    def declare(install: Install) -> Install:
        if name in _DEFECTS:
            raise ValueError(f"two defects are called {name}")
        title = (install.__doc__ or name).strip().splitlines()[0].rstrip(".")
        _DEFECTS[name] = Defect(name, title, breaks, suffering, install)
        return install

    return declare


@cache
def defects() -> dict[str, Defect]:
    """Return every defect by name, sorted; imports the family modules on first use."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(_DEFECTS.items()))
