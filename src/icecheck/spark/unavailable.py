"""The one error that says why Spark cannot be started here, and what to install."""

__all__ = ["SparkUnavailable"]


class SparkUnavailable(Exception):
    """Spark cannot run on this machine; the message is one line and says what to install."""
