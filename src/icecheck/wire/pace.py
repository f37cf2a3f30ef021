"""Rate limiting: decides when the next request to a catalog may be sent."""

import threading
from collections.abc import Callable


class Pace:
    """The turns of requests: the user limits the rate, and throttling delays all of them.

    Several threads may share it. ``now`` is a clock in seconds; this class itself never sleeps.
    """

    def __init__(self, requests_per_second: float | None, now: Callable[[], float]) -> None:
        self._interval_seconds = 0.0 if requests_per_second is None else 1 / requests_per_second
        self._now = now
        self._next_at = 0.0
        self._hold_until = 0.0
        self._lock = threading.Lock()

    def hold(self, seconds: float) -> None:
        """Delay all requests that are sent for the first time."""
        with self._lock:
            self._hold_until = max(self._hold_until, self._now() + seconds)

    def take_turn(self, *, again: bool) -> float:
        """Return in how many seconds a request may be sent, and reserve its turn.

        A retry does not wait here: it has waited as long as the catalog asked.
        """
        if not self._interval_seconds and (again or not self._hold_until):
            return 0.0
        with self._lock:
            now = self._now()
            turn = max(now, self._next_at, 0.0 if again else self._hold_until)
            self._next_at = turn + self._interval_seconds
        return turn - now
