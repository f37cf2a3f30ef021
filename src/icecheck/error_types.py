"""The type names that the document's prose gives to errors, and what counts as one of them."""

from collections.abc import Mapping
from typing import Any

__all__ = ["PROSE_TYPES", "REQUIREMENT", "type_problem"]

REQUIREMENT = "error.type-names"
"""The requirement that these names are judged by: a SHOULD (verdict-rules 2)."""

_TABLE = "NoSuchTableException"
_VIEW = "NoSuchViewException"
_NAMESPACE = "NoSuchNamespaceException"
_CONFLICT = "CommitFailedException"

PROSE_TYPES: Mapping[str, tuple[str, ...]] = {
    "planTableScan.404": (_TABLE, _NAMESPACE),
    "fetchPlanningResult.404": ("NoSuchPlanIdException", _TABLE, _NAMESPACE),
    # A plan is named by later documents only (1.11.0), and is the more exact name here too.
    "cancelPlanning.404": (_TABLE, _NAMESPACE, "NoSuchPlanIdException"),
    "fetchScanTasks.404": ("NoSuchPlanTaskException", _TABLE, _NAMESPACE),
    "loadTable.404": (_TABLE, _NAMESPACE),
    "updateTable.404": (_TABLE, _NAMESPACE),
    "updateTable.409": (_CONFLICT,),
    "dropTable.404": (_TABLE, _NAMESPACE),
    "loadCredentials.404": (_TABLE, _NAMESPACE),
    "renameTable.404": (_TABLE, _NAMESPACE),
    "reportMetrics.404": (_TABLE, _NAMESPACE),
    "commitTransaction.404": (_TABLE, _NAMESPACE),
    "commitTransaction.409": (_CONFLICT,),
    "loadView.404": (_VIEW, _NAMESPACE),
    "replaceView.404": (_VIEW, _NAMESPACE),
    "replaceView.409": (_CONFLICT,),
    "dropView.404": (_VIEW, _NAMESPACE),
    "renameView.404": (_VIEW, _NAMESPACE),
}
"""Documented response -> the type names it may carry.

Where the prose names the missing table or view only, the namespace may be what is missing: then
its own name is the more exact one, and right too.
"""


def type_problem(response_id: str, request: Any, error_type: str) -> str | None:
    """Return the names that are due when an error carries none of them, else None.

    ``request`` is the parsed body that was refused. A commit that is to create a table meets one
    that exists: that may be called a failed commit or a table that exists already.
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
