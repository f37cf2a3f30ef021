"""Reads the run that a report in a directory describes."""

from pathlib import Path
from typing import Any

_FILE = "run.json"


def stored_run(path: Path) -> dict[str, Any]:
    """Return the document of a run.json, or of the one in a report's directory.

    Raises UsageError in one line for anything else.
    """
    from icecheck.findings.comparison import read_run
    from icecheck.targets.target import UsageError

    try:
        content = (path / _FILE if path.is_dir() else path).read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}): name a run.json or its directory"
        ) from None
    return read_run(content, str(path))
