"""Options that several commands share, added to each in one decorator."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def adding(options: Iterable[Callable[[Any], Any]]) -> Callable[[Function], Function]:
    """Return a decorator that adds options to a command; its help shows them in this order."""
    listed = tuple(options)

    def add(function: Function) -> Function:
        for option in reversed(listed):
            function = option(function)
        return function

    return add
