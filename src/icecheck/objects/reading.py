"""Reads the current state from the catalog: listings, properties, existence."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from icecheck.client.catalog import Catalog, Query
from icecheck.findings.shared_symptoms import (
    ANSWER_DIFFERS_FROM_LOAD,
    CHANGED_ALTHOUGH_REFUSED,
    EFFECT_MISSING,
    NAME_ALTERED,
    SCHEMA,
    SCHEMA_MEDIA_TYPE,
    SCHEMA_NOT_JSON,
    SCHEMA_REQUIRED,
)
from icecheck.findings.statuses import ANY_SUCCESS_OR_4XX
from icecheck.findings.symptoms import (
    ANOTHER_THING,
    NOT_ALL_SEEN,
    Severity,
    Symptom,
    declare,
)
from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.replies.matching import ABSENT, find, show
from icecheck.targets.target import Namespace
from icecheck.wire.json_text import read_json

T = TypeVar("T")

PAGES_MAX = 60
"""The pages of a list that a check asks for; a list with more is not judged as a whole."""

_ERROR_MEMBERS = {"message": str, "type": str, "code": int}

LISTING = declare(
    "listing",
    "A list does not show what is there",
    Severity.FALSE_OR_LOST,
    NOT_ALL_SEEN,
)
_NAMESPACE_ALTERED = declare(
    "namespace-altered",
    "Answers with another namespace than the one that was named",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
)
CHANGE_REPORT = declare(
    "change-report",
    "The answer to a change of properties reports other keys than were changed",
    Severity.SHAPE,
)
NO_PROPERTIES = declare(
    "no-properties",
    "Shows a namespace without properties otherwise than by an empty object or null",
    Severity.SHAPE,
)
EXISTENCE_CONTRADICTS_LOAD = declare(
    "existence-contradicts-load",
    "HEAD and GET disagree about whether something is there",
    Severity.WRONG_STATUS,
    "Spark, PyIceberg: IF EXISTS and IF NOT EXISTS go wrong",
)
DANGLING_CURRENT_ID = declare(
    "dangling-current-id",
    "An id in the metadata points at something that is not there",
    Severity.SHAPE,
    "every client that loads it: the metadata cannot be read",
)
LOAD_IS_NOT_REPEATABLE = declare(
    "load-is-not-repeatable",
    "Loads of one version do not show the same",
    Severity.FALSE_OR_LOST,
    NOT_ALL_SEEN,
)
ETAG_UNCHANGED_BY_COMMIT = declare(
    "etag-unchanged-by-commit",
    "Keeps the ETag of a table that a commit has changed",
    Severity.FALSE_OR_LOST,
    "every client that caches: it keeps a version that is no longer current",
)
BODY_ON_304 = declare("body-on-304", "Sends a body with status 304", Severity.SHAPE)
LIST_LEFT_OUT = declare(
    "list-left-out", "Leaves the list out of the answer to a listing", Severity.SHAPE
)
PAGE_TOO_LONG = declare(
    "page-too-long", "A page has more entries than pageSize allows", Severity.SHAPE
)


OTHER_LOCATION = ("the metadata location that was answered", "another one")
"""Expected and actual of a load that names another metadata file than the answer to a change."""


def refuses_place(reply: Reply) -> bool:
    """Return whether a name may be refused because a renamed object's files lie at its location."""
    return reply.status in {400, 403, 422}


def refused(reply: Reply, what: str) -> bool:
    """Return whether an odd request was refused (4xx or 501); raise Violation for other errors."""
    if reply.ok:
        return False
    if 400 <= reply.status < 500 or reply.status == 501:
        return True
    raise reply.wrong_status(ANY_SUCCESS_OR_4XX, detail=f"sent {what}")


def not_applicable(reason: str) -> NotOffered:
    """Return the skip of a check whose condition does not hold on this catalog."""
    return NotOffered(reason, SkipKind.NOT_APPLICABLE)


def supported(reply: Reply) -> Reply:
    """End the check if the answer is a 406 that the operation's table has: it is not offered."""
    if reply.unsupported:
        raise not_applicable(
            f"the catalog answers {reply.exchange.operation} with 406: not supported"
        )
    return reply


def object_in(reply: Reply) -> dict[str, Any]:
    """Return the body as a JSON object; raise Blocked when it is something else."""
    body = reply.json()
    if not isinstance(body, dict):
        raise _unusable(reply, "the body is no JSON object")
    return body


def namespaces_in(reply: Reply) -> list[Namespace]:
    """Return the namespaces of a listing, sorted; a missing list counts as empty."""
    reply.expect(200)
    listed = object_in(reply).get("namespaces") or []
    if not isinstance(listed, list) or not all(_is_namespace(each) for each in listed):
        raise _unusable(reply, "the listing holds something that is no namespace")
    return sorted(tuple(each) for each in listed)


def tables_in(reply: Reply) -> list[tuple[Namespace, str]]:
    """Return the (namespace, name) pairs of a listing, sorted; a missing list counts as empty."""
    reply.expect(200)
    listed = object_in(reply).get("identifiers") or []
    if not isinstance(listed, list) or not all(_is_identifier(each) for each in listed):
        raise _unusable(reply, "the listing holds something that is no table identifier")
    return sorted((tuple(each["namespace"]), each["name"]) for each in listed)


def expect_bad_request(reply: Reply, detail: str) -> None:
    """Judge that a refusal is a 400, or a 403 for credentials that lack the right (L4547).

    Another check judges a success and a server error.
    """
    if 400 <= reply.status < 500 and reply.status != 403:
        reply.expect(400, detail=detail)


def expect_answered_location(answered: str | None, loaded: str | None, detail: str = "") -> None:
    """Judge that a load names the metadata file that the answer to a change named.

    Either may leave it out. Which version a load shows is another matter: other checks judge it.
    """
    if None not in {answered, loaded} and answered != loaded:
        words = f"{detail}: " if detail else ""
        raise Violation(
            ANSWER_DIFFERS_FROM_LOAD,
            *OTHER_LOCATION,
            detail=f"{words}answered was {show(answered)}, a load shows {show(loaded)}",
            pointer="/metadata-location",
        )


def expect_json(reply: Reply) -> None:
    """Judge that an answer with a body has a JSON content type."""
    if not reply.exchange.response_body:
        return
    media = (reply.header("content-type") or "none").split(";")[0].strip().lower()
    if media != "application/json":
        symptom = SCHEMA_MEDIA_TYPE if _is_json(reply.exchange.response_body) else SCHEMA_NOT_JSON
        raise reply.violation(symptom, "application/json", media)


def _is_json(body: bytes) -> bool:
    try:
        read_json(body)
    except ValueError:
        return False
    return True


def expect_envelope(reply: Reply) -> None:
    """Judge that an error is one object `error` with message, type and code."""
    body = reply.json()
    for member, kind in _ERROR_MEMBERS.items():
        value = find(body, ("error", member))
        if not isinstance(value, kind):
            symptom = SCHEMA_REQUIRED if value is ABSENT else SCHEMA.of("type")
            expected = "an integer" if kind is int else "a string"
            raise reply.violation(symptom, expected, show(value), pointer=f"/error/{member}")


def expect_unlisted(reply: Reply, namespace: Namespace, name: str, symptom: Symptom) -> None:
    """Judge that a listing of tables does not contain this name; a missing list counts as empty."""
    if (tuple(namespace), name) in tables_in(reply):
        identifier = show({"namespace": [*namespace], "name": name})
        raise reply.violation(symptom, "a list without it", "it is listed", detail=identifier)


def entries_in_pages(
    ask: Callable[[Query], Reply], read: Callable[[Reply], Sequence[T]], size: int
) -> tuple[Reply, list[T]]:
    """Follow a list through its pages; return the last answer, and the entries of all.

    A page may be shorter than it was asked to be, even empty: pageSize is an upper bound (L1893).
    Raises NotOffered if a list has more pages than a check can follow.
    """
    entries: list[T] = []
    token: str | None = ""
    for _ in range(PAGES_MAX):
        reply = ask([("pageToken", token or ""), ("pageSize", str(size))])
        entries += read(reply)
        token = next_page_token(reply)
        if not token:
            return reply, entries
    raise not_applicable(f"the list has more than {PAGES_MAX} pages")


def next_page_token(reply: Reply) -> str | None:
    """Return the token of the next page; a null or missing token ends the listing."""
    token = object_in(reply).get("next-page-token")
    if token is not None and not isinstance(token, str):
        raise _unusable(reply, "next-page-token is no string")
    return token


def properties_of(
    catalog: Catalog, namespace: Namespace, keys: Collection[str] = ()
) -> dict[str, Any]:
    """Load a namespace that must exist and return its properties; null counts as none.

    With ``keys`` only those are returned: the server's own (L297-L298) may change at any time.
    """
    found = _properties(catalog.load_namespace_metadata(namespace).expect(200))
    return {key: value for key, value in found.items() if not keys or key in keys}


def expect_levels(reply: Reply, namespace: Namespace) -> None:
    """Judge that an answer names exactly this namespace, level by level."""
    found = reply.member("namespace")
    if found != [*namespace]:
        levels = len(found) if isinstance(found, list) else 0
        raise reply.violation(
            NAME_ALTERED if levels == len(namespace) else _NAMESPACE_ALTERED,
            "the namespace that was named, level by level",
            "another one",
            detail=f"{show([*namespace])} became {show(found)}",
            pointer="/namespace",
        )


def expect_properties(
    catalog: Catalog, namespace: Namespace, wanted: Mapping[str, str | None]
) -> None:
    """Judge the stored properties of these keys; None stands for a key that must be absent."""
    reply = catalog.load_namespace_metadata(namespace).expect(200)
    expect_properties_in(reply, wanted)


def expect_properties_in(reply: Reply, wanted: Mapping[str, str | None]) -> None:
    """Judge the properties of these keys in an answer that holds a namespace's properties."""
    found = _properties(reply)
    for key, value in wanted.items():
        if found.get(key) != value:
            raise reply.violation(
                EFFECT_MISSING.of("properties"),
                "the properties as they were set and removed",
                "others",
                detail=f"{key} is {show(found.get(key, ABSENT))}, due is {_due(value)}",
                pointer=f"/properties/{key}",
            )


def expect_properties_unchanged(
    catalog: Catalog, namespace: Namespace, before: Mapping[str, Any], keys: Collection[str]
) -> None:
    """Judge that a refused request left these properties as an earlier load showed them."""
    reply = catalog.load_namespace_metadata(namespace).expect(200)
    after = _properties(reply)
    changed = sorted(key for key in keys if before.get(key) != after.get(key))
    if changed:
        key = changed[0]
        raise reply.violation(
            CHANGED_ALTHOUGH_REFUSED,
            "the namespace as it was",
            "a changed namespace",
            detail=f"{key} was {_due(before.get(key))} and is {_due(after.get(key))}",
            pointer=f"/properties/{key}",
        )


def expect_namespace_gone(catalog: Catalog, namespace: Namespace) -> None:
    """Judge that a namespace whose drop was accepted can no longer be loaded."""
    words = "the drop was accepted, and the namespace is still there"
    expect_gone(catalog.load_namespace_metadata(namespace), "drop-namespace", words)


def expect_gone(reply: Reply, change: str, detail: str) -> None:
    """Judge that a load finds nothing after an accepted change that took the object away."""
    if reply.ok:
        raise reply.violation(EFFECT_MISSING.of(change), "404", reply.status, detail=detail)
    reply.expect(404, detail=detail)


def expect_there(reply: Reply, change: str, detail: str) -> Reply:
    """Judge that a load finds the object after an accepted change that put it there."""
    if reply.status == 404:
        raise reply.violation(EFFECT_MISSING.of(change), "200", reply.status, detail=detail)
    return reply.expect(200, detail=detail)


def _properties(reply: Reply) -> dict[str, Any]:
    properties = object_in(reply).get("properties") or {}
    if not isinstance(properties, dict):
        raise _unusable(reply, "properties are no map")
    return properties


def _due(value: Any) -> str:
    return "none" if value is None else show(value)


def _unusable(reply: Reply, reason: str) -> Blocked:
    by = f"schema.{reply.exchange.operation}.{reply.status}"
    return Blocked(by, reason, exchange=reply.exchange.ordinal)


def _is_namespace(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(level, str) for level in value)


def _is_identifier(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and _is_namespace(value.get("namespace"))
    )
