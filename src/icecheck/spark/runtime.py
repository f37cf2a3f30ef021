"""Chooses the Iceberg runtime that Spark loads, and checks whether that jar is complete."""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from icecheck.installing import install_command
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.spark.versions import GROUP, Combination, combinations, default_for, with_coordinates

OF_WHEEL = next(each for each in combinations() if each.wheel)
WHEEL = OF_WHEEL.wheel
WHEEL_JAR = OF_WHEEL.jar
# The wheel has the same bytes as Maven Central, so a run from PyPI alone uses Apache's own release.
WHEEL_JAR_SHA256 = OF_WHEEL.sha256

_BUILD = "iceberg-build.properties"
MAVEN_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get"
MAVEN_TIMEOUT_SECONDS = 600.0

# Without these two a session starts, and the first CREATE TABLE fails without naming the reason.
REQUIRED_CLASSES = {
    "shaded Jackson": "org/apache/iceberg/shaded/com/fasterxml/jackson/core/JsonFactoryBuilder",
    "shaded HttpClient5": "org/apache/iceberg/shaded/org/apache/hc/client5/http/classic/HttpClient",
    "the Spark catalog": "org/apache/iceberg/spark/SparkCatalog",
}

THREE_WAYS = (
    f"pip install '{WHEEL}' (Spark 3.5, Python 3.10 to 3.12), or name the jar with "
    "--iceberg-jar or ICECHECK_ICEBERG_JAR, or name Maven coordinates with "
    "--iceberg-packages or ICECHECK_ICEBERG_PACKAGES"
)


@dataclass(frozen=True, slots=True)
class PySpark:
    """The installed PySpark: its version, and the directory that serves as SPARK_HOME."""

    version: str
    home: Path

    @property
    def line(self) -> str:
        """The first two numbers of the version, for example "3.5"."""
        return ".".join(self.version.split(".")[:2])


@dataclass(frozen=True, slots=True)
class IcebergRuntime:
    """The Iceberg part of Spark's class path: local jars, or coordinates for Ivy to resolve.

    Exactly one of ``jars`` and ``packages`` is set. ``fingerprint`` names the content (sha256 of
    the jars, hexadecimal; empty for packages); ``origin`` says in words where it came from.
    ``iceberg`` is Iceberg's release, or "" where nothing tells it.
    """

    jars: tuple[Path, ...]
    packages: str
    fingerprint: str
    origin: str
    iceberg: str


def find_pyspark() -> PySpark:
    """Return the installed PySpark without importing it; raise SparkUnavailable if absent."""
    try:
        installed = version("pyspark")
    except PackageNotFoundError:
        installed = ""
    spec = find_spec("pyspark")
    if not installed or spec is None or spec.origin is None:
        raise SparkUnavailable(f"PySpark is not installed; run: {install_command('spark')}")
    return PySpark(version=installed, home=Path(spec.origin).parent)


def choose_runtime(
    pyspark: PySpark,
    jar: str | None = None,
    environment: Mapping[str, str] | None = None,
    wheel: Callable[[], Path | None] | None = None,
    *,
    packages: str | None = None,
) -> IcebergRuntime:
    """Return the Iceberg runtime for ``pyspark``; raise SparkUnavailable if there is none.

    In order: ``jar`` (one path, or several joined by the platform's path separator), ``packages``
    (Maven coordinates joined by commas), the same two from ICECHECK_ICEBERG_JAR and
    ICECHECK_ICEBERG_PACKAGES, the jar inside the PyPI wheel, and the coordinates that belong to the
    installed PySpark.
    """
    environment = os.environ if environment is None else environment
    wheel = wheel or wheel_jar
    if jar:
        return _explicit_runtime(jar, "--iceberg-jar")
    by_coordinates = partial(_packages_runtime, environment=environment, wheel=wheel)
    if packages:
        return by_coordinates(packages, "--iceberg-packages")
    if paths := environment.get("ICECHECK_ICEBERG_JAR", ""):
        return _explicit_runtime(paths, "ICECHECK_ICEBERG_JAR")
    if coordinates := environment.get("ICECHECK_ICEBERG_PACKAGES", ""):
        return by_coordinates(coordinates, "ICECHECK_ICEBERG_PACKAGES")
    found = wheel() if pyspark.line == OF_WHEEL.line else None
    if found is not None:
        return _wheel_runtime(found)
    known = default_for(pyspark.line)
    if known is None:
        raise SparkUnavailable(
            f"no Iceberg runtime is known for PySpark {pyspark.version}: {THREE_WAYS}"
        )
    return by_coordinates(known.coordinates, f"Maven coordinates for PySpark {pyspark.version}")


def fetched_by_maven(runtime: IcebergRuntime, environment: Mapping[str, str]) -> IcebergRuntime:
    """Return a runtime of known coordinates as the jar that Maven fetches, if Maven is here.

    Maven goes where the user's settings lead it and trusts what they trust; Ivy, inside of Spark,
    does neither. What Maven cannot fetch is left to Ivy.
    """
    known = with_coordinates(runtime.packages)
    maven = shutil.which("mvn", path=environment.get("PATH"))
    if known is None or maven is None:
        return runtime
    command = [
        maven, "--quiet", "--batch-mode", MAVEN_GOAL, f"-Dartifact={known.coordinates}",
        "-Dtransitive=false",
    ]  # fmt: skip
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            command,
            env=environment,
            capture_output=True,
            timeout=MAVEN_TIMEOUT_SECONDS,
            check=False,
        )
    jar = local_jar(known, environment, lambda: None)
    if jar is None:
        return runtime
    return _of_known(known, jar, "Maven")


def wheel_jar() -> Path | None:
    """Return the path of the PyPI wheel's runtime jar, or None if the wheel is not installed."""
    spec = find_spec("snowpark_connect_deps_iceberg")
    if spec is None or spec.origin is None:
        return None
    jars = Path(spec.origin).parent / "jars"
    # Another release of the wheel has a jar of another name: it must be found, and refused.
    found = sorted(jars.glob(f"{OF_WHEEL.artifact}-*.jar"))
    return found[-1] if found else jars / WHEEL_JAR


def missing_classes(jars: tuple[Path, ...]) -> tuple[str, ...]:
    """Return the parts of a usable runtime that these jars together lack, in words."""
    names: set[str] = set()
    for jar in jars:
        try:
            with zipfile.ZipFile(jar) as archive:
                names.update(archive.namelist())
        except zipfile.BadZipFile as error:
            raise SparkUnavailable(f"{jar} is not a jar ({error}): {THREE_WAYS}") from error
    return tuple(what for what, name in REQUIRED_CLASSES.items() if f"{name}.class" not in names)


def _explicit_runtime(paths: str, option: str) -> IcebergRuntime:
    jars = tuple(Path(path).absolute() for path in paths.split(os.pathsep) if path)
    for jar in jars:
        if not jar.is_file():
            raise SparkUnavailable(f"{option} names {jar}, which is not a file: {THREE_WAYS}")
    lacking = missing_classes(jars)
    if lacking:
        raise SparkUnavailable(
            f"{option} names {paths}, which lacks {_listed(lacking)}: "
            "give the whole iceberg-spark-runtime jar"
        )
    return IcebergRuntime(jars, "", _sha256(jars), option, _release_of(jars))


def _packages_runtime(
    packages: str,
    option: str,
    *,
    environment: Mapping[str, str],
    wheel: Callable[[], Path | None],
) -> IcebergRuntime:
    coordinates = tuple(part.strip() for part in packages.split(",") if part.strip())
    for part in coordinates:
        if not re.fullmatch(r"[^:\s]+:[^:\s]+:[^:\s]+", part):
            raise SparkUnavailable(
                f"{option} has {part!r}, which is not group:artifact:version, "
                f"for example {OF_WHEEL.coordinates}"
            )
    runtime = next((part for part in coordinates if "iceberg-spark-runtime" in part), "")
    if not runtime:
        raise SparkUnavailable(
            f"{option} names no iceberg-spark-runtime: add one, for example {OF_WHEEL.coordinates}"
        )
    known = with_coordinates(runtime)
    if known is not None and len(coordinates) == 1:
        jar = local_jar(known, environment, wheel)
        if jar is not None:
            return _of_known(known, jar, option)
    release = runtime.rpartition(":")[2]
    return IcebergRuntime((), ",".join(coordinates), "", option, release)


def _of_known(known: Combination, jar: Path, origin: str) -> IcebergRuntime:
    return IcebergRuntime((jar,), "", known.sha256, f"{origin}, {jar}", known.iceberg)


def local_jar(
    wanted: Combination, environment: Mapping[str, str], wheel: Callable[[], Path | None]
) -> Path | None:
    """Return a runtime's jar that pip, Ivy or Maven has fetched before, or None; sums are compared.

    Only a jar on the class path has its classes archived, and Ivy's own way leaves it off.
    """
    places = [found] if wanted.wheel and (found := wheel()) is not None else []
    if named := environment.get("HOME") or environment.get("USERPROFILE"):
        home = Path(named)
        folder = f"{GROUP.replace('.', '/')}/{wanted.artifact}/{wanted.iceberg}"
        places.append(home / ".m2" / "repository" / folder / wanted.jar)
        for ivy in sorted(home.glob(".ivy2*"), reverse=True):
            places.append(ivy / "jars" / f"{GROUP}_{wanted.jar}")
            places.append(ivy / "cache" / GROUP / wanted.artifact / "jars" / wanted.jar)
    for place in places:
        if place.is_file() and _sha256((place,)) == wanted.sha256:
            return place
    return None


def _wheel_runtime(jar: Path) -> IcebergRuntime:
    if not jar.is_file():
        raise SparkUnavailable(
            f"the installed {WHEEL.partition('==')[0]} has no {jar.name}: {THREE_WAYS}"
        )
    fingerprint = _sha256((jar,))
    if fingerprint != WHEEL_JAR_SHA256:
        lacking = missing_classes((jar,))
        reason = (
            f"was stripped of {_listed(lacking)}"
            if lacking
            else f"has the sha256 {fingerprint[:12]}, not Apache's {WHEEL_JAR_SHA256[:12]}"
        )
        raise SparkUnavailable(f"the installed {jar.name} {reason}: {THREE_WAYS}")
    return IcebergRuntime((jar,), "", fingerprint, WHEEL, OF_WHEEL.iceberg)


def _release_of(jars: tuple[Path, ...]) -> str:
    """Return Iceberg's release as a runtime jar says it; "" where none does."""
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            if _BUILD not in archive.namelist():
                continue
            found = re.search(rb"^git\.build\.version=(\S+)", archive.read(_BUILD), re.MULTILINE)
            if found is not None:
                return found.group(1).decode("ascii", errors="replace")
    return ""


def _sha256(jars: tuple[Path, ...]) -> str:
    if len(jars) == 1:
        with jars[0].open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    return hashlib.sha256("".join(_sha256((jar,)) for jar in jars).encode()).hexdigest()


def _listed(parts: tuple[str, ...]) -> str:
    return " and ".join(parts)
