"""Judges what the losers of a race are told: a server error leaves open what has happened."""

from icecheck.findings.statuses import ANY_SUCCESS_OR_4XX
from icecheck.findings.verdict import Finding
from icecheck.replies.expect import Reply
from icecheck.replies.schema import SchemaJudge
from icecheck.wire.exchange import Exchange
from icecheck.wire.retry import trouble_of

REQUIREMENT = "race.losers-told"
"""The requirement, a SHOULD, by which the answers are judged; also the id of the check."""
TITLES = {REQUIREMENT: "Who loses a race is refused, and not told of a failure of the server"}

_BESIDE_THE_RACE = frozenset({501, 502, 504})
# The document has no answer for a conflict of these: a server may call it a failure.
_WITHOUT_A_CONFLICT = frozenset({"updateProperties"})


def is_judged(exchange: Exchange) -> bool:
    """Return whether an answer was given to a client that others beat to what it wanted."""
    return (
        exchange.raced
        and (exchange.status or 0) >= 400
        and exchange.status not in _BESIDE_THE_RACE
        and exchange.operation not in _WITHOUT_A_CONFLICT
        and trouble_of(exchange) is None
    )


def finding_of(exchange: Exchange, schemas: SchemaJudge) -> Finding | None:
    """Return the finding of such an answer; None if it is a refusal.

    So it is where the document says of this very 5xx that it leaves the outcome unknown.
    """
    status = exchange.status or 0
    named = str(status) in schemas.contract.operations[str(exchange.operation)].responses
    if status < 500 or named:
        return None
    detail = f"{exchange.operation}, while a request of another client succeeded"
    return Reply(exchange, schemas).wrong_status(ANY_SUCCESS_OR_4XX, detail=detail).finding
