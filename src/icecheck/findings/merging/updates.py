"""Merges what is wrong after commits whose updates are left out unread."""

import json
from collections.abc import Iterator, Sequence

from icecheck.findings.merging import kinds
from icecheck.findings.merging.groups import Group, Join, Seen
from icecheck.findings.shared_symptoms import (
    ANOMALY,
    CHANGED_ALTHOUGH_REFUSED,
    CHANGED_BESIDE,
    EFFECT_MISSING,
    ERROR_TYPE,
    SCHEMA,
    SERVER_ERROR_BODY,
)
from icecheck.findings.statuses import STATUS
from icecheck.findings.symptoms import NOT_AS_ACKNOWLEDGED, Severity, declare
from icecheck.findings.verdict import CauseKey, Outcome, Verdict

_IGNORES_UPDATES = declare(
    "ignores-updates",
    "Keeps other metadata than was sent, in several ways: {actual}",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
    answer_in_id=False,
)

_COLUMNS_NOT_COUNTED = EFFECT_MISSING.of("last-column-id")
IGNORED_UPDATES_MIN = 3
"""The number of missing effects of commits that count as one cause: two may have two reasons."""
_SUBJECTS = tuple(
    frozenset(words.split())
    for words in (
        "schema schemas column columns",
        "partition spec specs",
        "sort order orders",
        "snapshot snapshots ref refs main row sequence",
        "statistics",
        "property properties",
        "location",
        "version versions definition summary",
        "encryption",
    )
)
"""The words that name what one kind of update writes, and what is written with it."""
_UPDATES = "updates without their effect"
_CREATIONS = "members left out at creation"
_WAYS = {
    "members changed that no update names": (CHANGED_BESIDE.name,),
    "counters that stay behind": (
        "last-column-id", "last-partition-id", "next-row-id", "id-above-the-last-one",
    ),
    "logs without their entries": ("snapshot-log", "metadata-log"),
    "ids that are not assigned": ("partition-field-id",),
    _CREATIONS: (),
}  # fmt: skip
"""How metadata are kept otherwise than they were sent -> words in the symptoms that say so."""
COMMITTING_ACTIONS = ("evolve", "commit-", "add-", "set-ref", "remove-ref", "replace-query")
"""How the names of those actions of drawn histories begin that are commits."""
_OF_UPDATES = frozenset({"update", "view-update", "transaction", "commit"})
"""The first parts of requirements about commits and updates that are named after no operation."""
_OF_COMMITS_ALONE = kinds.COMMITS | {"loadTable", "loadView"}
_OF_METADATA = _OF_COMMITS_ALONE | {"createTable", "createView", "registerTable"}
_OF_NAMESPACES = frozenset({"createNamespace", "updateProperties", "loadNamespaceMetadata"})


def ignored_updates(seen: Seen) -> Iterator[Join]:
    """Join the missing effects of commits when there are several: updates are left out unread.

    What else is wrong with what they write has the same reason, and so has all that
    commits leave where the effect of none was seen: ids that are not counted on, members that
    change beside. What creations of tables lose as well belongs to it.
    """
    effects = [
        g
        for g in seen.groups
        if g.key.symptom.is_a(EFFECT_MISSING) and g.key.symptom not in kinds.IS_THERE
    ]
    lost = [g for g in effects if g.members and _is_of_commits(g)]
    if len(lost) < IGNORED_UPDATES_MIN:
        return
    of_commits = (
        g for g in seen.groups if _is_of_metadata(g) and all(map(_only_commits, g.members))
    )
    written = frozenset().union(*map(_subjects, lost))
    some = any(map(_shows_an_effect, seen.verdicts))
    beside = [g for g in of_commits if not some or _subjects(g) & written]
    shared = [g for g in effects if _is_of_tables(g)]
    if any(g.key.symptom == _COLUMNS_NOT_COUNTED for g in (*lost, *shared)):
        shared += [g for g in seen.groups if g.key.symptom.slug == "id-above-the-last-one"]
    blocked = [g for g in seen.groups if _waits_for_updates(g)]
    keys = frozenset(g.key for g in (*lost, *beside, *shared, *blocked))
    yield Join(keys, "updates of several kinds have no effect")


def _subjects(group: Group) -> frozenset[frozenset[str]]:
    """Return what a group is about: its symptom names it, or its findings point at it."""
    told = [group.key.symptom.slug, *(f.pointer for f in group.findings)]
    words = {word for text in told for word in text.replace("/", "-").replace(":", "-").split("-")}
    return frozenset(subject for subject in _SUBJECTS if subject & words)


def _shows_an_effect(verdict: Verdict) -> bool:
    """Return whether a check passed that reads the effect of an update of a table or view."""
    effects = (r for r in verdict.requirements if r.endswith(".effect"))
    return verdict.outcome is Outcome.PASS and any(
        each.startswith(("update.", "view-update.")) for each in effects
    )


def _is_of_commits(group: Group) -> bool:
    """Return whether every check of a group commits: its missing effect may be an update's."""
    return all(kinds.COMMITS.intersection(v.operations) for v in group.members or group.blocked)


def _waits_for_updates(group: Group) -> bool:
    """Return whether a group only has checks that are blocked, by a commit or by its updates.

    What else blocks a check that commits (a creation, the credentials) has another reason.
    """
    by = group.key.symptom.qualifier.partition(".")[0]
    return not group.members and by in kinds.COMMITS | _OF_UPDATES and _is_of_commits(group)


def _is_of_tables(group: Group) -> bool:
    """Return whether every check of a group is about the metadata of a table or view."""
    made = all(_OF_METADATA.intersection(v.operations) for v in group.members)
    return made and not any(_OF_NAMESPACES.intersection(v.operations) for v in group.members)


def _only_commits(verdict: Verdict) -> bool:
    """Return whether a check only commits and loads, or its shortest history ends with a commit."""
    operations = frozenset(verdict.operations)
    only = bool(operations & kinds.COMMITS) and operations <= _OF_COMMITS_ALONE
    return only or _ends_with_a_commit(verdict)


def _ends_with_a_commit(verdict: Verdict) -> bool:
    """Return whether a commit is the last step of a drawn history, which shows what it found."""
    steps = verdict.findings[0].steps if verdict.findings else ""
    last, *_ = json.loads(steps)[-1] if steps else ("",)
    return isinstance(last, str) and last.startswith(COMMITTING_ACTIONS)


def _is_of_metadata(group: Group) -> bool:
    """Return whether a group is about the metadata that is shown after something has succeeded."""
    symptom = group.key.symptom
    others = (
        STATUS,
        ANOMALY,
        CHANGED_ALTHOUGH_REFUSED,
        SCHEMA,
        SERVER_ERROR_BODY,
        ERROR_TYPE,
    )
    named = {f.pointer.partition("/metadata")[1] for f in group.findings}
    return bool(group.members) and not any(map(symptom.is_a, others)) and named <= {"/metadata", ""}


def as_ignored_updates(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of whole commits that are not kept, if there are any: it says more."""
    if whole := [g.key for g in groups if g.key.symptom == kinds.LOST_COMMIT]:
        return whole[0]
    ways = {way for group in groups if group.members for way in _ways(group)}
    told = [way for way in _WAYS if way in ways] + [_UPDATES] * (_UPDATES in ways)
    return CauseKey(_IGNORES_UPDATES, "the metadata that were sent", ", ".join(told))


def _ways(group: Group) -> Iterator[str]:
    """Yield in which ways the findings of a group are wrong: a reader mends each elsewhere."""
    slug = group.key.symptom.slug
    named = [way for way, words in _WAYS.items() if any(word in slug for word in words)]
    if named:
        yield from named
    elif all(kinds.COMMITS.isdisjoint(v.operations) for v in group.members):
        yield _CREATIONS
    else:
        yield _UPDATES
