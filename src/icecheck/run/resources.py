"""The resources of checks beside the catalog: a Spark, started when a check first needs it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import SkipKind
from icecheck.judging.check import Check
from icecheck.replies.expect import NotOffered
from icecheck.run.options import RunOptions
from icecheck.spark.bench import start_bench
from icecheck.spark.session import SparkWorkbench
from icecheck.spark.unavailable import SparkUnavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_IF_INSTALLED = "spark_if_installed"


class Resources:
    """Resources that are made when first needed and stopped at the end; a failed start is final.

    ``engine`` names the Spark and Iceberg that were started, and stays after their end.
    """

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._spark: SparkWorkbench | None = None
        self._unavailable: SparkUnavailable | None = None
        self.engine = ""

    @property
    def spark(self) -> SparkWorkbench:
        """A running Spark; raises SparkUnavailable."""
        if self._unavailable is not None:
            raise self._unavailable
        if self._spark is None:
            try:
                self._spark = start_bench(self._options.spark_options, self._options.target)
            except SparkUnavailable as unavailable:
                self._unavailable = unavailable
                raise
            self.engine = self._spark.version
        return self._spark

    def prepare(self, checks: Sequence[Check]) -> None:
        """Start what any of the checks needs, so that a machine without it is reported early."""
        for check in checks:
            self.of(check)

    def of(self, check: Check) -> dict[str, Any]:
        """Return the arguments of a check's function beside the catalog."""
        wanted = check.function.__code__.co_varnames[1 : check.function.__code__.co_argcount]
        own: dict[str, Any] = {"spark": self.spark} if "spark" in wanted else {}
        return own | ({_IF_INSTALLED: SparkIfInstalled(self)} if _IF_INSTALLED in wanted else {})

    def stop(self) -> None:
        """Stop what was started."""
        if self._spark is not None:
            self._spark.stop()


class SparkIfInstalled:
    """The run's Spark for checks that can be skipped; started when a check opens a session."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def session(self, catalog: Catalog) -> "tuple[SparkSession, str]":
        """Return a new session for the catalog under test, and the catalog's name in it.

        Raises NotOffered where Spark cannot run.
        """
        try:
            spark = self._resources.spark
        except SparkUnavailable as unavailable:
            raise NotOffered(str(unavailable), SkipKind.HARNESS_GAP) from None
        return spark.session(catalog)
