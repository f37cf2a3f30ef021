"""Serving in the main thread of a process, until it is told to stop."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def until_told_to_stop() -> Iterator[Callable[[], object]]:
    """Yield what waits for SIGINT or SIGTERM; their handlers are as before afterwards."""
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield ended.wait
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
