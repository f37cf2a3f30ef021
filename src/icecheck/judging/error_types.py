"""The names of error types in the document's prose, and the test whether an error has one."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from icecheck.contract import Contract

REQUIREMENT = "error.type-names"
"""The requirement that these names are judged by: a SHOULD (verdict-rules 2)."""

_CONFLICT = "CommitFailedException"


@cache
def prose_types(contract: Contract) -> Mapping[str, tuple[str, ...]]:
    """Return documented response -> the type names it may carry."""
    return {
        f"{operation.id}.{status}": types
        for operation in contract.operations.values()
        for status, types in operation.facts.error_types.items()
    }


def type_problem(due: tuple[str, ...], request: Any, error_type: str) -> str | None:
    """Return the names that are due when an error has none of them, else None.

    ``due`` are the names in the prose of the documented response, ``request`` is the parsed body
    that was refused. A commit that is to create a table may meet one that exists: both a failed
    commit and a table that exists already are right then.
    """
    if error_type in due:
        return None
    if error_type == "AlreadyExistsException" and _CONFLICT in due and _asserts_create(request):
        return None
    return " or ".join(due)


def _asserts_create(request: Any) -> bool:
    if isinstance(request, dict):
        return request.get("type") == "assert-create" or any(map(_asserts_create, request.values()))
    return isinstance(request, list) and any(map(_asserts_create, request))
