"""Exceptions for a catalog that gives no answer that could be judged."""

from icecheck.wire.exchange import Exchange


class Unreachable(Exception):
    """The target gave no usable answer: a transport error, or throttling that persisted.

    ``broke`` is the exchange whose connection ended without an answer, if that is the trouble.
    """

    def __init__(self, words: str, broke: Exchange | None = None) -> None:
        self.broke = broke
        super().__init__(words)


class CredentialsEnded(Unreachable):
    """The catalog no longer accepts the run's credentials, which it accepted before."""
