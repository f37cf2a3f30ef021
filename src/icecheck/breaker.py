"""The circuit breaker: a catalog that stops answering ends the run instead of failing it."""

from icecheck.verdict import Verdict

__all__ = ["Breaker"]

_THRESHOLD = 5


class Breaker:
    """Counts checks in a row that got no usable answer; there is no verdict once it opens."""

    __slots__ = ("_unanswered",)

    def __init__(self) -> None:
        self._unanswered = 0

    def opened_by(self, verdict: Verdict) -> bool:
        """Take in one verdict; return whether it was one too many without an answer."""
        self._unanswered = self._unanswered + 1 if verdict.unanswered else 0
        return self._unanswered >= _THRESHOLD
