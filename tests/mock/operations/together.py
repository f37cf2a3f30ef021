"""Work of many threads that begins at the same moment."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def together(*works: Callable[[], object]) -> None:
    """Run each in a thread of its own, starting together; what the first of them raises is raised.

    All have ended then.
    """
    barrier = threading.Barrier(len(works))

    def run(work: Callable[[], object]) -> None:
        barrier.wait()
        work()

    with ThreadPoolExecutor(len(works)) as pool:
        running = [pool.submit(run, work) for work in works]
    for each in running:
        each.result()
