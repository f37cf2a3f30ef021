"""Requests with an idempotency key, sent once and again, and how their answers are judged.

What is compared are the status and the identity of the object: the body may show a newer state, and
other credentials (1.11.0, L2093-L2099).
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import NO_BODY, Catalog, Table
from icecheck.client.given import arrange
from icecheck.client.sender import KEY_HEADER, encode
from icecheck.conformance.idempotency.keys import require_keys
from icecheck.conformance.idempotency.lifetimes import readable_seconds
from icecheck.conformance.kit.every_route import Asked
from icecheck.findings.statuses import Statuses
from icecheck.findings.symptoms import (
    ANOTHER_THING,
    NOT_AS_ACKNOWLEDGED,
    Severity,
    Symptom,
    declare,
)
from icecheck.objects.committing import same_table
from icecheck.objects.evolving import last_column_id, schema_addition, wider_schema
from icecheck.objects.idempotency_keys import fresh_key
from icecheck.objects.metadata_view import metadata_in
from icecheck.objects.reading import not_applicable
from icecheck.replies.expect import Reply, Violation
from icecheck.targets.target import Namespace
from icecheck.wire.retry import WAIT_SECONDS_MAX, asked_seconds

_CARRIED_OUT = ("what was asked for", "no effect, or that of another request")
_ONCE = ("what the first request did, and no more", "a further effect")
_JAVA = (
    "Spark, Flink, Trino (Java client 1.11): repeat a request that was not answered, and report "
    "its own effect as a conflict or as something missing"
)

ANSWERED_OTHERWISE = declare(
    "answered-otherwise-again",
    "Answers a request otherwise when it comes again with its idempotency key",
    Severity.WRONG_STATUS,
    _JAVA,
    told=("the first answer", "another one"),
    answer_in_id=False,
)
CARRIED_OUT_AGAIN = declare(
    "carried-out-again",
    "Carries a request out once more when it comes again with its idempotency key",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
    told=_ONCE,
    answer_in_id=False,
)
_NOT_CARRIED_OUT = declare(
    "keyed-not-carried-out",
    "Acknowledges a request with an idempotency key, and does not carry it out",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
    told=_CARRIED_OUT,
    answer_in_id=False,
)
_ANOTHER_OBJECT = declare(
    "another-object-again",
    "Answers a request that comes again with its idempotency key with another object",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
    told=("the object of the first answer", "another one"),
    answer_in_id=False,
)

Names = Mapping[str, str | Namespace]
Json = dict[str, Any]

COME_AGAIN = frozenset({409, 425})
"""What may be said while the first request is running; 429 and 503 the connection waits out."""
_WAITS_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
"""A catalog may finalize a key later than it answers; no sentence says how much later (L2093)."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """A request with a key of its own: the same bytes, however often it is sent.

    ``until`` is the end of the key's lifetime, by a monotonic clock: later nothing is promised.
    """

    asked: Asked
    until: float

    @property
    def operation_id(self) -> str:
        """The operation that is asked for."""
        return self.asked.operation_id

    def send(self, catalog: Catalog, headers: Mapping[str, str] | None = None) -> Reply:
        """Send the request with its key, and with these headers."""
        return self.asked.send(catalog, headers)


def keyed(
    catalog: Catalog,
    operation_id: str,
    names: Names | None = None,
    body: Any = NO_BODY,
    *,
    upper_case: bool = False,
) -> Keyed:
    """Return a request with a fresh key; NotOffered where the catalog announces no keys.

    A key in upper case is written as the one in the document is (1.11.0, L2088).
    """
    seconds = readable_seconds(require_keys(catalog))
    named = names or {}
    if body is not NO_BODY:
        fitted = catalog.sender.fitted(operation_id, named, body, catalog.sender.ordinal)
        body = encode(fitted)
    key = fresh_key(catalog)
    headers = {KEY_HEADER: key.upper() if upper_case else key}
    asked = Asked(operation_id, named, body=body, headers=headers)
    return Keyed(asked, math.inf if seconds is None else time.monotonic() + seconds)


def keyed_creation(catalog: Catalog, namespace: Namespace, name: str) -> Keyed:
    """Return the creation of a table, with a key."""
    body = bodies.create_table_body(name)
    return keyed(catalog, "createTable", {"namespace": namespace}, body)


def keyed_commit(
    catalog: Catalog, table: Table, updates: Sequence[Json], requirements: Sequence[Json] = ()
) -> Keyed:
    """Return a commit to a table, with a key."""
    body = bodies.commit_body(table.namespace, table.name, updates, requirements)
    return keyed(catalog, "updateTable", of_table(table), body)


def column_added(table: Table) -> tuple[list[Json], list[Json]]:
    """Return updates that add a column, and the requirement that nobody has added one."""
    last = last_column_id(table.metadata)
    required = {"type": "assert-last-assigned-field-id", "last-assigned-field-id": last}
    updates = [
        schema_addition(table.metadata, wider_schema(table)),
        {"action": "set-current-schema", "schema-id": -1},
    ]
    return updates, [same_table(table), required]


def made(namespace: Namespace, name: str, reply: Reply) -> Table:
    """Return the table of an answer."""
    return Table(namespace, name, metadata_in(reply), reply.json().get("metadata-location"))


def of_table(table: Table) -> Names:
    """Return the names in the path of a table."""
    return {"namespace": table.namespace, "table": table.name}


def first(catalog: Catalog, request: Keyed) -> Reply:
    """Send a request for the first time; raises as ``arrange`` if it is refused."""
    return arrange(catalog, request.operation_id, lambda: request.send(catalog))


def again(catalog: Catalog, request: Keyed, answered: Reply, qualifier: str = "") -> Reply:
    """Send a request again, and judge that it has the status of its first answer."""
    if answered.status in COME_AGAIN:
        reply = request.send(catalog)
    else:
        reply = final_answer(catalog, request)
    return expect_as_first(reply, request, answered.status, qualifier)


def expect_as_first(reply: Reply, request: Keyed, status: int, qualifier: str = "") -> Reply:
    """Judge that a repeated request has the status of the first answer.

    The ``qualifier`` keeps what is less than a MUST apart from what is one.
    """
    if reply.status != status:
        detail = f"{request.operation_id}, sent again with its key"
        due, came = Statuses.of(status), reply.status
        symptom = ANSWERED_OTHERWISE
        raise violation(request, reply, symptom, due, came, detail=detail, qualifier=qualifier)
    return reply


def final_answer(catalog: Catalog, request: Keyed) -> Reply:
    """Send a request again until it is not asked to come again any more, or for some seconds.

    Where the answer says how long to wait (Retry-After), it comes for longer: for the time that a
    request may wait. Once the lifetime of its key is over it does not come again. Raises NotOffered
    if it is to wait for longer than that at once: a catalog may hold a key for a while after the
    connection was lost.
    """
    waits, waited = iter(_WAITS_SECONDS), 0.0
    while True:
        reply = request.send(catalog)
        if reply.status not in COME_AGAIN or time.monotonic() >= request.until:
            return reply
        asked = asked_seconds(reply.exchange)
        if asked is not None and asked > WAIT_SECONDS_MAX:
            raise not_applicable("the catalog asks to come again later than a request may wait")
        seconds = next(waits, None if asked is None else _WAITS_SECONDS[-1])
        if seconds is None or waited >= WAIT_SECONDS_MAX:
            return reply
        seconds = max(seconds, asked or 0.0)
        waited += seconds
        catalog.session.connection.pause(seconds)


def uuid_in(reply: Reply, member: str = "table-uuid") -> str:
    """Return the UUID in the metadata of an answer, in lower case."""
    return str(metadata_in(reply).get(member)).lower()


def expect_same(request: Keyed, reply: Reply, answered: Reply, member: str = "table-uuid") -> None:
    """Judge that a repeated request is answered with the object of the first answer."""
    expect_uuid(request, reply, uuid_in(answered, member), member)


def expect_uuid(request: Keyed, reply: Reply, uuid: str, member: str = "table-uuid") -> None:
    """Judge that an answer to a request, or after it, is about the object with this UUID."""
    if uuid_in(reply, member) != uuid.lower():
        raise another_object(request, reply, f"another {member}", f"/metadata/{member}")


def another_object(request: Keyed, reply: Reply, detail: str, pointer: str) -> Violation:
    """Return the Violation for an answer about another object than the first one was."""
    due, came = "the object of the first answer", "another one"
    return violation(request, reply, _ANOTHER_OBJECT, due, came, detail=detail, pointer=pointer)


def not_carried_out(request: Keyed, reply: Reply, qualifier: str = "") -> Violation:
    """Return the Violation for a request that was acknowledged and not carried out.

    The ``qualifier`` is that of ``expect_as_first``.
    """
    detail, symptom = f"{request.operation_id} with a fresh key", _NOT_CARRIED_OUT
    return violation(request, reply, symptom, *_CARRIED_OUT, detail=detail, qualifier=qualifier)


def carried_out_again(request: Keyed, reply: Reply, effect: str, qualifier: str = "") -> Violation:
    """Return the Violation for a further effect of a request, which this answer shows.

    The ``qualifier`` is that of ``expect_as_first``.
    """
    detail = f"{request.operation_id}, sent again with its key, {effect}"
    symptom = CARRIED_OUT_AGAIN
    return violation(request, reply, symptom, *_ONCE, detail=detail, qualifier=qualifier)


def violation(
    request: Keyed,
    reply: Reply,
    symptom: Symptom,
    due: str | Statuses,
    came: str | int,
    *,
    detail: str = "",
    pointer: str = "",
    qualifier: str = "",
) -> Violation:
    """Return the Violation that an answer shows to a request that came again in time.

    The ``qualifier`` is that of ``expect_as_first``. Raises NotOffered once the lifetime of its key
    is over: nothing is promised then.
    """
    if time.monotonic() >= request.until:
        raise not_applicable("the lifetime of the key was over before the check was")
    symptom = symptom.of(qualifier) if qualifier else symptom
    return reply.violation(symptom, due, came, detail=detail, pointer=pointer)


def is_later(before: Reply, after: Reply) -> bool:
    """Return whether a load shows a later version of the metadata than an earlier one.

    Such a version is in the log, or it has another file and a later time: a load alone may change
    either of these.
    """
    was, now = metadata_in(before), metadata_in(after)
    if len(now.get("metadata-log") or ()) > len(was.get("metadata-log") or ()):
        return True
    files = [reply.json().get("metadata-location") for reply in (before, after)]
    first_ms, then_ms = (metadata.get("last-updated-ms") for metadata in (was, now))
    is_timed = isinstance(first_ms, int) and isinstance(then_ms, int) and first_ms < then_ms
    return is_timed and None not in files and files[0] != files[1]
