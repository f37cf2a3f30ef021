"""Replay files: the steps of one failing history, to be run again on any catalog.

A file is JSON: ``kind`` and ``version`` say what it is, ``check`` names the check that found the
history, ``spec`` the release that the catalog was held to, ``finding`` what was found, and
``steps`` are the steps in the form of that check.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from icecheck.findings.verdict import Finding

KIND = "icecheck-replay"
VERSION = 1


class ReplayUnusable(ValueError):
    """A text is no replay file of this version; the message says what does not fit."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A failing history: the check that found it, the release, and its steps as JSON.

    ``symptom`` is that of what was found. ``operations`` are those that its steps need, if they are
    known.
    """

    check: str
    spec: str
    steps: str
    symptom: str = ""
    operations: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Replays:
    """The histories that checks run again. If they run ``alone``, these checks draw none."""

    by_check: Mapping[str, tuple[Replay, ...]] = field(default_factory=dict)
    alone: bool = False

    @classmethod
    def of(cls, *replays: Replay, alone: bool = False) -> "Replays":
        """Return these histories, by check."""
        found: dict[str, tuple[Replay, ...]] = {}
        for each in replays:
            found[each.check] = (*found.get(each.check, ()), each)
        return cls(found, alone)

    def steps_of(self, check_id: str) -> tuple[str, ...]:
        """Return the steps of a check's histories, each as JSON."""
        return tuple(each.steps for each in self.by_check.get(check_id, ()))

    @property
    def operations(self) -> frozenset[str]:
        """The operations that all of them need."""
        every = (each.operations for replays in self.by_check.values() for each in replays)
        return frozenset().union(*every)


def replay_text(check_id: str, spec: str, finding: Finding) -> str:
    """Return the text of a finding's replay file: a line for each step."""
    head = {
        "kind": KIND,
        "version": VERSION,
        "check": check_id,
        "spec": spec,
        "finding": {
            "symptom": finding.symptom.slug,
            "expected": finding.expected,
            "actual": finding.actual,
        },
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    steps = ",\n".join(f"  {json.dumps(step)}" for step in json.loads(finding.steps))
    return "{\n" + ",\n".join([*lines, f' "steps": [\n{steps}\n ]']) + "\n}\n"


def read_replay(text: str) -> Replay:
    """Return the history of a replay file; raise ReplayUnusable if it is none."""
    try:
        read = json.loads(text)
    except ValueError as error:
        raise ReplayUnusable(f"it is no JSON ({error})") from None
    except RecursionError:
        raise ReplayUnusable("it is nested too deeply") from None
    if not isinstance(read, dict) or read.get("kind") != KIND:
        raise ReplayUnusable(f"it is no replay file (kind {KIND})")
    if read.get("version") != VERSION:
        told = f"version {read.get('version')!r} of replay files, and version {VERSION} is known"
        raise ReplayUnusable(f"it is of {told}")
    finding = read.get("finding")
    symptom = finding.get("symptom") if isinstance(finding, dict) else None
    return Replay(
        check=_text(read, "check"),
        spec=_text(read, "spec"),
        steps=json.dumps(_list(read)),
        symptom=symptom if isinstance(symptom, str) else "",
    )


def _text(read: Mapping[str, Any], name: str) -> str:
    value = read.get(name)
    if not isinstance(value, str) or not value:
        raise ReplayUnusable(f"its {name} is no text")
    return value


def _list(read: Mapping[str, Any]) -> list[Any]:
    steps = read.get("steps")
    if not isinstance(steps, list) or not steps:
        raise ReplayUnusable("its steps are no list, or it has none")
    return steps
