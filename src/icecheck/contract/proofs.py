"""The defects of the mock that make each check fail: they show what a pass means."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


def proven_by(check_id: str) -> tuple[str, ...]:
    """Return the names of the defects that a check was seen to fail for, sorted."""
    return tuple(_proofs().get(check_id, ()))


@cache
def _proofs() -> Mapping[str, list[str]]:
    """Return the reviewed kill matrix of the package, check id -> defects."""
    text = files("icecheck").joinpath("data", "proven_by.json").read_text(encoding="utf-8")
    proofs: dict[str, list[str]] = json.loads(text)
    return proofs
