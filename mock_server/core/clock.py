"""The server's source of time: the system, or a clock that a test drives."""

import time
from datetime import UTC, datetime
from typing import Protocol

import msgspec


class Clock(Protocol):
    """Milliseconds since the epoch, as table metadata counts them."""

    def now_ms(self) -> int:
        """Return the present time in milliseconds since the epoch."""


class SystemClock(msgspec.Struct):
    """The clock of the machine, until it is moved or stopped.

    `offset_ms` is how far ahead it was moved; `stopped_ms` the time at which it stands still.
    """

    offset_ms: int = 0
    stopped_ms: int | None = None

    def now_ms(self) -> int:
        """Return the present time in milliseconds since the epoch."""
        if self.stopped_ms is not None:
            return self.stopped_ms
        return time.time_ns() // 1_000_000 + self.offset_ms

    def advance(self, milliseconds: int) -> None:
        """Move the clock forward; it stands still afterwards if it did before."""
        if self.stopped_ms is not None:
            self.stopped_ms += milliseconds
        else:
            self.offset_ms += milliseconds

    def freeze(self, time_ms: int | None = None) -> None:
        """Stop the clock, at its present time or at another one."""
        self.stopped_ms = self.now_ms() if time_ms is None else time_ms

    def resume(self) -> None:
        """Let the clock go on from the time at which it stands."""
        if self.stopped_ms is not None:
            self.offset_ms += self.stopped_ms - (time.time_ns() // 1_000_000 + self.offset_ms)
            self.stopped_ms = None


class VirtualClock(msgspec.Struct):
    """A clock that stands still, or moves by `step_ms` each time it is read; `advance` moves it."""

    time_ms: int
    step_ms: int = 0

    def now_ms(self) -> int:
        """Return the present time in milliseconds since the epoch; moves the clock by its step."""
        now = self.time_ms
        self.time_ms = now + self.step_ms
        return now

    def advance(self, milliseconds: int) -> None:
        """Move the clock forward."""
        self.time_ms += milliseconds

    def freeze(self, time_ms: int | None = None) -> None:
        """Stop the clock, at its present time or at another one."""
        self.step_ms = 0
        if time_ms is not None:
            self.time_ms = time_ms


def clock_from(value: "Clock | int | str | None") -> Clock:
    """Return the clock of a user's setting: None (system), epoch milliseconds, or ISO 8601."""
    match value:
        case None:
            return SystemClock()
        case int():
            return VirtualClock(value)
        case str():
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            return VirtualClock(round(moment.timestamp() * 1000))
        case _:
            return value
