"""Exceptions for a catalog that gives no answer that could be judged."""

from collections.abc import Callable
from typing import TypeVar

from icecheck.wire.exchange import Exchange

T = TypeVar("T")
REMOVALS_MAX = 3
"""How often the removal of what a run has left is begun, where no answer comes to its requests."""


class Unreachable(Exception):
    """The target gave no usable answer: a transport error, or throttling that persisted.

    ``broke`` is the exchange whose connection ended without an answer, if that is the trouble.
    """

    def __init__(self, words: str, broke: Exchange | None = None) -> None:
        self.broke = broke
        super().__init__(words)


class CredentialsEnded(Unreachable):
    """The catalog no longer accepts the run's credentials, which it accepted before."""


def begun_anew(
    attempt: Callable[[], T], attempts_max: int, again: Callable[[], bool] = lambda: True
) -> T:
    """Return what an attempt gives; begin anew where an answer that it needs is lost.

    ``again`` makes ready for the next attempt, and says whether there is to be one. Raises
    Unreachable where there is none, or the last one fails too.
    """
    for _ in range(attempts_max - 1):
        try:
            return attempt()
        except CredentialsEnded:
            raise
        except Unreachable:
            if not again():
                raise
    return attempt()
