"""Handles Ctrl-C and SIGTERM during a run: the first ends it with a report."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

GIVEN_UP = "given up while cleaning up and writing the report: there is none"
_GIVE_UP_AT = 3


@dataclass(slots=True)
class Interrupts:
    """What becomes of signals: the first ends the checks, the second prints, the third gives up.

    Once a run is ``closing`` there are no checks to end: the first is treated as the second.
    """

    seen: int = 0

    def closing(self) -> None:
        """Let no signal end anything but the third one, or the second from now on."""
        self.seen = max(self.seen, 1)

    def take(self, _number: int, _frame: FrameType | None) -> None:
        """Handle a signal: raise KeyboardInterrupt, or print that the run is about to end."""
        self.seen += 1
        if self.seen == 1:
            raise KeyboardInterrupt
        if self.seen >= _GIVE_UP_AT:
            raise KeyboardInterrupt(GIVEN_UP)
        sys.stderr.write("icecheck: cleaning up and writing the report; once more to give up\n")


@contextlib.contextmanager
def one_interrupt() -> Iterator[Interrupts]:
    """Raise KeyboardInterrupt for the first SIGINT or SIGTERM of a block, and for the third.

    The second only prints that the run is cleaning up. Outside the main thread nothing changes.
    """
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, interrupts.take) for number in signals}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
