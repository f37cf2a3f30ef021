"""What one document demands and another does not, or otherwise."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from icecheck.contract import Level, Requirement, contract_for
from icecheck.contract.releases import is_newer


@dataclass(frozen=True, slots=True)
class RequirementChange:
    """A requirement that two releases' documents have otherwise.

    ``change`` is ``new``, ``dropped`` or ``changed``; ``level`` is the newer one, behind the older
    one where they differ; ``note`` says what was different before, where the register knows it.
    """

    change: str
    id: str
    level: str
    text: str
    note: str


def changes_between(old: str, new: str) -> tuple[RequirementChange, ...]:
    """Return what the document of a release demands otherwise than an older one's, by id."""
    before, after = _demanded_by(old), _demanded_by(new)
    return tuple(sorted(_changes(before, after, old, new), key=lambda each: each.id))


def _changes(
    before: Mapping[str, Requirement], after: Mapping[str, Requirement], old: str, new: str
) -> Iterator[RequirementChange]:
    for id_, row in after.items():
        known = before.get(id_)
        if known is None:
            yield _change("new", row)
        elif _is_reworded(known, row) or _says_changed_between(row, old, new):
            yield _change("changed", row, before=known.level)
    for id_, row in before.items():
        if id_ not in after:
            yield _change("dropped", row)


def _change(kind: str, row: Requirement, before: Level | None = None) -> RequirementChange:
    level = str(row.level) if before in {None, row.level} else f"{before} → {row.level}"
    return RequirementChange(kind, row.id, level, row.text, row.changed or "")


def _demanded_by(release: str) -> dict[str, Requirement]:
    register = contract_for(release).requirements
    return {id_: row for id_, row in register.items() if not is_newer(row.since, release)}


def _is_reworded(known: Requirement, row: Requirement) -> bool:
    one, other = ((each.level, each.text, each.condition) for each in (known, row))
    return one != other


def _says_changed_between(row: Requirement, old: str, new: str) -> bool:
    """Return whether the register says that a release between these brought a change.

    Its words begin with that release: "1.4.0: 204; 200 before".
    """
    release = (row.changed or "").partition(":")[0]
    if not all(part.isdecimal() for part in release.split(".")):
        return False
    return is_newer(release, old) and not is_newer(release, new)
