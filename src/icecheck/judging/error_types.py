"""The names of error types in the document's prose, and the test whether an error has one."""

from collections.abc import Mapping
from typing import Any

from icecheck.contract import load

__all__ = ["PROSE_TYPES", "REQUIREMENT", "type_problem"]

REQUIREMENT = "error.type-names"
"""The requirement that these names are judged by: a SHOULD (verdict-rules 2)."""

_CONFLICT = "CommitFailedException"

PROSE_TYPES: Mapping[str, tuple[str, ...]] = {
    f"{operation.id}.{status}": types
    for operation in load().operations.values()
    for status, types in operation.facts.error_types.items()
}
"""Documented response -> the type names it may carry."""


def type_problem(response_id: str, request: Any, error_type: str) -> str | None:
    """Return the names that are due when an error has none of them, else None.

    ``request`` is the parsed body that was refused. A commit that is to create a table may meet one
    that exists: both a failed commit and a table that exists already are right then.
    """
    due = PROSE_TYPES.get(response_id)
    if due is None or error_type in due:
        return None
    if error_type == "AlreadyExistsException" and _CONFLICT in due and _asserts_create(request):
        return None
    return " or ".join(due)


def _asserts_create(request: Any) -> bool:
    if isinstance(request, dict):
        return request.get("type") == "assert-create" or any(map(_asserts_create, request.values()))
    return isinstance(request, list) and any(map(_asserts_create, request))
