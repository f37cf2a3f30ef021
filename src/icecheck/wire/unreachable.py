"""What is raised where a catalog gives no answer that could be judged."""

__all__ = ["CredentialsEnded", "Unreachable"]


class Unreachable(Exception):
    """The target gave no usable answer: a transport error, or throttling that persisted."""


class CredentialsEnded(Unreachable):
    """The catalog accepts the run's credentials no more, and did so before."""
