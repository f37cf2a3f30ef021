"""A request that breaks its connection each time, while others are answered (verdict-rules 24)."""

from dataclasses import dataclass, replace

from icecheck.contract import Level
from icecheck.findings.symptoms import Severity, declare
from icecheck.findings.verdict import Finding, Outcome, Verdict

_UNANSWERED = declare(
    "connection-broken",
    "Breaks the connection at a request, and answers others",
    Severity.WRONG_STATUS,
    "every client: takes the outcome for unknown, and sends the request again",
    values_in_title=False,
)


ATTEMPTS_MAX = 48
"""So often a check is judged at most: the longest walks have a hundred changes."""
_IN_A_ROW_MAX = 3
_ATTEMPTS_ANYWAY = 5
_REQUESTS_BETWEEN = 10


@dataclass(frozen=True, slots=True)
class BrokenRequest:
    """A request to which no answer came: of which operation, and which one of its check.

    One that was not the check's own, but made something that several use, has no ``check``.
    """

    operation: str | None
    request: str
    check: str = ""
    ordinal: int = 0


def broken_request(verdict: Verdict) -> BrokenRequest | None:
    """Return the request that broke the connection, if that is why a check has no verdict."""
    if not verdict.unanswered or not verdict.evidence:
        return None
    last = verdict.evidence[-1]
    method = last.request.partition(" ")[0]
    if not last.ordinal or last.step == "given":
        return BrokenRequest(last.operation, method)
    return BrokenRequest(last.operation, method, verdict.check, last.ordinal)


class Losses:
    """The attempts at a check that ended because an answer was lost, and where they ended.

    They ``are_too_many`` once one request has lost its answer three times in a row, or after five
    attempts if more than every tenth answer is lost: then nothing will come of the check. A long
    check on a network that loses fewer needs many attempts.
    """

    def __init__(self, first: Verdict) -> None:
        self._places: list[BrokenRequest | int] = []
        self._requests = 0
        self.note(first)

    def note(self, verdict: Verdict) -> None:
        """Remember where an attempt ended."""
        self._places.append(broken_request(verdict) or verdict.requests)
        self._requests += verdict.requests

    @property
    def broken(self) -> BrokenRequest | None:
        """The request that broke the connection in every attempt, if one did."""
        first = self._places[0]
        return first if isinstance(first, BrokenRequest) and len({*self._places}) == 1 else None

    @property
    def are_too_many(self) -> bool:
        """Whether no further attempt is worth its requests."""
        last, attempts = self._places[-_IN_A_ROW_MAX:], len(self._places)
        if len(last) == _IN_A_ROW_MAX and len({*last}) == 1:
            return True
        return attempts >= _ATTEMPTS_ANYWAY and self._requests < _REQUESTS_BETWEEN * attempts


def finding_of(verdict: Verdict, broken: BrokenRequest) -> Verdict:
    """Return the failed verdict of a check whose request broke the connection each time.

    Whatever the check is about, a request is due an answer: its level is MUST.
    """
    last = verdict.evidence[-1]
    finding = Finding(
        _UNANSWERED,
        "an answer",
        "none",
        detail=f"{broken.operation or last.request}: {last.response_body[:200]}",
        exchange=last.ordinal,
    )
    return replace(
        verdict,
        level=Level.MUST,
        outcome=Outcome.FAIL,
        summary=f"expected an answer, got none ({finding.detail})",
        findings=(finding,),
        blocked_by=(),
    )
