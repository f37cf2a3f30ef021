"""Where the warehouses of a server live on disk: a given place, or a temporary directory."""

import shutil
import tempfile
import weakref
from pathlib import Path

from icecheck.mock_server.files import local_path


class Root:
    """The directory or URI above all warehouses.

    A temporary directory is made when first needed, and removed by `remove`, or at the latest
    when the server is forgotten. A given place is never removed.
    """

    __slots__ = ("__weakref__", "_given", "_seed", "_temporary")

    def __init__(self, root: str | Path | None, seed: int | None) -> None:
        self._given: str | None = None
        if root is not None:
            text = str(root)
            self._given = text if "://" in text else f"file://{Path(text).resolve()}"
            self._given = self._given.rstrip("/")
        self._seed = seed
        self._temporary: Path | None = None

    def uri(self) -> str:
        """The location of the root, without a slash at the end."""
        if self._given is not None:
            return self._given
        if self._temporary is None:
            self._temporary = _temporary_directory(self._seed)
            weakref.finalize(self, shutil.rmtree, self._temporary, ignore_errors=True)
        return f"file://{self._temporary}"

    def remove(self) -> None:
        """Remove the temporary directory with everything in it, if there is one."""
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def remove_below(self, location: str) -> None:
        """Remove one warehouse's directory, if it lies in the temporary directory."""
        path = local_path(location)
        if self._temporary is not None and path is not None and self._temporary in path.parents:
            shutil.rmtree(path, ignore_errors=True)


def _temporary_directory(seed: int | None) -> Path:
    if seed is not None:
        # Table locations are part of every answer: a seeded server tries for the same ones.
        wanted = Path(tempfile.gettempdir()) / f"icecheck-seed-{seed}"
        try:
            wanted.mkdir(mode=0o700)
        except FileExistsError:
            pass
        else:
            return wanted
    return Path(tempfile.mkdtemp(prefix="icecheck-"))
