"""The file that describes a target and what a user foresees: its name, its tables, its text."""

from pathlib import Path

from icecheck.target.target import UsageError

__all__ = ["DEFAULT_FILE", "TABLE", "read_text"]

DEFAULT_FILE = "icecheck.toml"
"""The file that is read when it lies in the working directory and no other is named."""
TABLE = "expectation"
"""The array of tables in it that ``icecheck.findings.expectations`` reads."""


def read_text(path: Path) -> str:
    """Return a file's text; UsageError when there is none to be read."""
    try:
        # As bytes, so that line endings stay what they are.
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: no UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
