"""Makes a failing body smaller, within a budget, as long as it fails in the same way."""

from collections.abc import Callable, Iterator
from typing import Any

_PLAIN = "a"


def smaller(
    body: Any, fails: Callable[[Any], bool], affordable: Callable[[], bool] = lambda: True
) -> Any:
    """Return a failing body that is part of this failing one, with plainer texts.

    Leaves out the largest parts first. Returns the best so far when ``affordable`` returns False.
    """
    best, tried = body, {repr(body)}
    while affordable():
        for candidate in _reductions(best):
            if not affordable():
                return best
            if (said := repr(candidate)) in tried:
                continue
            tried.add(said)
            if fails(candidate):
                best = candidate
                break
        else:
            return best
    return best


def _reductions(value: Any) -> Iterator[Any]:
    """Yield values that are one step smaller, the smallest first."""
    match value:
        case list():
            yield from _shorter(value)
            for at in sorted(range(len(value)), key=lambda i: -_size(value[i])):
                yield from (
                    [*value[:at], each, *value[at + 1 :]] for each in _reductions(value[at])
                )
        case dict():
            largest = sorted(value, key=lambda key: -_size(value[key]))
            for key in largest:
                yield {k: v for k, v in value.items() if k != key}
            for key in largest:
                yield from ({**value, key: each} for each in _reductions(value[key]))
        case str() if len(value) > len(_PLAIN):
            yield _PLAIN


def _shorter(items: list[Any]) -> Iterator[list[Any]]:
    size = len(items) // 2
    while size > 1:
        for start in range(0, len(items), size):
            yield [*items[:start], *items[start + size :]]
        size //= 2
    for at in reversed(range(len(items))):
        yield [*items[:at], *items[at + 1 :]]


def _size(value: Any) -> int:
    return len(repr(value))
