"""Functions that return a JSON value with every object, text or number in it altered."""

from collections.abc import Callable
from typing import Any

from icecheck.mock_server.defects.kit.requests import Json

_DOUBLE_EXACT_MAX = 2**53


def objects(value: Any, alter: Callable[[Json], Json]) -> Any:
    """Return JSON with `alter` applied to every object, the inner ones first."""
    match value:
        case dict():
            return alter({key: objects(each, alter) for key, each in value.items()})
        case list():
            return [objects(each, alter) for each in value]
        case _:
            return value


def texts(value: Any, alter: Callable[[str], str]) -> Any:
    """Return JSON with `alter` applied to every text, but not to the keys of objects."""
    return _scalars(value, lambda each: alter(each) if isinstance(each, str) else each)


def numbers(value: Any, alter: Callable[[int], int]) -> Any:
    """Return JSON with `alter` applied to every integer."""
    return _scalars(value, lambda each: alter(each) if type(each) is int else each)


def as_double(number: int) -> int:
    """Return an integer as it comes out of a double."""
    return int(float(number)) if abs(number) > _DOUBLE_EXACT_MAX else number


def _scalars(value: Any, alter: Callable[[Any], Any]) -> Any:
    match value:
        case dict():
            return {key: _scalars(each, alter) for key, each in value.items()}
        case list():
            return [_scalars(each, alter) for each in value]
        case _:
            return alter(value)
