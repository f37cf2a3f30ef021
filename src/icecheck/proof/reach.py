"""Which behaviour of the mock a defect changes."""

from collections.abc import MutableMapping
from typing import Any

from icecheck.contract import SPEC_VERSIONS
from icecheck.contract.releases import newest
from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects import Defect
from icecheck.mock_server.operations.served import default_registries

Entry = tuple[str, str]
"""The name of a registry and of one of its entries, such as ("updates", "set-location")."""


def changed_by(defect: Defect) -> frozenset[Entry]:
    """Return the entries that a defect replaces or removes."""
    registries = default_registries(newest(SPEC_VERSIONS))
    before = {name: dict(entries) for name, entries in entries_of(registries)}
    defect.install(registries)
    return frozenset(
        (name, entry)
        for name, entries in entries_of(registries)
        for entry in before[name].keys() | entries.keys()
        if before[name].get(entry) is not entries.get(entry)
    )


def entries_of(registries: Registries) -> list[tuple[str, MutableMapping[str, Any]]]:
    """Return the registries by name, each with its entries."""
    return [(name, getattr(registries, name)) for name in registries.__struct_fields__]
