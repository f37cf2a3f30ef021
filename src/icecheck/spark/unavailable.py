"""The error for a machine where Spark cannot be started; it says what to install."""


class SparkUnavailable(Exception):
    """Spark cannot run on this machine; the message is one line and says what to install."""
