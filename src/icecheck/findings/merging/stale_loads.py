"""The reason to merge what loads show wrongly where they answer what they have answered before."""

import re
from collections.abc import Iterator, Sequence

from icecheck.findings.merging import kinds
from icecheck.findings.merging.groups import Group, Join, Seen
from icecheck.findings.shared_symptoms import (
    ANSWER_DIFFERS_FROM_LOAD,
    STALE_READ_AFTER_COMMIT,
)
from icecheck.findings.verdict import CauseKey, Evidence, Verdict

_LOADS = frozenset({"loadTable", "loadView"})
_DROPS = frozenset({"dropTable", "dropView"})
_NAMING = ("create", "register", "rename")
"""How the operations begin that give a name, and may give one that was dropped before."""
_DROPPED, _REPLACED = "dropped", "replaced"
"""What a load shows that answers as before."""
_LOCATION = re.compile(r'"metadata-location":\s*"([^"]*)"')


def stale_loads(seen: Seen) -> Iterator[Join]:
    """Join what follows where loads go on showing what commits have replaced and drops removed.

    Only where both are shown: a catalog that loses commits shows older versions too, and one that
    loses drops shows what was dropped. Groups are joined of which most checks met such a load.
    """
    root = [g for g in seen.groups if g.key.symptom == STALE_READ_AFTER_COMMIT]
    met = {g.key: [*map(_older_answer, g.members)] for g in seen.groups if g.members}
    if not root or not any(_DROPPED in each for each in met.values()):
        return
    after = [key for key, each in met.items() if 2 * sum(map(bool, each)) >= len(each)]
    after += [g.key for g in seen.groups if g.key.symptom == ANSWER_DIFFERS_FROM_LOAD]
    keys = frozenset((*after, *(g.key for g in root)))
    if len(keys) > 1:
        yield Join(keys, "loads answer what they have answered before")


def _older_answer(verdict: Verdict) -> str:
    """Return what a load of a check showed that was dropped or replaced before; "" if none did."""
    told: set[tuple[str, str]] = set()
    changed: set[str] = set()
    dropped: set[str] = set()
    for each in verdict.evidence:
        if not kinds.succeeded(each):
            continue
        operation = each.operation or ""
        address = each.request.partition("?")[0].partition(" ")[2]
        if operation in _LOADS:
            if address in dropped:
                return _DROPPED
            answer = (address, _version(each))
            if answer in told and address in changed:
                return _REPLACED
            told.add(answer)
            changed.discard(address)
        elif operation in _DROPS:
            dropped.add(address)
        elif not each.request.startswith(("GET", "HEAD")):
            changed = {address, *(known for known, _ in told)}
            if operation.startswith(_NAMING):
                dropped.clear()
    return ""


def _version(evidence: Evidence) -> str:
    found = _LOCATION.search(evidence.response_body)
    return found[1] if found else evidence.response_body


def as_stale_loads(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of the loads after a commit that most checks have seen."""
    stale = (g for g in groups if g.key.symptom == STALE_READ_AFTER_COMMIT)
    return min(stale, key=lambda g: (-len(g.members), g.key.expected, g.key.actual)).key
