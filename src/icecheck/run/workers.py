"""Runs several checks at a time: threads that judge, and one that receives every verdict."""

import threading
from collections.abc import Callable, Generator, Sequence
from queue import SimpleQueue

from icecheck.findings.verdict import Verdict
from icecheck.judging.check import Check

__all__ = ["judge_in_threads", "judge_in_turn"]

Event = Check | Verdict | BaseException | None


def judge_in_turn(
    checks: Sequence[Check], judge: Callable[[Check], Verdict], begun: Callable[[Check], None]
) -> Generator[Verdict]:
    """Yield verdicts one after the other; ``begun`` is called with each check beforehand."""
    for check in checks:
        begun(check)
        yield judge(check)


def judge_in_threads(
    checks: Sequence[Check],
    judge: Callable[[Check], Verdict],
    begun: Callable[[Check], None],
    workers: int,
    stopped: threading.Event,
) -> Generator[Verdict]:
    """Judge checks in so many threads; yield each verdict as it comes.

    ``begun`` is called in the caller's thread. A caller that leaves the iteration early waits until
    the checks in progress have ended; an interrupt reaches them by ``stopped``, which stays set.
    Exceptions of a thread are raised here.
    """
    events: SimpleQueue[Event] = SimpleQueue()
    left, ended = _Line(checks), threading.Event()

    def work() -> None:
        try:
            while not ended.is_set() and (check := left.next()) is not None:
                events.put(check)
                events.put(judge(check))
        except BaseException as error:  # noqa: BLE001 - an interrupt ends the whole run as well
            events.put(error)
        finally:
            events.put(None)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        yield from _heard(events, workers, begun)
    except KeyboardInterrupt:
        stopped.set()
        raise
    finally:
        ended.set()
        for thread in threads:
            thread.join()


class _Line:
    """A queue of checks for the threads."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._left = iter(checks)
        self._lock = threading.Lock()

    def next(self) -> Check | None:
        with self._lock:
            return next(self._left, None)


def _heard(
    events: SimpleQueue[Event], at_work: int, begun: Callable[[Check], None]
) -> Generator[Verdict]:
    while at_work:
        match events.get():
            case Check() as check:
                begun(check)
            case Verdict() as verdict:
                yield verdict
            case None:
                at_work -= 1
            case error:
                raise error
