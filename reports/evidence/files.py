"""Finds the reports to take in: files, directories and globs, on disk or in an object store."""

import fnmatch
import glob
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icecheck.targets.target import UsageError

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

RUN_SUFFIX = ".json"
EXCHANGES_SUFFIX = ".jsonl.zst"
_RUN_FILE = re.compile(r"run([-_.].*)?\.json")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_WILD = re.compile(r"[*?\[]")
# A user alone is no secret, and the container of an Azure account is written like one. What else
# has a colon before an @ is a secret, also if a slash in it hides the @.
_AUTHORITY = re.compile(r"(?P<user>[^:@]+@)?(\[[^]]*\]|[^:@]*)(:\d+)?")
_RETRY_SECONDS = 10
"""How long Google's store is tried again, for one question; its own limit is 15 minutes."""


@dataclass(frozen=True, slots=True, order=True)
class SourceFile:
    """One file: its URI, its size in bytes and when it was changed, in ms since the epoch."""

    uri: str
    size: int
    modified_ms: int

    @property
    def directory(self) -> str:
        """The URI of the directory that it is in."""
        return self.uri.rpartition("/")[0]

    @property
    def name(self) -> str:
        """Its name in the directory."""
        return self.uri.rpartition("/")[2]

    @property
    def holds_exchanges(self) -> bool:
        """Whether it holds exchanges, by its name; otherwise it is a report."""
        return self.name.endswith(EXCHANGES_SUFFIX)


def open_file(uri: str) -> Any:
    """Return a stream of the bytes of a file, from driver or executor; OSError if it cannot."""
    system, path = _system(uri)
    return system.open_input_stream(path, compression=None)


def find(paths: Iterable[str]) -> tuple[SourceFile, ...]:
    """Return the files of reports that the paths name, each once, ordered by URI.

    A directory stands for every ``run.json`` (``run-*.json``) and ``*.jsonl.zst`` in it and below.
    A file that is named itself may have any name that ends in ``.json`` or ``.jsonl.zst``. Raises
    UsageError for a path under which there is nothing.
    """
    found: dict[str, SourceFile] = {}
    for path in paths:
        mine = [*_under(path)]
        if not mine:
            raise UsageError(
                f"{path}: there is no report there: name a run.json, the directory of a report, or "
                "one above it"
            )
        found |= {each.uri: each for each in mine}
    return tuple(sorted(found.values()))


def _under(path: str) -> Iterator[SourceFile]:
    if _SCHEME.match(path):
        _expect_no_credentials(path)
        uri = path
    else:
        uri = f"file://{os.path.abspath(path)}"  # noqa: PTH100
    known = _existing(uri) if uri.startswith("file://") else ""
    wild = _WILD.search(uri, len(known))
    if wild is not None:
        base = uri[: wild.start()].rpartition("/")[0]
        pattern = glob.escape(base) + uri.removeprefix(base)
        below = [*_listed(base, path)]
        yield from (each for each in below if _matches(each.uri, pattern) and _counts(each.name))
        return
    system, inner = _system(uri)
    info = _info(system, inner, path)
    if info.is_file:
        if not uri.endswith((RUN_SUFFIX, EXCHANGES_SUFFIX)):
            raise UsageError(f"{path} is neither a run.json nor a {EXCHANGES_SUFFIX} of one")
        yield _source(uri, info)
    elif info.type.name == "Directory":
        yield from (each for each in _listed(uri, path) if _counts(each.name))


def _expect_no_credentials(path: str) -> None:
    """Raise UsageError for a URI with credentials: it would stand in every table."""
    scheme, _, rest = path.partition("://")
    authority = _AUTHORITY.fullmatch(rest.partition("/")[0])
    if authority is None or (authority["user"] and scheme.lower() == "s3"):
        raise UsageError(
            f"a path of {scheme}:// holds credentials: leave them out of it, and give them by the "
            "environment"
        )


def _existing(uri: str) -> str:
    """Return the beginning of a file's URI that is on this disk: its signs mean themselves."""
    place = Path(uri.removeprefix("file://"))
    there = next(each for each in (place, *place.parents) if os.path.lexists(each))
    return f"file://{there}"


def _matches(uri: str, pattern: str) -> bool:
    """Return whether a file, or one of the directories that it is in, has the pattern's form."""
    parts, wanted = uri.split("/"), pattern.rstrip("/").split("/")
    return any(
        fnmatch.fnmatchcase("/".join(parts[:count]), "/".join(wanted))
        for count in range(len(wanted), len(parts) + 1)
    )


def _counts(name: str) -> bool:
    return name.endswith(EXCHANGES_SUFFIX) or _RUN_FILE.fullmatch(name) is not None


def _listed(uri: str, path: str) -> Iterator[SourceFile]:
    from pyarrow import ArrowException
    from pyarrow.fs import FileSelector

    system, inner = _system(uri)
    try:
        infos = system.get_file_info(FileSelector(inner, recursive=True, allow_not_found=True))
    except (OSError, ArrowException) as error:
        raise UsageError(f"{path} cannot be listed: {_short(error)}") from None
    above = uri.rstrip("/")
    for info in infos:
        if info.is_file:
            yield _source(f"{above}{info.path.removeprefix(inner.rstrip('/'))}", info)


def _source(uri: str, info: "FileInfo") -> SourceFile:
    modified = info.mtime_ns or 0
    return SourceFile(uri, int(info.size or 0), modified // 1_000_000)


def _info(system: "FileSystem", inner: str, path: str) -> Any:
    from pyarrow import ArrowException

    try:
        return system.get_file_info(inner)
    except (OSError, ArrowException) as error:
        raise UsageError(f"{path} cannot be read: {_short(error)}") from None


def _system(uri: str) -> "tuple[FileSystem, str]":
    """Return the file system of a URI and the path in it; UsageError for one that is not known."""
    from pyarrow import ArrowException
    from pyarrow.fs import FileSystem, LocalFileSystem

    if uri.startswith("file://"):
        # Not through the URI: a path may hold signs that stand for something else there.
        return LocalFileSystem(), str(Path(uri.removeprefix("file://")))
    of_google = uri.startswith(("gs://", "gcs://"))
    limit = f"?retry_limit_seconds={_RETRY_SECONDS}" if of_google else ""
    try:
        system, path = FileSystem.from_uri(f"{uri}{limit}")
    except (OSError, ValueError, ArrowException) as error:
        raise UsageError(f"{uri} cannot be reached: {_short(error)}") from None
    return system, path


def _short(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
