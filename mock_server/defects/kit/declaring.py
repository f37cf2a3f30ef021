"""Declares defects: name, broken requirement, consequence for users, replaced behaviour."""

import inspect
from collections.abc import Callable
from types import FrameType
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar, TypeVarTuple, overload

import msgspec

from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.rewriting import Around, wrap, wrap_each

F = TypeVar("F", bound=Callable[..., object])
P = ParamSpec("P")
Ts = TypeVarTuple("Ts")

Install: TypeAlias = Callable[[Registries], None]
Place: TypeAlias = Callable[[F], Install]
"""Installs a function at one place of a server, such as an update."""
Row: TypeAlias = tuple[str, str, str, str, Install]
"""A defect in a table: name, id of the broken requirement, title, suffering, installation."""

_DEFECTS: dict[str, "Defect"] = {}


class Defect(msgspec.Struct, frozen=True):
    """One misbehaviour that real servers show.

    `breaks` is the id of a requirement of the contract; `suffering` is the consequence for users;
    `install` replaces entries of one server's registries; `module` declares the defect. `since` is
    the first version of the document that has the operation which misbehaves, where the broken
    requirement is older; else it is empty.
    """

    name: str
    title: str
    breaks: str
    suffering: str
    install: Install
    module: str = ""
    since: str = ""


def declared() -> dict[str, Defect]:
    """Return the defects of all modules that have been imported, by name."""
    return _DEFECTS


@overload
def defect(
    name: str, *, breaks: str, suffering: str, on: None = None
) -> Callable[[Install], Install]: ...
@overload
def defect(
    name: str, *, breaks: str, suffering: str, on: str | tuple[str, ...]
) -> Callable[[Around], Around]: ...
@overload
def defect(name: str, *, breaks: str, suffering: str, on: Place[F]) -> Callable[[F], F]: ...
def defect(
    name: str, *, breaks: str, suffering: str, on: str | tuple[str, ...] | Place[F] | None = None
) -> Callable[..., object]:
    """Declare a function to be a defect; the first line of its docstring is the title.

    The function is called in place of the operations that `on` names, or as the place `on` expects
    (`table_update("add-schema")`, `answer_of("loadTable")`, ...). Without `on` it gets the
    registries of a server and replaces entries itself. ValueError if another defect has the name.
    """

    def declare_function(function: Callable[..., object]) -> Callable[..., object]:
        title = (function.__doc__ or name).strip().splitlines()[0]
        _add(name, title, _place_of(on)(function), breaks, suffering, function.__module__)
        return function

    return declare_function


def declare(
    name: str, title: str, install: Install, *, breaks: str, suffering: str, since: str = ""
) -> None:
    """Declare a defect made of building blocks; ValueError if another one has the name.

    ``since`` is that of the Defect.
    """
    _add(name, title, install, breaks, suffering, _caller(inspect.currentframe()), since)


def declare_each(*rows: Row) -> None:
    """Declare the defects of a table, each made of building blocks; ValueError as `declare`."""
    for name, breaks, title, suffering, install in rows:
        _add(name, title, install, breaks, suffering, _caller(inspect.currentframe()))


def by(
    block: Callable[Concatenate[Registries, P], None], *args: P.args, **kwargs: P.kwargs
) -> Install:
    """Return an installation that calls a building block with these arguments."""
    return lambda registries: block(registries, *args, **kwargs)


def through(block: Callable[[Registries, *Ts, F], None], *args: *Ts) -> Place[F]:
    """Return the place where a building block installs the function, its last argument."""
    return lambda function: lambda registries: block(registries, *args, function)


def _caller(frame: FrameType | None) -> str:
    """Return the name of the module that called the function with this frame."""
    caller = None if frame is None else frame.f_back
    return "" if caller is None else str(caller.f_globals["__name__"])


def _place_of(on: str | tuple[str, ...] | Place[Any] | None) -> Place[Any]:
    match on:
        case None:
            return lambda install: install
        case str():
            return through(wrap, on)
        case tuple():
            return through(wrap_each, on)
    return on


def _add(
    name: str,
    title: str,
    install: Install,
    breaks: str,
    suffering: str,
    module: str,
    since: str = "",
) -> None:
    if name in _DEFECTS:
        raise ValueError(f"two defects are called {name}")
    _DEFECTS[name] = Defect(name, title.rstrip("."), breaks, suffering, install, module, since)
