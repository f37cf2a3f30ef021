"""A file of a run that cannot be written any more: the disk is full, or was taken away."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

__all__ = ["Unwritable", "writing"]


class Unwritable(Exception):
    """A run cannot go on because a file of its own cannot be written; says which, in one line."""


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise Unwritable, which names the file, for what the system says while it is written."""
    try:
        yield
    except OSError as error:
        raise Unwritable(
            f"{path} cannot be written ({error.strerror or error}): make room, or name another "
            "directory; there is no report of this run"
        ) from None
