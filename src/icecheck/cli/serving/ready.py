"""Tells in a file that a server of this process listens."""

import json
import os
from pathlib import Path

from icecheck.cli.ending import fail

_USAGE = 2


def ready_line(uri: str) -> str:
    """Return the line of JSON that says where a server of this process listens."""
    return json.dumps({"event": "ready", "uri": uri, "pid": os.getpid()})


def write_ready(line: str, ready_file: str | None) -> None:
    """Write the line into the file, if one was named; exits if that cannot be done."""
    if ready_file is None:
        return
    path = Path(ready_file)
    # A reader that waits for the file must never read half of it.
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_text(f"{line}\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        fail(f"--ready-file {path} cannot be written: {error.strerror}", _USAGE)
