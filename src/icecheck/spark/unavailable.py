"""The errors for a machine where Spark cannot be started, and for what Spark says of a failure."""


class SparkUnavailable(Exception):
    """Spark cannot run on this machine; the message is one line and says what to install."""


class SparkFailed(Exception):
    """A failure of Spark; the message is its cause in one line, a note the whole of its words."""
