"""Merges groups of findings: one root cause that shows in several forms becomes one cause.

Each rule looks at the groups as they were found, never at the result of another rule, and returns
which of them belong together. Groups that any rules connect are one cause; the precedence of the
rules settles which of them names it. So the result depends neither on the order of the rules nor on
that of the groups.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from icecheck.findings.verdict import CauseKey, Finding, Verdict


@dataclass(frozen=True, slots=True)
class Group:
    """Findings with one key, the checks that had them, and the checks that they blocked."""

    key: CauseKey
    findings: tuple[Finding, ...] = ()
    members: tuple[Verdict, ...] = ()
    blocked: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """The input of the rules: the groups as they were found, and all verdicts of the run.

    ``before_config`` are the operations that clients call before they know the config.
    """

    groups: tuple[Group, ...]
    verdicts: tuple[Verdict, ...]
    before_config: frozenset[str]


@dataclass(frozen=True, slots=True)
class Join:
    """Keys of groups that belong together, and why."""

    keys: frozenset[CauseKey]
    why: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason to merge groups.

    ``joins`` finds the groups; ``named`` returns the key of a merged cause from its groups. If
    several rules connect a cause, the one with the smallest ``precedence`` names it.
    """

    name: str
    precedence: int
    joins: Callable[[Seen], Iterable[Join]]
    named: Callable[[Seen, Sequence[Group]], CauseKey]


def merged(seen: Seen, rules: Sequence[Rule]) -> tuple[Group, ...]:
    """Return the groups, merged where the rules connect them; members in the run's order."""
    found = [(rule, join) for rule in rules for join in rule.joins(seen)]
    place = {verdict.check: at for at, verdict in enumerate(seen.verdicts)}
    return tuple(
        _one_group(seen, component, found, place)
        for component in _components(seen.groups, [join.keys for _, join in found])
    )


def _components(
    groups: Sequence[Group], connected: Iterable[frozenset[CauseKey]]
) -> list[list[Group]]:
    """Return the groups in parts, such that all connected groups are in one part."""
    parts: list[frozenset[CauseKey]] = [frozenset({group.key}) for group in groups]
    for keys in connected:
        touched = [part for part in parts if part & keys]
        parts = [part for part in parts if not part & keys]
        parts += [frozenset().union(*touched)] if touched else []
    return [[group for group in groups if group.key in part] for part in parts]


def _one_group(
    seen: Seen,
    component: Sequence[Group],
    found: Sequence[tuple[Rule, Join]],
    place: dict[str, int],
) -> Group:
    keys = frozenset(group.key for group in component)
    naming = [rule for rule, join in found if join.keys & keys]
    key = component[0].key
    if naming:
        key = min(naming, key=lambda rule: (rule.precedence, rule.name)).named(seen, component)
    # The checks that the cause is named after come first.
    component = sorted(component, key=lambda group: group.key != key)
    rank = {v.check: (g.key != key, place[v.check]) for g in component for v in g.members}
    members = {v.check: v for group in component for v in group.members}
    blocked = {v.check: v for group in component for v in group.blocked}
    return Group(
        key,
        tuple(finding for group in component for finding in group.findings),
        tuple(sorted(members.values(), key=lambda v: rank[v.check])),
        tuple(sorted(blocked.values(), key=lambda v: place[v.check])),
    )
