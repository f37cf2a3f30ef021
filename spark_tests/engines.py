"""The versions of Spark and Iceberg that a check needs, compared with those that run it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import NotOffered
from icecheck.spark.session import iceberg_release
from icecheck.spark.versions import version_numbers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PRODUCTS = {"spark": "Spark", "iceberg": "Iceberg"}
_BOUND = re.compile(r"(spark|iceberg) (>=|<) ([1-9]\d*)\.(\d+)")

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """One demand on a version: ``product`` is Spark or Iceberg.

    The running version must be at least ``version`` (major, minor), or below it if ``below``.
    """

    product: str
    version: Version
    below: bool = False

    def holds(self, version: Version) -> bool:
        """Return whether a version meets the demand."""
        return (version < self.version) if self.below else (version >= self.version)

    def __str__(self) -> str:
        number = ".".join(map(str, self.version))
        return f"{self.product} before {number}" if self.below else f"{self.product} {number}"


def read_bounds(text: str) -> tuple[Bound, ...]:
    """Return the bounds in a text such as ``spark >= 4.0, iceberg >= 1.11``.

    Raises ValueError for anything else, and for two bounds of one product on the same side.
    """
    bounds: list[Bound] = []
    for part in text.split(","):
        found = _BOUND.fullmatch(part.strip())
        if found is None:
            raise ValueError(f"{part.strip()!r} is not a bound such as 'spark >= 4.0'")
        version = (int(found[3]), int(found[4]))
        bound = Bound(_PRODUCTS[found[1]], version, below=found[2] == "<")
        if any((each.product, each.below) == (bound.product, bound.below) for each in bounds):
            raise ValueError(f"'{found[1]} {found[2]}' is given twice")
        bounds.append(bound)
    return tuple(bounds)


def unmet_bound(session: "SparkSession", bounds: Sequence[Bound]) -> str | None:
    """Return which demand the Spark or the Iceberg of a session does not meet; None if all hold."""
    running = {"Spark": session.version, "Iceberg": iceberg_release(session)}
    for bound in bounds:
        version = running[bound.product]
        if not bound.holds(version_numbers(version)):
            return f"needs {bound}; this is {bound.product} {version}"
    return None


def require_engine(session: "SparkSession", bounds: Sequence[Bound]) -> None:
    """Raise NotOffered if the Spark or the Iceberg of a session does not meet every bound."""
    unmet = unmet_bound(session, bounds)
    if unmet is not None:
        raise NotOffered(unmet, SkipKind.HARNESS_GAP)
