"""Exceptions for a catalog that gives no answer that could be judged."""

__all__ = ["CredentialsEnded", "Unreachable"]


class Unreachable(Exception):
    """The target gave no usable answer: a transport error, or throttling that persisted."""


class CredentialsEnded(Unreachable):
    """The catalog no longer accepts the run's credentials, which it accepted before."""
