"""What several tests compare with, made once for all workers of a test run."""

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

SHARED = "ICECHECK_TESTS_SHARED"
"""The variable that names the directory in which the workers keep it; tests/conftest.py sets it."""


def made_once(name: str, make: Callable[[], T]) -> T:
    """Return what the first worker that needs it makes under this name; others read its file."""
    folder = Path(os.environ[SHARED])
    found = folder / f"{name}.pickle"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            found.write_bytes(pickle.dumps(make()))
    made: T = pickle.loads(found.read_bytes())  # noqa: S301 - a worker of this run wrote it
    return made
