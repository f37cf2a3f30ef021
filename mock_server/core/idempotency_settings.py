"""How long the answers to requests with an idempotency key are remembered."""

import re
from datetime import timedelta
from functools import cache

import msgspec

_DURATION = re.compile(
    r"P(?=[\dT])(?:(?P<days>\d{1,6})D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d{1,9})H)?(?:(?P<minutes>\d{1,9})M)?"
    r"(?:(?P<seconds>\d{1,9}(?:\.\d{1,9})?)S)?)?"
)


class IdempotencySettings(msgspec.Struct, frozen=True):
    """The lifetime that getConfig announces, an ISO 8601 duration of days to seconds.

    Weeks, months and years have no place in it: Java's client cannot read them.
    """

    lifetime: str = "PT30M"

    def __post_init__(self) -> None:
        """Refuse (ValueError) a lifetime that is none."""
        if self.milliseconds < 1:
            raise ValueError("an idempotency key has to be kept for some time")

    @property
    def milliseconds(self) -> int:
        """The lifetime in milliseconds; ValueError if it cannot be read."""
        return _milliseconds(self.lifetime)


@cache
def _milliseconds(lifetime: str) -> int:
    found = _DURATION.fullmatch(lifetime)
    if found is None:
        raise ValueError(
            f"{lifetime!r} is no lifetime of a key: write a duration such as PT30M or P1D"
        )
    parts = {unit: float(count) for unit, count in found.groupdict(default="0").items()}
    return timedelta(**parts) // timedelta(milliseconds=1)


KEYS_BY_DEFAULT = IdempotencySettings()
"""What a server of 1.11.0 announces unless it is told otherwise."""
