"""One JVM with Spark for all tests of a process: starting one takes as long as fifty statements."""

from icecheck.spark import SparkWorkbench


class OneSpark:
    """The process's Spark, started when it is first needed; it can be stopped and started again."""

    def __init__(self) -> None:
        self._started: SparkWorkbench | None = None

    def running(self) -> SparkWorkbench:
        """Return it; it is started if it is not running. SparkUnavailable says what is missing."""
        if self._started is None:
            self._started = SparkWorkbench.start()
        return self._started

    def stop(self) -> None:
        """Stop it, if it is running: PySpark allows one Spark in a process at a time."""
        if self._started is not None:
            self._started.stop()
            self._started = None
