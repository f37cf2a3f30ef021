"""Sends many edge values in one request and repeats refused groups in smaller pieces.

So a value that a catalog refuses does not hide how it treats the others.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from icecheck.findings.statuses import ANY_SUCCESS_OR_4XX
from icecheck.findings.symptoms import NOT_AS_ACKNOWLEDGED, Severity, Symptom, declare
from icecheck.objects.edge_values import in_halves
from icecheck.objects.reading import not_applicable
from icecheck.replies.expect import Reply
from icecheck.replies.matching import ABSENT, difference, show

T = TypeVar("T")
Pieces: TypeAlias = Sequence[tuple[str, str]]

REPAIRED = declare(
    "repaired-in-silence",
    "Accepts a value that it cannot keep, and keeps another",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
)

REQUESTS_MAX = 24


def send_in_pieces(
    items: Sequence[T], send: Callable[[Sequence[T]], Reply], *, requests_max: int = REQUESTS_MAX
) -> None:
    """Send items together and send refused groups again by halves, down to single items.

    Sends at most ``requests_max`` requests. Raises Violation for a server error other than 501, and
    NotOffered if nothing was accepted.
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
    """Judge that a catalog accepts or refuses a legal value without a server error (501 aside)."""
    if reply.status >= 500 and reply.status != 501:
        raise reply.wrong_status(ANY_SUCCESS_OR_4XX)
    return reply


def expect_no_breakdown(answers: Iterable[Reply]) -> None:
    """Judge the same of several answers, after all else that they show was judged."""
    for reply in answers:
        no_breakdown(reply)


def expect_kept(
    reply: Reply,
    due: Mapping[str, Any],
    found: Mapping[str, Any],
    symptom: Symptom,
    what: str = "",
) -> None:
    """Judge that every member of ``due`` is found as it was sent; other members may be present."""
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
