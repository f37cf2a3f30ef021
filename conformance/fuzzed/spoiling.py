"""Breaks one place of a body that is otherwise as a client would send it."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_GONE: Any = object()
_INSTEAD: tuple[Any, ...] = (_GONE, _GONE, _GONE, None, [], {}, "text", 7, -1, 1.5, True)
"""What stands in the place of a value: nothing, or a value that is usually of another type."""
_PLACES = 10_000

Path = tuple[str | int, ...]


def spoiled(bodies: "SearchStrategy[Any]") -> "SearchStrategy[Any]":
    """Draw a body of these, and break it in one place."""
    from hypothesis import strategies as st

    return st.builds(_broken, bodies, st.integers(0, _PLACES), st.sampled_from(_INSTEAD))


def _broken(body: Any, at: int, instead: Any) -> Any:
    places = [*_paths(body)]
    return _with(body, places[at % len(places)], instead) if places else body


def _paths(value: Any) -> Iterator[Path]:
    """Yield the way to each member and item."""
    inner: Sequence[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        inner = [*value.items()]
    elif isinstance(value, list):
        inner = [*enumerate(value)]
    for key, each in inner:
        yield (key,)
        yield from ((key, *rest) for rest in _paths(each))


def _with(value: Any, path: Path, instead: Any) -> Any:
    """Return a copy that has something else in a place."""
    key, *rest = path
    pairs = [*(value.items() if isinstance(value, dict) else enumerate(value))]
    changed = [
        (each, inner if each != key else _with(inner, tuple(rest), instead) if rest else instead)
        for each, inner in pairs
    ]
    left = [(each, inner) for each, inner in changed if inner is not _GONE]
    return dict(left) if isinstance(value, dict) else [inner for _, inner in left]
