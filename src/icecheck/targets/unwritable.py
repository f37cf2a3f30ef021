"""The error for a file of a run that can no longer be written: the disk is full, or removed."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

PARTIAL = ".partial"
"""Ends the name of a file that is not complete yet."""


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
            "directory"
        ) from None


def write_text(path: Path, text: str) -> None:
    """Write a file under another name, and give it its own when it is whole; raises Unwritable."""
    partial = path.with_name(f"{path.name}{PARTIAL}")
    with writing(path):
        try:
            # A catalog may have sent half a surrogate pair: it is shown as an escape.
            partial.write_bytes(text.encode("utf-8", "backslashreplace"))
            partial.replace(path)
        except OSError:
            partial.unlink(missing_ok=True)
            raise
