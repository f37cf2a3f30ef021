"""What the contract forbids and the server looks past: one predicate for each reason."""

import copy
from collections.abc import Callable
from typing import Any

from tests.interop.corpus.case import CorpusCase
from tests.interop.corpus.judging import Flaw, flaws_of, json_flaws, json_of

AcceptRule = Callable[[Flaw], bool]

_MISSING = frozenset({"required", "required-null"})
_READ_ONLY = ("/order-id", "/spec-id", "/field-id")


def flaws_to_explain(case: CorpusCase) -> tuple[Flaw, ...]:
    """The flaws of a request, a null that stands for nothing counted as such and once.

    A null where the contract wants a value is the flaw `null` if the request is no worse without
    the member, and `required-null` if the member must be there. What else it breaks (a member that
    another one depends on) is then no flaw.
    """
    flaws = flaws_of(case)
    nulls = [f for f in flaws if f.part == "body" and f.keyword == "type" and f.pointer]
    if not nulls or case.body is None:
        return flaws
    body = copy.deepcopy(json_of(case))
    removed = [flaw for flaw in nulls if _remove_null(body, flaw.pointer.split("/")[1:])]
    if not removed:
        return flaws
    left = tuple(json_flaws(case.operation_id, body))
    missing = {flaw.pointer for flaw in left if flaw.keyword == "required"}
    others = tuple(flaw for flaw in flaws if flaw.part != "body")
    nulled = [
        Flaw("body", f.pointer, "required-null" if f.pointer in missing else "null")
        for f in removed
    ]
    made_missing = {f.pointer for f in removed} - {
        flaw.pointer for flaw in flaws if flaw.keyword == "required"
    }
    kept = [f for f in left if f.keyword != "required" or f.pointer not in made_missing]
    return (*others, *nulled, *kept)


def _remove_null(value: Any, path: list[str]) -> bool:
    """Remove the members at a pointer that are null; whether there was one."""
    head, *rest = path
    match value:
        case list() if head == "*":
            # Every item, not only those before the first that had one.
            return sum(_remove_null(each, rest) for each in value if rest) > 0
        case dict() if head in value and rest:
            return _remove_null(value[head], rest)
        case dict() if head in value and value[head] is None:
            del value[head]
            return True
    return False


def optional_null(flaw: Flaw) -> bool:
    """An explicit null for a member that may be left out."""
    return flaw.keyword == "null"


def null_list_or_map(flaw: Flaw) -> bool:
    """An explicit null for a list or map that must be there, and may be empty."""
    return flaw.keyword == "required-null"


def read_only_member(flaw: Flaw) -> bool:
    """An id that the server assigns is not in the request."""
    return flaw.keyword in _MISSING and flaw.pointer.endswith(_READ_ONLY)


def no_view_properties(flaw: Flaw) -> bool:
    """A view is created without properties."""
    return flaw.keyword in _MISSING and flaw.pointer == "/properties"


def unknown_access_delegation(flaw: Flaw) -> bool:
    """The list of access delegation mechanisms is empty, or has members nobody knows."""
    known = {"enum", "min-items"}
    return flaw.pointer == "/x-iceberg-access-delegation" and flaw.keyword in known


ACCEPTED: dict[str, AcceptRule] = {
    rule.__name__.replace("_", "-"): rule
    for rule in (
        optional_null,
        null_list_or_map,
        read_only_member,
        no_view_properties,
        unknown_access_delegation,
    )
}
"""Flaws that the server looks past, by name."""
