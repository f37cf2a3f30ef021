"""The third-party catalogs that have passed each check, or why none has.

A MUST check that none of them has passed may still be right, but it has been seen to pass only on
this project's own mock (docs/catalogs has the runs).
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from icecheck.contract.model import Level


def witnesses_of(check_id: str) -> tuple[str, ...]:
    """Return the names of the catalogs that passed a check in their recorded runs."""
    return _passed().get(check_id, ())


def is_unwitnessed(check_id: str, level: Level) -> bool:
    """Return whether a MUST check has not been seen to pass on any such catalog."""
    return level is Level.MUST and not witnesses_of(check_id)


@cache
def reasons_without_witness() -> Mapping[str, tuple[str, ...]]:
    """Return the id of each unwitnessed check -> its results in the recorded runs.

    These are phrases, each for the catalogs of which it is true, or one that is true of every run.
    """
    reasons: dict[str, list[str]] = _content("unwitnessed.toml")["reason"]
    return {check: tuple(phrases) for check, phrases in reasons.items()}


@cache
def _passed() -> Mapping[str, tuple[str, ...]]:
    catalogs: dict[str, list[str]] = _content("witnesses.toml")["passed"]
    names: dict[str, tuple[str, ...]] = {}
    for catalog, checks in catalogs.items():
        for check in checks:
            names[check] = (*names.get(check, ()), catalog)
    return names


def _content(name: str) -> dict[str, Any]:
    return tomllib.loads(files("icecheck.contract").joinpath(name).read_text(encoding="utf-8"))
