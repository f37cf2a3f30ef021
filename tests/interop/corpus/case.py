"""One request of the corpus, and the modes it may be of."""

from dataclasses import dataclass, field
from typing import Any

POSITIVE, NEGATIVE, METHODS = "positive", "negative", "methods"
"""Modes: what the contract allows, what it should not, and methods that it does not list."""


@dataclass(frozen=True, slots=True)
class CorpusCase:
    """One request. ``part`` and ``location`` say where schemathesis put the flaw, if it did.

    ``target`` is path and query as sent; ``media_type`` is None when no body is sent.
    """

    operation_id: str
    mode: str
    description: str
    part: str
    location: str
    method: str
    target: str
    headers: dict[str, str] = field(hash=False)
    body: bytes | None

    @property
    def sent(self) -> tuple[Any, ...]:
        """What goes over the wire: equal for cases that are one request."""
        return self.method, self.target, tuple(sorted(self.headers.items())), self.body
