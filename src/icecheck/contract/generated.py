"""One requirement per row of the response tables, with our own words for each status."""

from dataclasses import dataclass

from icecheck.contract.model import Basis, Level, Operation, Ref, RefKind, Requirement, Response

NO_KNOWN_CLIENT = "no known client"

INSIDE = "A failure inside the catalog cannot be brought about from outside."


@dataclass(frozen=True, slots=True)
class StatusRow:
    """The text for every row of one status; `{operation}` stands for the operation's id."""

    text: str
    level: Level = Level.MUST
    condition: str | None = None
    not_tested: str | None = None


STATUS_ROWS = {
    "200": StatusRow("A successful {operation} is answered 200, with the documented body."),
    "204": StatusRow("A successful {operation} is answered 204, without a body."),
    "304": StatusRow(
        "When the client's copy is current, {operation} is answered 304, without a body.",
        condition="the catalog sends ETags",
    ),
    "400": StatusRow("A request that {operation} cannot accept is refused with 400."),
    "401": StatusRow(
        "{operation} with an invalid, expired or revoked token is refused with 401.",
        level=Level.SHOULD,
        condition="the catalog requires credentials",
    ),
    "403": StatusRow(
        "{operation} by a caller without the permission is refused with 403.",
        condition="the catalog has permissions",
        not_tested="Needs a principal without the permission, which the suite cannot create.",
    ),
    "404": StatusRow("{operation} on something that does not exist is refused with 404."),
    "406": StatusRow(
        "A catalog that does not support {operation} says so with 406.",
        condition="the catalog does not support the operation",
    ),
    "409": StatusRow("{operation} is refused with 409 when the catalog's state forbids it."),
    "419": StatusRow(
        "When credentials have expired, {operation} may be answered 419.",
        condition="the catalog uses 419 at all",
        not_tested="Optional, and the suite cannot make a credential expire; 401 is preferred.",
    ),
    "422": StatusRow("{operation} with a request that contradicts itself is refused with 422."),
    "500": StatusRow("When the outcome of {operation} is unknown, 500 says so.", not_tested=INSIDE),
    "502": StatusRow(
        "When a gateway loses the outcome of {operation}, 502 says so.", not_tested=INSIDE
    ),
    "503": StatusRow(
        "A catalog that is not ready to handle {operation} answers 503.",
        not_tested="Unavailability cannot be brought about from outside.",
    ),
    "504": StatusRow(
        "When a gateway gives up waiting for {operation}, 504 says so.", not_tested=INSIDE
    ),
    "5XX": StatusRow(
        "A failure inside the catalog during {operation} is answered with a 5xx status.",
        not_tested=INSIDE,
    ),
}


def response_requirement(operation: Operation, response: Response, since: str) -> Requirement:
    """Return the requirement of one response, which is in the document since this release.

    Raises KeyError for a status that is not in STATUS_ROWS.
    """
    row = STATUS_ROWS[response.status]
    return Requirement(
        id=response.id,
        level=row.level,
        basis=Basis.RESPONSE_TABLE,
        text=row.text.format(operation=operation.id),
        refs=(Ref(RefKind.RESPONSE, response.id),),
        lines=response.lines,
        condition=row.condition,
        since=since,
        changed=None,
        errata=(),
        hurts=NO_KNOWN_CLIENT,
        profile="etag" if response.status == "304" else operation.profile,
        not_tested=row.not_tested,
    )
