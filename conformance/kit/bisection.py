"""Sends many hostile values in one request, and what is refused once more in smaller pieces.

So one value that a catalog refuses does not hide what it does with the others.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from icecheck.conformance.kit.edge_values import in_halves
from icecheck.conformance.kit.reading import not_applicable
from icecheck.findings.statuses import ANY_SUCCESS_OR_4XX
from icecheck.findings.symptoms import Symptom
from icecheck.replies.expect import ABSENT, Reply, difference, show

__all__ = ["Pieces", "expect_kept", "no_breakdown", "send_in_pieces"]

T = TypeVar("T")
Pieces: TypeAlias = Sequence[tuple[str, str]]

REQUESTS_MAX = 24


def send_in_pieces(
    items: Sequence[T], send: Callable[[Sequence[T]], Reply], *, requests_max: int = REQUESTS_MAX
) -> None:
    """Send items together; those that are refused are sent by halves, down to single ones.

    A catalog that refuses much is not asked more than ``requests_max`` times. Raises Violation
    for a breakdown, and NotOffered where nothing at all was accepted.
    """
    waiting = [[*items]]
    accepted = 0
    for _ in range(requests_max):
        if not waiting:
            break
        some = waiting.pop(0)
        reply = no_breakdown(send(some))
        accepted += reply.ok
        if not reply.ok and len(some) > 1:
            waiting += in_halves(some)
    if not accepted:
        raise not_applicable("the catalog takes none of these values")


def no_breakdown(reply: Reply) -> Reply:
    """Judge that a catalog takes or refuses a legal value, and does not break down over it."""
    if reply.status >= 500 and reply.status != 501:
        raise reply.wrong_status(ANY_SUCCESS_OR_4XX)
    return reply


def expect_kept(
    reply: Reply,
    due: Mapping[str, Any],
    found: Mapping[str, Any],
    symptom: Symptom,
    what: str = "",
) -> None:
    """Judge that every member which is due is found as it was sent; there may be others."""
    wrong = [key for key, value in due.items() if not _same(found.get(key, ABSENT), value)]
    if wrong:
        key = wrong[0]
        detail = f"{show(key)} is {show(found.get(key, ABSENT))}, due is {show(due[key])}"
        count = f" ({len(wrong)} such members)" if len(wrong) > 1 else ""
        raise reply.violation(
            symptom,
            "what was accepted, as it was sent",
            "something else",
            detail=f"{what}: {detail}{count}" if what else f"{detail}{count}",
        )


def _same(found: Any, due: Any) -> bool:
    return difference(due, found, exact=True) is None
