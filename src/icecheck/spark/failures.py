"""Reads what Spark says of a failure while its JVM runs: afterwards nobody can be asked."""

import contextlib
from collections.abc import Iterator

from icecheck.spark.unavailable import SparkFailed

_OF_PYTHON = "Traceback (most recent call last):\n"
_CAUSED_BY = "Caused by: "


@contextlib.contextmanager
def told_at_once() -> Iterator[None]:
    """Raise SparkFailed in place of an error whose words PySpark asks the JVM for."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors.exceptions.captured import CapturedException

    try:
        yield
    except (Py4JJavaError, CapturedException) as error:
        words = str(error)
        if isinstance(error, CapturedException):  # PySpark has made a class of its own of it
            words = f"{type(error).__name__}: {words}"
        failed = SparkFailed(cause_in(words))
        failed.add_note(words)
        # Its context is left out: it cannot be put in words when the JVM is gone.
        raise failed.with_traceback(error.__traceback__) from None


def cause_in(words: str) -> str:
    """Return the line of an error of Spark that names its first cause."""
    _, of_python, raised = words.rpartition(_OF_PYTHON)
    if of_python:
        return next((line for line in raised.splitlines() if line[:1].strip()), "an error")
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith(_CAUSED_BY)]
    if causes:
        return causes[-1].removeprefix(_CAUSED_BY)
    # Py4J says first which method it called, and then what came of that.
    called = [line.removeprefix(": ") for line in lines if line.startswith(": ")]
    return (called or lines or ["it says nothing"])[0]
