"""Developer tool: measures, by runs of the suite on the mock, which behaviour each check uses.

`tests/laws` uses it to find the checks that a defect can affect, and to write the proofs.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.contract import DEFAULT_SPEC_VERSION
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Registries
from icecheck.proof.defective import defective_session
from icecheck.proof.reach import Entry, entries_of


def proven_by(killed: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Turn defect -> checks into check -> defects, both in the order of their names."""
    checks = sorted({check for found in killed.values() for check in found})
    return {check: sorted(d for d, found in killed.items() if check in found) for check in checks}


def reached_by(
    checks: Iterable[Check], spec: str = DEFAULT_SPEC_VERSION
) -> dict[str, frozenset[Entry]]:
    """Return check id -> the entries that serve its requests on the faithful mock of a version."""
    reached: set[Entry] = set()
    found: dict[str, frozenset[Entry]] = {}
    watching = [lambda registries: _watch(registries, reached)]
    with defective_session(watching, spec=spec) as (_, session):
        for check in checks:
            reached.clear()
            judge(check, Catalog(session, check.id))
            found[check.id] = frozenset(reached)
    return found


def _watch(registries: Registries, reached: set[Entry]) -> None:
    """Note every entry that is called."""
    for name, entries in entries_of(registries):
        for entry, faithful in list(entries.items()):
            entries[entry] = _noted(faithful, (name, entry), reached)


def _noted(faithful: Callable[..., Any], entry: Entry, reached: set[Entry]) -> Callable[..., Any]:
    def noted(*given: Any) -> Any:
        reached.add(entry)
        return faithful(*given)

    return noted
