"""Runs several checks at a time: threads that judge, and one that receives every verdict."""

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue

from icecheck.findings.verdict import Verdict
from icecheck.judging.check import Check

Event = Check | Verdict | Future[None]


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
        while not ended.is_set() and (check := left.next()) is not None:
            events.put(check)
            events.put(judge(check))

    with ThreadPoolExecutor(workers) as pool:
        for _ in range(workers):
            pool.submit(work).add_done_callback(events.put)
        try:
            yield from _received(events, workers, begun)
        except KeyboardInterrupt:
            stopped.set()
            raise
        finally:
            ended.set()


class _Line:
    """A queue of checks for the threads."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._left = iter(checks)
        self._lock = threading.Lock()

    def next(self) -> Check | None:
        with self._lock:
            return next(self._left, None)


def _received(
    events: SimpleQueue[Event], at_work: int, begun: Callable[[Check], None]
) -> Generator[Verdict]:
    while at_work:
        match events.get():
            case Check() as check:
                begun(check)
            case Verdict() as verdict:
                yield verdict
            case ended:
                ended.result()
                at_work -= 1
