"""The file that describes a target and its known failures: its name, its tables, its text."""

from pathlib import Path

from icecheck.targets.target import UsageError

DEFAULT_FILE = "icecheck.toml"
"""The file that is read if it is in the working directory and no other is named."""
TABLE = "expectation"
"""The array of tables in it that ``icecheck.findings.expectations`` reads."""


def read_text(path: Path) -> str:
    """Return a file's text.

    Raises UsageError when it cannot be read.
    """
    try:
        # Read as bytes, so that line endings are kept.
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: no UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
