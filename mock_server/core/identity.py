"""Unique values: uuids, entry versions and the key that signs page tokens."""

import itertools
import random

_FREE_BITS = ~(0xF << 76 | 0xC000 << 48)
_VERSION_4 = 0x4 << 76 | 0x8000 << 48


class Identities:
    """Makes uuids and versions; with a seed, the same calls give the same values.

    `starts` is how many servers have had the same tables before: each has values of its own.

    One instance belongs to one server. Each method is one step of a C-implemented generator,
    so threads need no lock.
    """

    __slots__ = ("_random", "_versions", "token_key")

    def __init__(self, seed: int | None = None, starts: int = 0) -> None:
        given = f"{seed} {starts}" if starts and seed is not None else seed
        self._random = random.Random(given)  # noqa: S311 - reproducible by design, guards nothing
        self._versions = itertools.count(1)
        self.token_key = self._random.getrandbits(128).to_bytes(16, "big")

    def new_uuid(self) -> str:
        """Return a random (version 4) uuid as text."""
        # The same text as str(uuid.UUID(int=..., version=4)), in a third of the time.
        bits = self._random.getrandbits(128) & _FREE_BITS | _VERSION_4
        digits = f"{bits:032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def next_version(self) -> int:
        """Return a number that this server has never given before, not even before a restore."""
        return next(self._versions)
