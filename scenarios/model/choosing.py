"""Chooses what is looked at besides the things that a step touches."""

from collections.abc import Hashable, Mapping
from hashlib import blake2b
from typing import TypeVar

Option = TypeVar("Option", bound=Hashable)


def chosen(options: Mapping[str, Option], occasion: str) -> Option:
    """Return one of some labelled options, by the occasion.

    Each label has a rank of its own for the occasion, and the first one wins (rendezvous hashing).
    So neither another step before this one nor an option that comes or goes changes the choice,
    unless it is the winner. Raises ValueError if there are no options.
    """
    return options[min(options, key=lambda label: (_rank(occasion, label), label))]


def share(occasion: str, parts: int) -> int:
    """Return a number from 0 to ``parts`` - 1 that depends on the occasion only."""
    return _rank(occasion, "") % parts


def _rank(occasion: str, label: str) -> int:
    digest = blake2b(f"{occasion}\0{label}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")
