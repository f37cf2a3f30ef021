"""The server's source of time: the system, or a clock that a test drives."""

import time
from datetime import UTC, datetime
from typing import Protocol

import msgspec


class Clock(Protocol):
    """Milliseconds since the epoch, as table metadata counts them."""

    def now_ms(self) -> int:
        """Return the present time in milliseconds since the epoch."""


class SystemClock(msgspec.Struct, frozen=True):
    """The clock of the machine."""

    def now_ms(self) -> int:
        """Return the present time in milliseconds since the epoch."""
        return time.time_ns() // 1_000_000


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
