"""The error for a file of a run that can no longer be written: the disk is full, or removed."""

import contextlib
from collections.abc import Iterator
from pathlib import Path


class Unwritable(Exception):
    """A run cannot continue because one of its files cannot be written; says which, in one line."""


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise Unwritable, which names the file, for an OSError while it is written."""
    try:
        yield
    except OSError as error:
        raise Unwritable(
            f"{path} cannot be written ({error.strerror or error}): make room, or name another "
            "directory; there is no report of this run"
        ) from None
