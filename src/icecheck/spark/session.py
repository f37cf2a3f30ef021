"""The Spark of one run: one JVM, and a separate session for each check."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from icecheck.spark.catalog_conf import catalog_conf
from icecheck.spark.failures import told_at_once
from icecheck.spark.key_stores import show_certificate, trust_certificates
from icecheck.spark.launcher import TUNED_FLAGS, Jvm, SparkInstallation, find_installation
from icecheck.spark.runtime import IcebergRuntime, fetched_by_maven
from icecheck.spark.unavailable import SparkFailed, SparkUnavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from icecheck.targets.target import Target

CATALOG_NAME = "icecheck"
SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"


class HasTarget(Protocol):
    """An object that knows the catalog under test, such as ``icecheck.client.catalog.Catalog``."""

    @property
    def target(self) -> "Target":
        """The catalog's address and how to speak to it."""
        ...


class SparkWorkbench:
    """One JVM with Spark and Iceberg in it.

    ``session`` gives each check a session with its own catalog, so that caches and settings of one
    check do not affect the next. Use it as a context manager, or call ``stop``.
    """

    __slots__ = ("_jvm", "_shown", "_spark", "_trusted", "installation")

    def __init__(self, installation: SparkInstallation, jvm: Jvm, spark: "SparkSession") -> None:
        self.installation = installation
        self._jvm = jvm
        self._spark = spark
        self._trusted: set[str] = set()
        self._shown: set[str] = set()

    @classmethod
    def start(
        cls,
        conf: Mapping[str, str] | None = None,
        *,
        jar: str | None = None,
        packages: str | None = None,
        environment: Mapping[str, str] | None = None,
        flags: Sequence[str] = TUNED_FLAGS,
        needs: Callable[[SparkInstallation], object] = lambda _: None,
    ) -> Self:
        """Start Spark.

        ``conf`` holds Spark settings that win over the suite's, ``flags`` are those of the JVM;
        ``jar`` is the path of an Iceberg runtime and ``packages`` the Maven coordinates of one (see
        ``choose_runtime``). ``needs`` raises SparkUnavailable for an installation that will not do.
        PySpark allows one Spark in a process at a time. Raises SparkUnavailable, which says what to
        install, if it cannot start.
        """
        environment = os.environ if environment is None else environment
        installation = find_installation(jar, environment, packages=packages)
        needs(installation)
        runtime = fetched_by_maven(installation.runtime, environment)
        installation = replace(installation, runtime=runtime)
        from pyspark import SparkContext

        if SparkContext._active_spark_context is not None:  # noqa: SLF001 - not to be asked publicly
            raise SparkUnavailable(
                "this process already runs Spark: stop that SparkContext before icecheck's"
            )
        jvm = Jvm(installation, environment, flags)
        with contextlib.ExitStack() as undo:
            undo.callback(jvm.stop)
            undo.callback(_forget_gateway)
            try:
                with told_at_once():
                    spark = _connect(jvm, _with_jars(conf or {}, runtime))
            except SparkFailed as error:
                raise SparkUnavailable(f"Spark could not be started: {error}") from error
            started = cls(installation, jvm, spark)
            undo.pop_all()
        return started

    @property
    def version(self) -> str:
        """The version of Spark and of the Iceberg runtime, as the run records them."""
        return f"Spark {self._spark.version}, Iceberg {iceberg_release(self._spark)}"

    def session(self, catalog: HasTarget) -> "tuple[SparkSession, str]":
        """Return a new session for the catalog under test, and the catalog's name in it."""
        target = catalog.target
        self.prepare_tls(target)
        return self.catalog_session(CATALOG_NAME, catalog_conf(target)), CATALOG_NAME

    def prepare_tls(self, target: "Target") -> None:
        """Set up the JVM's TLS as the target says; raise SparkUnavailable if that fails."""
        directory = self._jvm.work_directory
        if target.ca_bundle is not None and target.ca_bundle not in self._trusted:
            trust_certificates(self._spark, target.ca_bundle, directory)
            self._trusted.add(target.ca_bundle)
        if target.client_cert is not None and target.client_cert not in self._shown:
            show_certificate(self._spark, target.client_cert, target.client_key, directory)
            self._shown.add(target.client_cert)

    def catalog_session(self, catalog_name: str, catalog_conf: Mapping[str, str]) -> "SparkSession":
        """Return a new session with one Iceberg catalog.

        ``catalog_conf`` holds the catalog's properties without the ``spark.sql.catalog.`` prefix,
        for example ``{"type": "rest", "uri": "http://127.0.0.1:8181"}``.
        """
        session = self._spark.newSession()
        key = f"spark.sql.catalog.{catalog_name}"
        session.conf.set(key, SPARK_CATALOG)
        for name, value in catalog_conf.items():
            session.conf.set(f"{key}.{name}", value)
        return session

    def ended_because(self) -> str:
        """Return why Spark has ended by itself, in words; "" while it runs."""
        from py4j.protocol import Py4JError

        try:
            if not self._spark.sparkContext._jsc.sc().isStopped():  # noqa: SLF001 - not to be asked publicly
                return ""
        except (Py4JError, OSError):
            pass  # nothing answers any more
        return f"Spark has ended: {self._jvm.last_line}"

    def stop(self) -> None:
        """Stop Spark and its JVM and remove their files; safe to call twice."""
        from py4j.protocol import Py4JError

        with contextlib.suppress(Py4JError, OSError):
            self._spark.stop()
        _forget_gateway()
        self._jvm.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _with_jars(conf: Mapping[str, str], runtime: IcebergRuntime) -> Mapping[str, str]:
    """Return settings that give executors elsewhere the runtime: they have no class path of ours.

    It may have been fetched only now.
    """
    if not runtime.jars or conf.get("spark.master", "local").startswith("local"):
        return conf
    return {"spark.jars": ",".join(map(str, runtime.jars)), **conf}


def iceberg_release(session: "SparkSession") -> str:
    """Return the release of the Iceberg runtime that a session has."""
    # Neither PySpark nor Iceberg has a public way to ask.
    return str(session.sparkContext._jvm.org.apache.iceberg.IcebergBuild.version())  # noqa: SLF001


def spark_conf(work_directory: Path) -> dict[str, str]:
    """Return the suite's Spark settings: local, quiet, small, all files in ``work_directory``."""
    return {
        "spark.app.name": "icecheck",
        # Two threads, so that concurrent statements really run concurrently.
        "spark.master": "local[2]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(work_directory / "tmp"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Spark describes every statement's plan for a web interface that nobody opens: keep it
        # short.
        "spark.sql.ui.explainMode": "simple",
        # One partition each: the data is small and every task takes time.
        "spark.sql.shuffle.partitions": "1",
        "spark.default.parallelism": "1",
        # Generated code takes more time than it saves on statements that run once.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.extensions": EXTENSIONS,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(work_directory / "warehouse"),
    }


def _connect(jvm: Jvm, conf: Mapping[str, str]) -> "SparkSession":
    """Create Spark in a running JVM, through PySpark's own way of joining one."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    joining = {
        "PYSPARK_GATEWAY_PORT": str(jvm.port),
        "PYSPARK_GATEWAY_SECRET": jvm.secret,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with _environment(joining), _same_interrupt():
        gateway = launch_gateway()
        settings = SparkConf(loadDefaults=False, _jvm=gateway.jvm)
        for name, value in {**spark_conf(jvm.work_directory), **conf}.items():
            settings.set(name, value)
        return SparkSession(SparkContext(conf=settings, gateway=gateway))


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the block; PySpark reads these settings only from there."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _same_interrupt() -> Iterator[None]:
    """Keep the process's own handler of Ctrl-C; PySpark's would outlive the JVM and fail."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _forget_gateway() -> None:
    """Close PySpark's connection to a JVM that is being stopped, so that another can be joined."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway  # noqa: SLF001 - PySpark has no public way to do this
    if gateway is not None:
        gateway.shutdown()
    SparkContext._gateway = None  # noqa: SLF001
    SparkContext._jvm = None  # noqa: SLF001
