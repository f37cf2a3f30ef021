"""Finds the mock's defects by name or glob, with a hint for an unknown name."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from icecheck.targets.target import UsageError

if TYPE_CHECKING:
    from icecheck.mock_server.defects import Defect


def named_defects(globs: Iterable[str]) -> "tuple[Defect, ...]":
    """Return the defects whose names match one of the globs, sorted.

    Raises UsageError for a glob that matches none.
    """
    from difflib import get_close_matches

    from icecheck.mock_server.defects import defects

    every = defects()
    globs = tuple(globs)
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in every):
            close = get_close_matches(glob, every, n=4, cutoff=0.6)
            hint = f"did you mean {', '.join(close)}?" if close else "see `icecheck list defects`"
            raise UsageError(f"no defect is called {glob!r}: {hint}")
    return tuple(d for name, d in every.items() if any(fnmatchcase(name, g) for g in globs))
