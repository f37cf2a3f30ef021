"""Reasons to merge the findings about clients that write at once, with those that need no race."""

from collections.abc import Iterator, Sequence

from icecheck.contract import Level
from icecheck.findings.merging import kinds
from icecheck.findings.merging.groups import Group, Join, Seen
from icecheck.findings.shared_symptoms import ANOMALY, EFFECT_MISSING
from icecheck.findings.statuses import ANY_SUCCESS, STATUS, Statuses
from icecheck.findings.symptoms import Symptom
from icecheck.findings.verdict import CauseKey, Verdict

_DONE_ALTHOUGH_MISSING = CauseKey.of_status(STATUS, Statuses.of(404), ANY_SUCCESS)
_INTO_NAMESPACES = frozenset({"createTable.404", "createView.404", "registerTable.404"})
_LOST_IN_TRANSACTION = EFFECT_MISSING.of("second-change-of-a-table")
_HALF_VISIBLE = ANOMALY.of("half-visible")
_RESURRECTED = ANOMALY.of("resurrected")
_DUPLICATE_SUCCESS = ANOMALY.of("duplicate-success")
_TRANSACTION = frozenset({"commitTransaction"})
_TOGETHER = "-together"
"""The end of the names of the moves of drawn races that are transactions."""
_COMMITTING = _TRANSACTION | {"updateTable", "replaceView", "updateProperties"}
_LEVELS = tuple(Level)


def transactions(seen: Seen) -> Iterator[Join]:
    """Join the findings about a transaction that is carried out as separate commits.

    A lost update in a transaction shows that its changes were not applied as one, and that a change
    does not look at what was committed since the transaction began. That a reader sees only some of
    its tables changed, and that of two transactions at once one is lost, follows from that. Without
    such a loss these are causes of their own, or parts of one with other anomalies of competing
    clients.
    """
    whole = _of(seen, _LOST_IN_TRANSACTION)
    parts = _of_transactions_alone(seen)
    if whole and parts:
        yield Join(whole | parts, "the changes of a transaction are committed one after the other")


def _of_transactions_alone(seen: Seen) -> frozenset[CauseKey]:
    """Return the keys of anomalies that only transactions show, and no other commit.

    Where a MUST check shows one, checks of lesser levels decide nothing: what they are shown while
    others write differs from run to run.
    """
    lost = _of(seen, kinds.LOST_UPDATE)
    alone = (
        group.key
        for group in seen.groups
        if group.key in lost and all(map(_needs_a_transaction, _most_demanding(group)))
    )
    return _of(seen, _HALF_VISIBLE).union(alone)


def _most_demanding(group: Group) -> list[Verdict]:
    return [v for v in group.members if _LEVELS.index(v.level) == _level_of(group)]


def _needs_a_transaction(verdict: Verdict) -> bool:
    """Return whether no commits but transactions show an anomaly.

    Of a drawn race, nothing is left that could be left out.
    """
    together = any(_TOGETHER in finding.steps for finding in verdict.findings[:1])
    return together or _COMMITTING & {*verdict.operations} == _TRANSACTION


def as_transaction(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of what is lost in a transaction."""
    return _least([g for g in groups if g.key.symptom == _LOST_IN_TRANSACTION])


def names_given_twice(seen: Seen) -> Iterator[Join]:
    """Join the findings about a name that is given twice, with and without a race."""
    whole = frozenset(g.key for g in seen.groups if g.key == kinds.TAKEN_TWICE)
    raced = _of(seen, _DUPLICATE_SUCCESS)
    if whole and raced:
        yield Join(whole | raced, "a name in use is given again, also without a race")


def namespaces_not_looked_for(seen: Seen) -> Iterator[Join]:
    """Join what is made in a missing namespace with dropped namespaces that come back in a race."""
    whole = frozenset(
        group.key
        for group in seen.groups
        if group.key == _DONE_ALTHOUGH_MISSING
        and any(_INTO_NAMESPACES.intersection(v.requirements) for v in group.members)
    )
    raced = frozenset(
        group.key
        for group in seen.groups
        if group.key.symptom == _RESURRECTED
        and all("dropNamespace" in v.operations for v in group.members)
    )
    if whole and raced:
        yield Join(whole | raced, "nothing looks whether a namespace is there")


def competing_clients(seen: Seen) -> Iterator[Join]:
    """Join the anomalies of concurrent requests that no other rule explains, for each level.

    What an INTEROP check alone shows is not told as what a MUST check has found (verdict-rules 22).
    """
    explained: set[CauseKey] = set()
    if _of(seen, _LOST_IN_TRANSACTION):
        explained |= _of_transactions_alone(seen)
    if any(g.key == kinds.TAKEN_TWICE for g in seen.groups):
        explained |= _of(seen, _DUPLICATE_SUCCESS)
    for join in namespaces_not_looked_for(seen):
        explained |= join.keys
    anomalies: dict[int, set[CauseKey]] = {}
    for group in seen.groups:
        if group.key.symptom.is_a(ANOMALY) and group.key not in explained:
            anomalies.setdefault(_level_of(group), set()).add(group.key)
    for alike in anomalies.values():
        if len(alike) > 1:
            yield Join(frozenset(alike), "the catalog does not isolate concurrent requests")


def as_competing(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of the anomaly that the most demanding checks show."""
    return _least([g for g in groups if g.key.symptom.is_a(ANOMALY)])


def _of(seen: Seen, symptom: Symptom) -> frozenset[CauseKey]:
    return frozenset(g.key for g in seen.groups if g.key.symptom == symptom)


def _least(groups: Sequence[Group]) -> CauseKey:
    """Return the key of the most demanding group: one with a MUST before lesser levels."""

    def rank(group: Group) -> tuple[int, str, str, str]:
        return (_level_of(group), group.key.symptom.slug, group.key.expected, group.key.actual)

    return min(groups, key=rank).key


def _level_of(group: Group) -> int:
    """Return the place of the highest level among a group's checks; 0 is MUST."""
    return min((_LEVELS.index(v.level) for v in group.members), default=len(_LEVELS))
