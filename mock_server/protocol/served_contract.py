"""The contracts that the mock serves: one version of the document each."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from icecheck.contract import DEFAULT_SPEC_VERSION, SPEC_VERSIONS, Operation, load
from icecheck.contract.document import operation_rows
from icecheck.contract.releases import newest

KNOWN = load(newest(SPEC_VERSIONS))
"""The newest contract: it has each operation of the others, with the same path and facts."""

SERVED = load(DEFAULT_SPEC_VERSION)
"""The contract that is served unless another one is asked for."""

KEY_HEADER = "idempotency-key"
_LACKING = frozenset({"createView"})
"""The operations whose key was forgotten in the document (E11-1)."""


@cache
def operations_of(version: str) -> Mapping[str, Operation]:
    """Return the operations that a version has, with the facts of the newest one."""
    has = operation_rows(version)
    return MappingProxyType({id_: each for id_, each in KNOWN.operations.items() if id_ in has})


@cache
def keyed_operations(version: str) -> frozenset[str]:
    """Return the operations that take an idempotency key; none before 1.11.0."""
    if not load(version).is_at_least("1.11.0"):
        return frozenset()
    return _LACKING | {
        id_
        for id_, operation in KNOWN.operations.items()
        if any(parameter.name.lower() == KEY_HEADER for parameter in operation.parameters)
    }
