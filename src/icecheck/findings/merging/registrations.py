"""The reason to merge what follows where a registered table gets an identity of its own."""

from collections.abc import Iterator, Sequence

from icecheck.findings.merging.groups import Group, Join, Seen
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.findings.verdict import CauseKey, Verdict

_REGISTER = "registerTable"
_UUID = "table-uuid"
_REGISTERED = EFFECT_MISSING.of("registered-metadata")


def new_identities(seen: Seen) -> Iterator[Join]:
    """Join the findings of checks that were shown another uuid by an answer to registerTable.

    A registered file names the uuid of its table; whichever check compares it tells that in words
    of its own: a value, a missing effect, another table. What loads show of a registered table is
    the same if any of it is about the uuid.
    """
    alike = [g for g in seen.groups if g.members and all(map(_shows_another_uuid, g.members))]
    loads = (g for g in seen.groups if g.key.symptom == _REGISTERED and g not in alike)
    alike += [g for g in loads if alike and any(map(_is_about_uuid, g.members))]
    if len(alike) > 1:
        yield Join(frozenset(g.key for g in alike), "a registered table gets a uuid of its own")


def _shows_another_uuid(verdict: Verdict) -> bool:
    shown = verdict.shown_by
    return shown is not None and shown.operation == _REGISTER and _is_about_uuid(verdict)


def _is_about_uuid(verdict: Verdict) -> bool:
    firsts = verdict.findings[:1]
    return any(f.pointer.endswith(f"/{_UUID}") or _UUID in f.detail for f in firsts)


def as_identity(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of what loads show, or else the one that most checks have in common."""
    return min(
        groups, key=lambda g: (g.key.symptom != _REGISTERED, -len(g.members), g.key.symptom.slug)
    ).key
