"""What the findings of a cause say in words: what is wrong, and what comes of it."""

import re
from collections.abc import Sequence

from icecheck.contract import Action, Contract, Level
from icecheck.findings.merging.groups import Group
from icecheck.findings.merging.kinds import COMMITS, LOST_COMMIT
from icecheck.findings.shared_symptoms import SUITE_ERROR, VALUE
from icecheck.findings.statuses import STATUS, Statuses
from icecheck.findings.symptoms import NOBODY
from icecheck.findings.telling.client_impact import consequence_of
from icecheck.findings.telling.touching import operations_of, plainest
from icecheck.findings.verdict import CauseKey, Verdict

_ACTION = re.compile(r'"action":\s*"([a-z-]+)"')
_DROPS = frozenset({Action.DROP})
_NAMING = frozenset({Action.CREATE, Action.REGISTER, Action.RENAME})
"""The actions that give a name to something."""


def what_is_wrong_in(group: Group, contract: Contract) -> str:
    """Return what a cause does wrong as a sentence without a stop, and without the operations."""
    key = group.key
    if key.symptom.is_a(VALUE) and group.members:
        return key.symptom.title.replace("{what}", group.members[0].title)
    if key.symptom == STATUS and key.due is not None and key.came is not None:
        return _of_status(key, key.due, key.came, _asked_to_do(group.members, contract))
    title = key.symptom.title_of(key.expected, key.actual)
    action = _only_update_of(group.members) if key.symptom == LOST_COMMIT else ""
    return f"{title} ({action})" if action else title


def _only_update_of(members: Sequence[Verdict]) -> str:
    """Return the one kind of update that all the commits have which were lost, or ""."""
    alike: set[str] | None = None
    for verdict in members:
        commits = [e for e in verdict.evidence if e.operation in COMMITS]
        sent = set(_ACTION.findall(commits[-1].request_body)) if commits else set[str]()
        alike = sent if alike is None else alike & sent
    return alike.pop() if alike and len(alike) == 1 else ""


def consequence_in(members: Sequence[Verdict], contract: Contract) -> str:
    """Return whom the most severe finding hurts, and how; "" if no such client is known."""
    found = [v for v in members if v.findings and v.findings[0].symptom != SUITE_ERROR]
    if not found:
        return ""
    worst = min(v.findings[0].severity for v in found)
    severe = [v for v in found if v.findings[0].severity == worst]
    level = min((v.level for v in severe), key=tuple(Level).index)
    told = consequence_of(plainest(severe, level), contract)
    return "" if told == NOBODY else told


def _asked_to_do(members: Sequence[Verdict], contract: Contract) -> frozenset[Action]:
    """Return the actions of the operations that answered with a wrong status."""
    answered = [v for v in members if v.findings and v.findings[0].symptom == STATUS]
    known = contract.operations
    operations = (known[id_] for id_ in operations_of(answered, contract) if id_ in known)
    return frozenset(operation.facts.action for operation in operations)


def _of_status(key: CauseKey, due: Statuses, came: Statuses, actions: frozenset[Action]) -> str:
    """Return what a wrong status means, with the statuses in parentheses."""
    what = _meaning(due, came, actions)
    numbers = f"{key.actual} where {key.expected} is due"
    return f"{what} ({numbers})" if what else f"Answers {numbers}"


def _meaning(due: Statuses, came: Statuses, actions: frozenset[Action]) -> str:
    asked = _asked(due, actions)
    if not asked:
        return ""
    if came.all_server_errors:
        return f"Breaks down at {asked}"
    if due.all_success:
        return f"Refuses {asked}" if came.all_refusal else ""
    if came.all_success:
        return f"Accepts {asked}"
    both = came.all_success_or_server_errors
    return f"Accepts {asked}, or breaks down at it" if both else ""


def _asked(due: Statuses, actions: frozenset[Action]) -> str:
    """Return what was asked where these statuses are due; "" if that cannot be told from them."""
    if due.all_success:
        return "what is valid"
    if due.any_refusal:
        return "what is malformed or cannot be done"
    conflict = "what conflicts with what is there"
    if actions == _DROPS:
        conflict = "the drop of what is not empty"
    elif actions and actions <= _NAMING:
        conflict = "names that are in use"
    return {
        frozenset({404}): "what names something that is not there",
        frozenset({409}): conflict,
    }.get(due.single if not due.classes else frozenset(), "")
