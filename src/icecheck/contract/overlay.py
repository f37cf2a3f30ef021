"""Applies an OpenAPI overlay (1.0.0) to a document: the errata of the contract.

Only the JSONPath that the errata use is supported: `$`, `.name`, `['name']` and `[0]`.
"""

import copy
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from icecheck.contract import document
from icecheck.contract.document import later_overlay, overlay_document, raw_document
from icecheck.contract.model import Erratum, Level, UnknownRef

PARTS = ("repair", "strict")
STEP = re.compile(r"\.(?P<name>[A-Za-z_][\w-]*)|\['(?P<quoted>[^']+)'\]|\[(?P<index>\d+)\]")


class OverlayTargetVanished(LookupError):
    """An action's target is not in the document: the erratum must be reviewed."""


def apply_overlay(
    document: Mapping[str, Any], actions: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a corrected copy of `document`.

    `update` merges objects member by member and appends to arrays, `remove` deletes. A missing
    target raises OverlayTargetVanished, a target in another JSONPath ValueError.
    """
    corrected_document: dict[str, Any] = copy.deepcopy(dict(document))
    for action in actions:
        _apply(corrected_document, action)
    return corrected_document


def _apply(document: dict[str, Any], action: Mapping[str, Any]) -> None:
    steps = _steps(action["target"])
    parent: Any = None
    node: Any = document
    for step in steps:
        parent = node
        try:
            node = node[step]
        except (KeyError, IndexError, TypeError):
            raise OverlayTargetVanished(
                f"{action.get('x-id', 'unnamed')}: {action['target']} does not exist (at {step!r})"
            ) from None
    if action.get("remove"):
        if not steps:
            raise ValueError("an overlay cannot remove the whole document")
        del parent[steps[-1]]
        return
    merged = _merged(node, copy.deepcopy(action["update"]))
    if steps:
        parent[steps[-1]] = merged


def _steps(target: str) -> list[str | int]:
    steps: list[str | int] = []
    position = 1
    while target.startswith("$") and position < len(target):
        match = STEP.match(target, position)
        if match is None:
            break
        name = match["name"] or match["quoted"]
        steps.append(name if name is not None else int(match["index"]))
        position = match.end()
    if not target.startswith("$") or position != len(target):
        raise ValueError(f"this applier cannot read the overlay target {target!r}")
    return steps


def _merged(node: Any, update: Any) -> Any:
    if isinstance(node, dict) and isinstance(update, dict):
        for key, value in update.items():
            node[key] = _merged(node[key], value) if key in node else value
        return node
    if isinstance(node, list):
        return [*node, *update] if isinstance(update, list) else [*node, update]
    return update


@cache
def errata(version: str) -> Mapping[str, Erratum]:
    """Return erratum id -> Erratum, in the overlay's order."""
    return {
        erratum_id: Erratum(
            id=erratum_id,
            part=row["part"],
            level=Level(row["level"]) if "level" in row else None,
            title=row["title"],
        )
        for erratum_id, row in overlay_document(version)["x-errata"].items()
    }


def errata_among(version: str, named: Iterable[str]) -> tuple[str, ...]:
    """Return those of some errata that the document of this version has."""
    return tuple(each for each in named if each in errata(version))


def unknown_errata(named: Iterable[str]) -> Iterator[str]:
    """Yield a fault for each of some errata that the document of no version has."""
    known: set[str] = set()
    for version in document.FOLDERS:
        with suppress(FileNotFoundError):  # a version that is begun has no overlay yet
            known |= errata(version).keys()
    return (f"no erratum {each}" for each in named if each not in known)


def corrected(
    version: str, parts: Collection[str] = ("repair",), leave_out: Collection[str] = ()
) -> dict[str, Any]:
    """Return the document with the chosen parts of the errata applied, except those left out.

    It is shared between callers, who must not change it. An unknown part raises ValueError, an
    unknown erratum id UnknownRef.
    """
    unknown_parts = set(parts) - set(PARTS)
    if unknown_parts:
        raise ValueError(f"the overlay has no part {sorted(unknown_parts)}; it has {list(PARTS)}")
    unknown = set(leave_out) - set(errata(version))
    if unknown:
        raise UnknownRef(f"the overlay of {version} has no erratum {sorted(unknown)}")
    return _corrected(version, frozenset(parts), frozenset(leave_out))


@cache
def _corrected(version: str, parts: frozenset[str], leave_out: frozenset[str]) -> dict[str, Any]:
    known = errata(version)
    actions = [
        action
        for action in overlay_document(version)["actions"]
        if known[action["x-id"]].part in parts and action["x-id"] not in leave_out
    ]
    return apply_overlay(raw_document(version), actions)


@cache
def tolerant(version: str) -> dict[str, Any]:
    """Return the repaired document, which also allows what later documents allow in answers.

    It is shared between callers, who must not change it.
    """
    return apply_overlay(corrected(version), later_overlay(version)["actions"])
