"""Frozen sets of requirements: what a release of the suite demanded, to judge by it later.

A set holds for each requirement its level, the checks that prove it, and a digest of all else that
may change a verdict: condition, sentence, basis, references, profile and release. The sets stand in
the folder ``requirement_sets`` beside this module; that of a published release never changes.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from icecheck.contract.faults import ContractError
from icecheck.contract.model import Level, Requirement

FOLDER = Path(__file__).with_name("requirement_sets")


class UnknownSet(ContractError):
    """No set of requirements has this id, or its file is not what its hash says."""


@dataclass(frozen=True, slots=True)
class FrozenRequirement:
    """A requirement as a set has it: its level, the checks that prove it, and its digest."""

    level: Level
    checks: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class RequirementSet:
    """What one release of the suite demanded by one version of the document.

    ``requirements`` is id -> the requirement. ``document`` is the version of the contract.
    """

    id: str
    document: str
    requirements: Mapping[str, FrozenRequirement]

    @property
    def sha256(self) -> str:
        """The hash of the set: it changes with everything that may change a verdict."""
        rows = [
            [id_, str(row.level), list(row.checks), row.digest]
            for id_, row in sorted(self.requirements.items())
        ]
        return f"sha256:{hashlib.sha256(json.dumps(rows).encode()).hexdigest()}"

    def level_of(self, requirements: Iterable[str]) -> Level | None:
        """Return the level of a check that proves these; None if the set lacks one of them.

        It is that of the least demanding one: a check that proves more than one fails for any.
        """
        known = [self.requirements.get(id_) for id_ in requirements]
        levels = [row.level for row in known if row is not None]
        if not levels or len(levels) < len(known):
            return None
        return max(levels, key=tuple(Level).index)

    def has_check(self, check: str, requirements: Iterable[str]) -> bool:
        """Return whether the set scores a check that proves these requirements."""
        rows = [self.requirements.get(id_) for id_ in requirements]
        return bool(rows) and all(row is not None and check in row.checks for row in rows)

    def drift_from(self, other: "RequirementSet") -> tuple[str, ...]:
        """Return the ids of the requirements that another set words otherwise, or lacks.

        Another level and more checks are no drift: who judges by this set can do without them.
        """
        theirs = other.requirements
        return tuple(
            id_
            for id_, row in self.requirements.items()
            if id_ not in theirs or theirs[id_].digest != row.digest
        )

    def checks_missing_from(self, other: "RequirementSet") -> tuple[str, ...]:
        """Return the checks of this set that another does not have, sorted."""
        mine, theirs = (
            {check for row in each.requirements.values() for check in row.checks}
            for each in (self, other)
        )
        return tuple(sorted(mine - theirs))


def set_id(document: str, release: str) -> str:
    """Return the id of the set of a release of the suite."""
    return f"iceberg-rest/{document}@{release}"


def requirement_set(
    id_: str, document: str, requirements: Iterable[Requirement], proving: Mapping[str, list[str]]
) -> RequirementSet:
    """Return the set of these requirements; ``proving`` is requirement id -> its checks."""
    rows = {
        each.id: FrozenRequirement(
            level=each.level,
            checks=tuple(sorted(proving.get(each.id, ()))),
            digest=_digest(each),
        )
        for each in sorted(requirements, key=lambda each: each.id)
    }
    return RequirementSet(id_, document, rows)


def _digest(each: Requirement) -> str:
    """Return a digest of what is demanded; lines and words on clients change no verdict."""
    row: dict[str, Any] = {
        "id": each.id,
        "condition": each.condition,
        "text": each.text,
        "basis": str(each.basis),
        "refs": sorted(map(str, each.refs)),
        "profile": each.profile,
        "since": each.since,
    }
    if each.disputed:
        row["disputed"] = True
    return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()[:16]


def proving_checks(proofs: Iterable[tuple[str, Iterable[str]]]) -> dict[str, list[str]]:
    """Return requirement id -> the ids of its checks, of pairs of a check and what it proves."""
    proving: defaultdict[str, list[str]] = defaultdict(list)
    for check, requirements in proofs:
        for requirement_id in requirements:
            proving[requirement_id].append(check)
    return dict(proving)


def as_json(frozen: RequirementSet) -> str:
    """Return the text of a set's file: a line for each requirement."""
    lines = [
        f"  {json.dumps(id_)}: {json.dumps([str(row.level), row.digest, list(row.checks)])}"
        for id_, row in frozen.requirements.items()
    ]
    head = {"id": frozen.id, "document": frozen.document, "sha256": frozen.sha256}
    start = json.dumps(head, indent=1).removesuffix("\n}")
    return f'{start},\n "requirements": {{\n' + ",\n".join(lines) + "\n }\n}\n"


def frozen_ids() -> tuple[str, ...]:
    """Return the ids of all frozen sets, sorted."""
    return tuple(sorted(_frozen()))


def frozen_set(id_: str) -> RequirementSet:
    """Return a frozen set.

    Raises UnknownSet, which names those that there are.
    """
    known = _frozen()
    if id_ not in known:
        raise UnknownSet(f"no set of requirements is called {id_}: there are {', '.join(known)}")
    return known[id_]


def frozen_as(sha256: str) -> RequirementSet | None:
    """Return the frozen set with this hash, or None."""
    return next((each for each in _frozen().values() if each.sha256 == sha256), None)


@cache
def _frozen() -> Mapping[str, RequirementSet]:
    files = sorted(FOLDER.glob("*.json"))
    sets = [_read(json.loads(file.read_text(encoding="utf-8")), file.name) for file in files]
    return {each.id: each for each in sets}


def _read(document: Mapping[str, Any], name: str) -> RequirementSet:
    rows = {
        id_: FrozenRequirement(Level(level), tuple(checks), digest)
        for id_, (level, digest, checks) in document["requirements"].items()
    }
    frozen = RequirementSet(document["id"], document["document"], rows)
    if frozen.sha256 != document["sha256"]:
        raise UnknownSet(f"the set in {name} is not what its hash says: it was changed by hand")
    return frozen
