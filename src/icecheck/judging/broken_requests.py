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
