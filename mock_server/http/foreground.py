"""Serving in the main thread of a process, until it is told to stop."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def until_told_to_stop() -> Iterator[Callable[[], object]]:
    """Yield what waits for SIGINT, SIGTERM or SIGHUP; their handlers are as before afterwards."""
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    # SIGHUP comes when a terminal is closed; `nohup` has it ignored, and that stays so.
    numbers = [signal.SIGINT, signal.SIGTERM, *_hang_up()]
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield ended.wait
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _hang_up() -> list[signal.Signals]:
    number = getattr(signal, "SIGHUP", None)
    return [] if number is None or signal.getsignal(number) is signal.SIG_IGN else [number]
