"""Treats SIGTERM, with which CI systems cancel jobs, like Ctrl-C: a report is written."""

import signal
import threading
from types import FrameType


class Termination:
    """Interrupts a pytest process at the first SIGTERM; later ones change nothing.

    A handler that somebody else has set stays, and only the main thread can set one.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._seen = False

    def watch(self) -> None:
        """Handle SIGTERM from now on, if nobody else does."""
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._interrupt)
            self._is_set = True

    def leave(self) -> None:
        """Let SIGTERM end the process again."""
        if self._is_set:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._is_set = False

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if not self._seen:
            self._seen = True
            raise KeyboardInterrupt
