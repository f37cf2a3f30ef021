"""Which files a plan has to have, judged by their names; what such checks have in common."""

from collections.abc import Iterable, Mapping
from typing import Any

from icecheck.conformance.manifest_files import ManifestFiles
from icecheck.expect import equal
from icecheck.planned_scan import Planned

__all__ = [
    "HISTORY",
    "IN_A",
    "MANY",
    "V2",
    "expect_among",
    "expect_planned",
    "expect_undecided",
    "lost",
]

V2 = ("format-version-2",)
HISTORY = (*V2, "snapshot-history")
IN_A = ("a",)
"""A partition, of files that differ in other things."""
MANY = 150
"""So many files that a catalog with plan tasks has a reason to use them."""


def expect_planned(
    files: ManifestFiles, found: Planned, names: Iterable[str], detail: str = ""
) -> None:
    """Judge that exactly these files are planned, each once."""
    planned_names = files.names_of(found.locations)
    equal(planned_names, sorted(names), symptom="planned-files", detail=detail)


def expect_among(
    files: ManifestFiles, found: Planned, names: Iterable[str], detail: str = ""
) -> None:
    """Judge that these are planned, each once; a planner that prunes less plans others too."""
    due = sorted(names)
    of_these = [name for name in files.names_of(found.locations) if name in due]
    equal(of_these, due, symptom="planned-files", detail=detail)


def expect_undecided(task: Mapping[str, Any], detail: str) -> None:
    """Judge that something is left to test in a file, some of whose rows match the filter.

    A task that does not tell what is left leaves the filter as it is.
    """
    residual = task.get("residual-filter")
    kind = residual.get("type") if isinstance(residual, dict) else residual
    decided = kind in (True, False, "true", "false")
    equal(decided, False, symptom="residual-forgets-the-filter", detail=detail)


def lost(files: ManifestFiles, found: Planned, names: Iterable[str]) -> list[str]:
    """Return which of these files are not planned, or not once, however many others are."""
    planned_names = files.names_of(found.locations)
    return [name for name in names if planned_names.count(name) != 1]
