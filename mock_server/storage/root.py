"""The location of a server's warehouses on disk: a given place, or a temporary directory."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path

from icecheck.mock_server.protocol import names
from icecheck.mock_server.storage.files import Files, Held, HeldFiles, check_writable
from icecheck.mock_server.storage.places import allowed_places, local_path, location_uri

_LOCK_FILE = ".lock"


class Root:
    """The directory or URI above all warehouses, and the files that a warehouse may touch.

    Those are the files below its own location, and below `allow_locations` (directories or `file:`
    URIs; ValueError for anything else). A temporary directory is made when first needed, and
    removed by `remove`, or at the latest when the server object is deleted. A given place is never
    removed.
    """

    __slots__ = (
        "__weakref__", "_allowed", "_elsewhere", "_given", "_held", "_lock", "_removal", "_seed",
        "_temporary",
    )  # fmt: skip

    def __init__(
        self,
        root: str | Path | None,
        seed: int | None,
        allow_locations: Iterable[str | Path] = (),
    ) -> None:
        self._given = None if root is None else location_uri(str(root))
        try:
            local_path(self._given or "")
        except OSError as error:
            raise ValueError(f"tables cannot live below {root}: {error}") from error
        self._allowed = allowed_places(map(str, allow_locations))
        self._held = HeldFiles()
        self._elsewhere: dict[str, Held] = {}
        self._seed = seed
        self._temporary: Path | None = None
        self._lock: weakref.finalize[[int], Root] | None = None
        self._removal: weakref.finalize[..., Root] | None = None

    def check(self) -> None:
        """Raise ValueError if a given place is on disk and cannot be written to."""
        if self._given is not None:
            check_writable(self._given)

    def kept_directory(self) -> Path:
        """Return the given directory; ValueError if there is none, or none that can be written."""
        path = None if self._given is None else local_path(self._given)
        if path is None:
            place = "" if self._given is None else f", and not in {self._given}"
            raise ValueError(f"tables can be kept in a directory only{place}: name one as the root")
        self.check()
        return path

    def uri(self) -> str:
        """Return the location of the root, without a slash at the end."""
        if self._given is not None:
            return self._given
        if self._temporary is None:
            self._temporary = self._seeded() or Path(tempfile.mkdtemp(prefix="icecheck-"))
            self._removal = weakref.finalize(
                self, shutil.rmtree, self._temporary, ignore_errors=True
            )
        return f"file://{self._temporary}"

    def files(self) -> Files:
        """Return the files of all warehouses below the root, for code that starts the server."""
        return Files(self._allowed.with_location(self.uri()), self._held)

    def warehouse(
        self,
        name: str,
        location: str | None,
        held_there: Callable[[str, Held], Held] | None = None,
    ) -> tuple[str, Files]:
        """Return a warehouse's location and files; `location` None: in this root.

        `held_there` returns what holds the files at a location, from what holds those in memory.
        ValueError for a location that is no valid place.
        """
        if location is None:
            directory = names.directory_of(name)
            places = self._allowed.with_name(self.uri(), directory)
            return f"{self.uri()}/{directory}", Files(places, self._held)
        uri = location_uri(location)
        held: Held = self._held
        if held_there is not None:
            held = self._elsewhere[uri] = held_there(uri, self._held)
        try:
            return uri, Files(self._allowed.with_location(uri), held)
        except OSError as error:
            raise ValueError(f"warehouse {name!r} cannot be there: {error}") from error

    def remove(self) -> None:
        """Remove the temporary directory with everything in it, if there is one."""
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
        if self._removal is not None:
            # A later removal would delete the directory of the next server with this seed.
            self._removal.detach()
        if self._lock is not None:
            self._lock()

    def remove_below(self, location: str) -> None:
        """Remove one warehouse's files: those in memory, and its directory if that is temporary."""
        self._elsewhere.get(location, self._held).forget_below(location)
        path = local_path(location)
        if self._temporary is not None and path is not None and self._temporary in path.parents:
            shutil.rmtree(path, ignore_errors=True)

    def _seeded(self) -> Path | None:
        """Return the directory for every server of this seed, or None if it cannot be had.

        Table locations are part of the answers, so it has a fixed name. A lock tells whether
        another server uses it now or a server that was killed has left it.
        """
        if self._seed is None:
            return None
        wanted = Path(tempfile.gettempdir()) / f"icecheck-seed-{self._seed}"
        try:
            import fcntl

            wanted.mkdir(mode=0o700, exist_ok=True)
            if wanted.is_symlink() or wanted.stat().st_uid != os.getuid():
                return None
            handle = os.open(wanted / _LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(handle)
                return None
        except (ImportError, OSError):
            return None
        self._lock = weakref.finalize(self, os.close, handle)
        for leftover in wanted.iterdir():
            if leftover.name != _LOCK_FILE:
                shutil.rmtree(leftover, ignore_errors=True)
        return wanted
