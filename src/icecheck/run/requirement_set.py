"""The set of requirements that a run judges by, as one hash."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from icecheck.contract import Contract, Requirement
from icecheck.findings.verdict import Group
from icecheck.judging.check import Check
from icecheck.run.collect import collect

_GROUPS = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)
"""The groups whose checks need nothing but a catalog: the hash is the same in every environment."""


@cache
def requirement_set_sha256(contract: Contract) -> str:
    """Return the hash of a contract's requirements and of the checks that prove them."""
    checks = collect(_GROUPS, contract, disruptive=True)
    return digest_of(contract.requirements.values(), checks)


def digest_of(requirements: Iterable[Requirement], checks: Iterable[Check]) -> str:
    """Return one hash of what is demanded, at which level, under which condition, and proven how.

    A requirement that is added, changed or proven by other checks gives another hash. Lines of the
    document and the words on clients do not count: they change no verdict.
    """
    proving: defaultdict[str, list[str]] = defaultdict(list)
    for check in checks:
        for requirement_id in check.proves:
            proving[requirement_id].append(check.id)
    rows = [
        {
            "id": each.id,
            "level": str(each.level),
            "condition": each.condition,
            "text": each.text,
            "basis": str(each.basis),
            "refs": sorted(map(str, each.refs)),
            "profile": each.profile,
            "since": each.since,
            "checks": sorted(proving[each.id]),
        }
        for each in sorted(requirements, key=lambda each: each.id)
    ]
    text = json.dumps(rows, sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
