"""Which behaviour of the mock a check meets and a defect changes: who can notice what at all."""

from collections.abc import Callable, Iterable, MutableMapping
from typing import Any

from icecheck.assembly.defective import defective_session
from icecheck.check import Check
from icecheck.client import Catalog
from icecheck.judge import judge
from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects import Defect
from icecheck.mock_server.operations.served import default_registries

__all__ = ["Entry", "changed_by", "reached_by"]

Entry = tuple[str, str]
"""The name of a registry and of one of its entries, such as ("updates", "set-location")."""


def changed_by(defect: Defect) -> frozenset[Entry]:
    """Return the entries that a defect replaces or removes."""
    registries = default_registries()
    before = {name: dict(entries) for name, entries in _named(registries)}
    defect.install(registries)
    return frozenset(
        (name, entry)
        for name, entries in _named(registries)
        for entry in before[name].keys() | entries.keys()
        if before[name].get(entry) is not entries.get(entry)
    )


def reached_by(checks: Iterable[Check]) -> dict[str, frozenset[Entry]]:
    """Return check id -> the entries that serve its requests on the faithful mock."""
    reached: set[Entry] = set()
    found: dict[str, frozenset[Entry]] = {}
    with defective_session([lambda registries: _watch(registries, reached)]) as (_, session):
        for check in checks:
            reached.clear()
            judge(check, Catalog(session, check.id))
            found[check.id] = frozenset(reached)
    return found


def _named(registries: Registries) -> list[tuple[str, MutableMapping[str, Any]]]:
    return [(name, getattr(registries, name)) for name in registries.__struct_fields__]


def _watch(registries: Registries, reached: set[Entry]) -> None:
    """Note every entry that is called."""
    for name, entries in _named(registries):
        for entry, faithful in list(entries.items()):
            entries[entry] = _noted(faithful, (name, entry), reached)


def _noted(faithful: Callable[..., Any], entry: Entry, reached: set[Entry]) -> Callable[..., Any]:
    def noted(*given: Any) -> Any:
        reached.add(entry)
        return faithful(*given)

    return noted
