"""Writes a text file completely or not at all."""

from pathlib import Path

from icecheck.targets.unwritable import writing

PARTIAL = ".partial"
"""Ends the name of a file that is not complete yet."""


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
