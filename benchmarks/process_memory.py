"""The memory of a process and its children while it runs, for benchmarks that start one."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

SAMPLE_SECONDS = 0.5


def memory_of(pid: int) -> int:
    """Return the bytes that a process and its children take, shared ones divided among them.

    A JVM that starts a program is there twice for a moment, with one memory: it counts once.
    """
    total = 0
    processes = [(pid, "")]
    while processes:
        each, parent = processes.pop()
        with contextlib.suppress(OSError, ValueError):
            name = Path(f"/proc/{each}/exe").readlink().name
            if name == parent == "java":
                continue
            for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
            for task in Path(f"/proc/{each}/task").iterdir():
                processes += [(int(n), name) for n in (task / "children").read_text().split()]
    return total


@contextlib.contextmanager
def most_memory(pid: int) -> Iterator[list[int]]:
    """Yield a list whose one number is the highest memory of a process and its children."""
    most, ended = [0], threading.Event()

    def look() -> None:
        while not ended.wait(SAMPLE_SECONDS):
            most[0] = max(most[0], memory_of(pid))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        ended.set()
        thread.join()
