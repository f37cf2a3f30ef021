"""Shrinks a failing history by delta debugging with a budget."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from icecheck.replies.expect import Blocked, NotOffered
from icecheck.wire.unreachable import Unreachable

Item = TypeVar("Item")
UNABLE = (Blocked, NotOffered, Unreachable)
"""Endings of a shorter history that say nothing of it: the catalog no longer lets it begin."""


def shrunk(
    items: Sequence[Item],
    fails: Callable[[Sequence[Item]], bool],
    affordable: Callable[[], bool] = lambda: True,
) -> tuple[Item, ...]:
    """Return a failing subsequence of these failing items.

    Leaves out ever smaller parts (ddmin) until no single item can be left out. Returns the best
    result so far when ``affordable`` returns False. ``items`` must fail.
    """
    best = tuple(items)
    parts = 2
    while len(best) > 1 and affordable():
        shorter = _without_a_part(best, parts, fails, affordable)
        if shorter is not None:
            best, parts = shorter, max(2, parts - 1)
        elif parts < len(best):
            parts = min(len(best), parts * 2)
        else:
            break
    return best


def _without_a_part(
    items: tuple[Item, ...],
    parts: int,
    fails: Callable[[Sequence[Item]], bool],
    affordable: Callable[[], bool],
) -> tuple[Item, ...] | None:
    size = -(-len(items) // parts)
    # Start from the end: late steps are the least likely to be needed.
    for start in reversed(range(0, len(items), size)):
        if not affordable():
            return None
        candidate = items[:start] + items[start + size :]
        if candidate and fails(candidate):
            return candidate
    return None
