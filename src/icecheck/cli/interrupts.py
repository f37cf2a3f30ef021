"""Handles Ctrl-C during a run: the first ends it with a report, the second changes nothing."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

_GIVE_UP_AT = 3


@contextlib.contextmanager
def one_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt for the first SIGINT or SIGTERM of a block, and for the third.

    The second only prints that the run is cleaning up. Outside the main thread nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen = 0

    def interrupted(_number: int, _frame: FrameType | None) -> None:
        nonlocal seen
        seen += 1
        if seen == 1 or seen >= _GIVE_UP_AT:
            raise KeyboardInterrupt
        sys.stderr.write("icecheck: cleaning up and writing the report; once more to give up\n")

    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, interrupted) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
