"""The reasons to merge groups of findings into one cause."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from icecheck.contract import Level
from icecheck.findings.merging import kinds, registrations, updates
from icecheck.findings.merging.groups import Group, Join, Rule, Seen
from icecheck.findings.shared_symptoms import (
    ANOMALY,
    ANSWER_DIFFERS_FROM_LOAD,
    EFFECT_MISSING,
    SUITE_ERROR,
)
from icecheck.findings.statuses import ANY_SUCCESS, STATUS, Statuses
from icecheck.findings.symptoms import Severity, Symptom, declare
from icecheck.findings.verdict import CREDENTIALS, TARGET, CauseKey, Evidence, Outcome, Verdict

_SAME_ANSWER = declare(
    "same-answer",
    "Whatever was asked, the failed checks got the same answer: {actual}",
    Severity.WRONG_STATUS,
    answer_in_id=False,
)
_NEVER_REFUSES = declare(
    "never-refuses",
    "Refuses nothing: answers {actual} where {expected} is due",
    Severity.FALSE_OR_LOST,
    "every client: it sees no error although its request was wrong",
    answer_in_id=False,
)
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
_OURS = frozenset({SUITE_ERROR.slug, TARGET, CREDENTIALS})
"""Symptoms that tell nothing about the catalog's answers."""

SAME_ANSWER_OPERATIONS_MIN = 5
"""The number of operations whose one common answer counts as one cause: fewer operations may share
an error without details by chance.
"""
SAME_ANSWER_SHARE_MIN = 0.98
"""The share of answers that must be the same: a gateway may answer one request in fifty itself."""
NEVER_REFUSES_GROUPS_MIN = 3
"""The number of missed kinds of refusal that are one cause if no refusal that is due was ever
given: two kinds may be missed for two reasons, with three nothing looks at what is sent.
"""


# ---- one answer to everything


def _same_answer(seen: Seen) -> Iterator[Join]:
    """Join all groups when the answer does not depend on the request."""
    alike = frozenset(g.key for g in seen.groups if g.key.symptom.slug not in _OURS)
    if _only_answer(seen) is not None and alike:
        yield Join(alike, "the catalog's answer does not depend on what it is asked")


def _only_answer(seen: Seen) -> tuple[int | None, str] | None:
    """Return the status and body that (nearly) all failed checks were answered with, or None."""
    wrong = [v for v in seen.verdicts if v.outcome in {Outcome.FAIL, Outcome.BLOCKED}]
    evidence = [e for v in wrong for e in v.evidence if _tells_of_sameness(e, seen)]
    answers = Counter((e.status, e.response_body) for e in evidence)
    if not answers:
        return None
    answer, many = answers.most_common(1)[0]
    operations = {e.operation for e in evidence if (e.status, e.response_body) == answer}
    enough = len(operations) >= SAME_ANSWER_OPERATIONS_MIN
    return answer if enough and many >= SAME_ANSWER_SHARE_MIN * len(evidence) else None


def _tells_of_sameness(evidence: Evidence, seen: Seen) -> bool:
    """Return whether an answer counts for this rule.

    Answers to HEAD have no body, and operations before the config may be answered alike.
    """
    head = evidence.request.startswith("HEAD ")
    start = evidence.operation in seen.before_config
    return evidence.status is not None and not head and not start


def _as_same_answer(seen: Seen, _groups: Sequence[Group]) -> CauseKey:
    status, body = _only_answer(seen) or (None, "")
    said = f"{status} {body[:60]}".strip()
    return CauseKey(_SAME_ANSWER, "answers that depend on the request", said)


# ---- nothing is refused


def _never_refuses(seen: Seen) -> Iterator[Join]:
    """Join the refusals that are missing, when no refusal that is due was ever given."""
    accepting = [g for g in seen.groups if _accepts_what_is_due_refused(g)]
    refuses = any(
        v.outcome is Outcome.PASS and not v.passive and any(map(_is_refusal, v.requirements))
        for v in seen.verdicts
    )
    if not refuses and len(accepting) >= NEVER_REFUSES_GROUPS_MIN:
        yield Join(frozenset(g.key for g in accepting), "no refusal that is due is ever given")


def _accepts_what_is_due_refused(group: Group) -> bool:
    due, came = group.key.due, group.key.came
    return due is not None and came is not None and due.all_refusal and came.all_success


def _is_refusal(requirement_id: str) -> bool:
    status = requirement_id.rpartition(".")[2]
    return status.isdecimal() and 400 <= int(status) < 500


def _as_never_refuses(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    accepting = [g.key for g in groups if _accepts_what_is_due_refused(g)]
    due = Statuses.union(key.due for key in accepting if key.due)
    came = Statuses.union(key.came for key in accepting if key.came)
    return CauseKey(_NEVER_REFUSES, str(due), str(came))


# ---- concurrent clients


def _transactions(seen: Seen) -> Iterator[Join]:
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


def _as_transaction(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    return _least([g for g in groups if g.key.symptom == _LOST_IN_TRANSACTION])


def _names_given_twice(seen: Seen) -> Iterator[Join]:
    """Join the findings about a name that is given twice, with and without a race."""
    whole = frozenset(g.key for g in seen.groups if g.key == kinds.TAKEN_TWICE)
    raced = _of(seen, _DUPLICATE_SUCCESS)
    if whole and raced:
        yield Join(whole | raced, "a name in use is given again, also without a race")


def _namespaces_not_looked_for(seen: Seen) -> Iterator[Join]:
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


def _competing_clients(seen: Seen) -> Iterator[Join]:
    """Join the anomalies of concurrent requests that no other rule explains, for each level.

    What an INTEROP check alone shows is not told as what a MUST check has found (verdict-rules 22).
    """
    explained: set[CauseKey] = set()
    if _of(seen, _LOST_IN_TRANSACTION):
        explained |= _of_transactions_alone(seen)
    if any(g.key == kinds.TAKEN_TWICE for g in seen.groups):
        explained |= _of(seen, _DUPLICATE_SUCCESS)
    for join in _namespaces_not_looked_for(seen):
        explained |= join.keys
    anomalies: dict[int, set[CauseKey]] = {}
    for group in seen.groups:
        if group.key.symptom.is_a(ANOMALY) and group.key not in explained:
            anomalies.setdefault(_level_of(group), set()).add(group.key)
    for alike in anomalies.values():
        if len(alike) > 1:
            yield Join(frozenset(alike), "the catalog does not isolate concurrent requests")


def _as_competing(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    return _least([g for g in groups if g.key.symptom.is_a(ANOMALY)])


# ---- one wrong value


def _same_value(seen: Seen) -> Iterator[Join]:
    """Join a missing effect with an answer that contradicts a later load.

    They are one cause where the same member has the same wrong value in both, or where the effect
    is about the member of the metadata that the answer and the load show differently.
    """
    effects = [g for g in seen.groups if g.key.symptom.is_a(EFFECT_MISSING)]
    for group in seen.groups:
        if group.key.symptom != ANSWER_DIFFERS_FROM_LOAD:
            continue
        alike = [e for e in effects if _values(e) & _values(group) or _is_about(e, group)]
        if alike:
            root = min(alike, key=lambda g: (-len(g.members), g.key.symptom.slug))
            keys = frozenset({root.key, group.key})
            yield Join(keys, "the answer hides that the effect is missing")


def _values(group: Group) -> set[tuple[str, str, str]]:
    firsts = (v.findings[0] for v in group.members)
    return {(f.pointer, f.expected, f.actual) for f in firsts}


def _is_about(effect: Group, group: Group) -> bool:
    """Return whether a missing effect (of "schema") is about a member of a group ("schemas").

    What is lost of a registered table is lost whole, whichever member shows it.
    """
    name = effect.key.symptom.slug.partition(":")[2]
    if name == "registered-metadata":
        return any("registerTable" in verdict.operations for verdict in group.members)
    parts = {f.pointer.split("/")[2] for f in group.findings if f.pointer.startswith("/metadata/")}
    return bool(name) and any(part.startswith(name) for part in parts)


def _as_missing_effect(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    effects = [g for g in groups if g.key.symptom.is_a(EFFECT_MISSING)]
    return min(effects, key=lambda g: (-len(g.members), g.key.symptom.slug)).key


# ---- one wrong status


def _one_demand(seen: Seen) -> Iterator[Join]:
    """Join the ways in which one operation misses one due status.

    Groups whose checks end with several operations are left out: a walk is about many.
    """
    ways: dict[tuple[str, Statuses], set[CauseKey]] = {}
    for group in seen.groups:
        operations = {_answering(v) for v in group.members}
        if group.key.symptom == STATUS and group.key.due and len(operations) == 1:
            (operation,) = operations
            if operation:
                ways.setdefault((operation, group.key.due), set()).add(group.key)
    for (operation, due), keys in ways.items():
        if len(keys) > 1:
            yield Join(frozenset(keys), f"{operation} does not answer {due}")


def _answering(verdict: Verdict) -> str:
    """Return the operation of a failed check's last answer."""
    last = verdict.evidence[-1].operation if verdict.evidence else None
    return last or next(iter(verdict.operations), "")


def _choices(seen: Seen) -> Iterator[Join]:
    """Join the demands that one answer misses, where the document leaves a choice of answers.

    A catalog that answers 410 for a missing object does so where only 404 is due, and where 404 is
    one of several answers that are due. All joined groups have one due status in common.
    """
    stati = [g for g in seen.groups if g.key.symptom == STATUS and g.key.due]
    wholes: list[tuple[list[CauseKey], Statuses]] = []
    for group in sorted(stati, key=_openness):
        due = group.key.due or Statuses()
        alike = (
            at
            for at, (keys, common) in enumerate(wholes)
            if keys[0].came == group.key.came and common & due
        )
        at = next(alike, None) if len(due) > 1 else None
        if at is None:
            wholes.append(([group.key], due))
        else:
            keys, common = wholes[at]
            wholes[at] = ([*keys, group.key], common & due)
    for keys, common in wholes:
        if len(keys) > 1:
            yield Join(frozenset(keys), f"{keys[0].actual} comes wherever {common} is due")


def _openness(group: Group) -> tuple[int, int, int, int, str, str]:
    """Return the sort key of a demand: the fewer answers it allows, the better it names a cause.

    Among equals the one that most checks missed goes first; the rest makes the order total.
    """
    key, single = group.key, group.key.due.single if group.key.due else frozenset()
    bounds = (-min(single, default=0), max(single, default=0))
    return (len(key.due or ()), -len(group.members), *bounds, key.expected, key.actual)


def _as_status(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of the demand with fewest allowed answers, told with all that came for it."""
    stati = [g for g in groups if g.key.symptom == STATUS and g.key.due]
    first = min(stati, key=_openness).key
    due = first.due or Statuses()
    came = Statuses.union(g.key.came for g in stati if g.key.due == due and g.key.came)
    every = Statuses.union(g.key.came for g in stati if due & (g.key.due or due) and g.key.came)
    return replace(CauseKey.of_status(STATUS, due, came), actual=every.named)


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


RULES = (
    Rule("one answer to everything", 0, _same_answer, _as_same_answer),
    Rule("nothing is refused", 1, _never_refuses, _as_never_refuses),
    Rule("requirements not looked at", 2, kinds.requirements_ignored, kinds.as_requirements),
    Rule("transactions in parts", 3, _transactions, _as_transaction),
    Rule("names given twice", 4, _names_given_twice, _as_status),
    Rule("several updates ignored", 5, updates.ignored_updates, updates.as_ignored_updates),
    Rule("staged tables made at once", 6, kinds.staged_at_once, kinds.as_staged),
    Rule("names mixed up", 7, kinds.names_mixed_up, kinds.as_names),
    Rule("a missing effect and its answer", 8, _same_value, _as_missing_effect),
    Rule(
        "registered under another uuid", 21, registrations.new_identities, registrations.as_identity
    ),
    Rule("competing clients", 9, _competing_clients, _as_competing),
    Rule("malformed requests not read", 10, kinds.unread_bodies, kinds.as_unread),
    Rule("one demand missed in several ways", 11, _one_demand, _as_status),
    Rule("demands with a choice", 12, _choices, _as_status),
    Rule("the list of endpoints", 13, kinds.listed_endpoints, kinds.as_listed),
    Rule("refusals that break off", 14, kinds.broken_refusals, kinds.as_broken_refusals),
    Rule("bodies of server errors", 15, kinds.error_bodies, kinds.as_broken),
    Rule("version 3 in part", 16, kinds.version_3_in_part, kinds.as_defaults),
    Rule("lists of elsewhere", 17, kinds.lists_of_elsewhere, kinds.as_lists_of_elsewhere),
    Rule("missing namespaces made up", 18, _namespaces_not_looked_for, _as_status),
    Rule("lists in pages", 20, kinds.lists_in_pages, kinds.as_pages),
    Rule("full namespaces dropped", 19, kinds.full_namespaces_dropped, _as_status),
)
"""The reasons to merge groups. Where several rules connect a cause, the one with the smallest
precedence names it: first what explains all findings, then what explains one kind of finding, then
single statuses.
"""
