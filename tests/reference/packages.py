"""Fetches published packages with their registries' own clients into a cache outside the tree.

Jars come from Maven Central through the Ivy that PySpark carries, wheels from PyPI through pip.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from icecheck.spark.java import choose_java
from icecheck.spark.runtime import find_pyspark
from icecheck.spark.unavailable import SparkUnavailable

FETCH_TIMEOUT_SECONDS = 1200.0
# The systems' own Java trust stores: they contain a company's authority, unlike the Java that pip
# installs.
_TRUST_STORES = ("/etc/ssl/certs/java/cacerts", "/etc/pki/java/cacerts")
_IVY = """<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="icecheck" module="reference"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
{lines}
  </dependencies>
</ivy-module>
"""


class Unavailable(Exception):
    """Raised when a catalog's packages or programs cannot be had here; the message is one line."""


@dataclass(frozen=True, slots=True)
class Jar:
    """Maven coordinates; ``classifiers`` name the artifacts, the empty one being the main jar.

    ``whole``: with its run-time dependencies.
    """

    group: str
    artifact: str
    version: str
    classifiers: tuple[str, ...] = ("",)
    whole: bool = False


def cache_directory() -> Path:
    """Return where packages are kept: ICECHECK_REFERENCE_CACHE, or the user's cache directory."""
    given = os.environ.get("ICECHECK_REFERENCE_CACHE", "")
    base = os.environ.get("XDG_CACHE_HOME", "") or "~/.cache"
    directory = Path(given) if given else Path(base).expanduser() / "icecheck" / "reference"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def java_command() -> str:
    """Return the Java that the suite would start Spark with."""
    try:
        return str(choose_java().executable)
    except SparkUnavailable as error:
        raise Unavailable(str(error)) from None


def fetch_jars(name: str, jars: Iterable[Jar]) -> Path:
    """Return the directory of these jars, after fetching them if they are not there yet."""
    directory = cache_directory() / name
    complete = directory / "complete"
    if complete.is_file():
        return directory
    directory.mkdir(exist_ok=True)
    module = directory / "ivy.xml"
    module.write_text(_IVY.format(lines="\n".join(map(_dependency, jars))), encoding="utf-8")
    _run(
        java_command(), *_trust(), "-cp", str(_ivy_jar()), "org.apache.ivy.Main",
        "-ivy", str(module),
        "-cache", str(cache_directory() / "ivy"),
        "-retrieve", f"{directory}/[artifact]-[revision](-[classifier]).[ext]",
    )  # fmt: skip
    if not [*directory.glob("*.jar")]:
        raise Unavailable(f"the jars of {name} cannot be had from Maven Central")
    complete.touch()
    return directory


def fetch_wheel(requirement: str, *, whole: bool = False) -> Path:
    """Return the directory that pip installed a pinned requirement into, ``bin`` included.

    ``whole``: with what it depends on.
    """
    directory = cache_directory() / requirement.replace("==", "-")
    complete = directory / "complete"
    if not complete.is_file():
        _run(
            sys.executable, "-m", "pip", "install", "--quiet", "--upgrade",
            *(() if whole else ("--no-deps",)), "--target", str(directory), requirement,
        )  # fmt: skip
        complete.touch()
    return directory


def _dependency(jar: Jar) -> str:
    where = "master,compile,runtime" if jar.whole else "master"
    named = "".join(
        f'<artifact name={quoteattr(jar.artifact)} type="jar" ext="jar"'
        f"{f' m:classifier={quoteattr(c)}' if c else ''}/>"
        for c in jar.classifiers
    )
    return (
        f"    <dependency org={quoteattr(jar.group)} name={quoteattr(jar.artifact)} "
        f'rev={quoteattr(jar.version)} transitive="{str(jar.whole).lower()}" '
        f'conf="default->{where}">{named}</dependency>'
    )


def _ivy_jar() -> Path:
    with contextlib.suppress(SparkUnavailable):
        for found in sorted((find_pyspark().home / "jars").glob("ivy-*.jar")):
            return found
    raise Unavailable("jars are resolved by PySpark's Ivy: pip install 'icecheck[spark]'")


def _trust() -> tuple[str, ...]:
    store = next((path for path in _TRUST_STORES if Path(path).is_file()), None)
    return () if store is None else (f"-Djavax.net.ssl.trustStore={store}",)


def _run(*command: str) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{Path(command[0]).name} could not fetch: {error}") from None
    if done.returncode:
        said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        telling = [line for line in said if "error" in line.lower() or "not found" in line]
        why = (telling or said or ["it said nothing"])[-1]
        raise Unavailable(f"{Path(command[0]).name} could not fetch: {why[:300]}")
