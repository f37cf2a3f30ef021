"""The reasons to merge groups of findings into one cause."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from icecheck.findings.merging import kinds, races, registrations, stale_loads, updates
from icecheck.findings.merging.groups import Group, Join, Rule, Seen
from icecheck.findings.shared_symptoms import (
    ANSWER_DIFFERS_FROM_LOAD,
    EFFECT_MISSING,
    SUITE_ERROR,
)
from icecheck.findings.statuses import STATUS, Statuses
from icecheck.findings.symptoms import Severity, declare
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


RULES = tuple(
    Rule(name, place, joins, named)
    for place, (name, joins, named) in enumerate(
        (
            ("one answer to everything", _same_answer, _as_same_answer),
            ("nothing is refused", _never_refuses, _as_never_refuses),
            ("loads that answer as before", stale_loads.stale_loads, stale_loads.as_stale_loads),
            ("requirements not looked at", kinds.requirements_ignored, kinds.as_requirements),
            ("transactions in parts", races.transactions, races.as_transaction),
            ("names given twice", races.names_given_twice, _as_status),
            ("several updates ignored", updates.ignored_updates, updates.as_ignored_updates),
            ("staged tables made at once", kinds.staged_at_once, kinds.as_staged),
            ("names mixed up", kinds.names_mixed_up, kinds.as_names),
            ("a missing effect and its answer", _same_value, _as_missing_effect),
            ("malformed requests not read", kinds.unread_bodies, kinds.as_unread),
            ("one demand missed in several ways", _one_demand, _as_status),
            ("demands with a choice", _choices, _as_status),
            ("the list of endpoints", kinds.listed_endpoints, kinds.as_listed),
            ("refusals that break off", kinds.broken_refusals, kinds.as_broken_refusals),
            ("bodies of server errors", kinds.error_bodies, kinds.as_broken),
            ("version 3 in part", kinds.version_3_in_part, kinds.as_defaults),
            ("lists of elsewhere", kinds.lists_of_elsewhere, kinds.as_lists_of_elsewhere),
            ("missing namespaces made up", races.namespaces_not_looked_for, _as_status),
            ("full namespaces dropped", kinds.full_namespaces_dropped, _as_status),
            ("lists in pages", kinds.lists_in_pages, kinds.as_pages),
            (
                "registered under another uuid",
                registrations.new_identities,
                registrations.as_identity,
            ),
            ("competing clients", races.competing_clients, races.as_competing),
        )
    )
)
"""The reasons to merge groups. Where several rules connect a cause, the first one names it: first
what explains all findings, then what explains one kind of finding, then single statuses; last what
competing clients are shown, which any of these may explain.
"""
