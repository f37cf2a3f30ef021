"""Which catalogs, of those that this project did not write, have passed a check.

A check of MUST that none of them has passed may be right all the same, but nobody has seen it pass
elsewhere than on this project's own mock (docs/catalogs has the runs).
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from icecheck.contract.model import Level

__all__ = ["is_unwitnessed", "witnesses_of"]


def witnesses_of(check_id: str) -> tuple[str, ...]:
    """Return the names of the catalogs that passed a check in their recorded runs."""
    return _passed().get(check_id, ())


def is_unwitnessed(check_id: str, level: Level) -> bool:
    """Whether a check demands something without reserve that no such catalog was seen to do."""
    return level is Level.MUST and not witnesses_of(check_id)


@cache
def _passed() -> Mapping[str, tuple[str, ...]]:
    text = files("icecheck.contract").joinpath("witnesses.toml").read_text(encoding="utf-8")
    catalogs: dict[str, list[str]] = tomllib.loads(text)["passed"]
    names: dict[str, tuple[str, ...]] = {}
    for catalog, checks in catalogs.items():
        for check in checks:
            names[check] = (*names.get(check, ()), catalog)
    return names
