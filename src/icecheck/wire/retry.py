"""Retries: which exchanges brought no answer of the catalog, and when to send them again."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from icecheck.wire.exchange import Exchange
from icecheck.wire.json_text import read_json

UNSENDABLE = "Unsendable"
"""The beginning of an exchange's error if the request could not be written at all."""
WAIT_SECONDS_MAX = 60.0
"""The total time that one request may wait; a catalog that asks for more is not asked again."""
_READING = frozenset({"GET", "HEAD"})
# A retried deletion has its effect once; a 404 for the retry tells nothing.
_REPEATABLE = _READING | {"DELETE"}
_FIRST_WAIT_SECONDS = 0.5
_FIRST_WAIT_AFTER_LOSS_SECONDS = 0.1
_ATTEMPTS_MAX = 4
_ATTEMPTS_AFTER_LIMIT_MAX = 2
_ATTEMPTS_WHEN_THROTTLED_MAX = 20
_UNREADABLE_SECONDS = 1.0
_GATEWAY_PAGES = frozenset({502, 504, *range(520, 531)})


@dataclass(frozen=True, slots=True)
class Trouble:
    """The reason why an exchange brought no answer of the catalog.

    ``may_be_applied``: the request may have had its effect all the same. ``asked_seconds`` is how
    long the server asks to wait, if it says so.
    """

    words: str
    may_be_applied: bool
    attempts_max: int = _ATTEMPTS_MAX
    first_wait_seconds: float = _FIRST_WAIT_SECONDS
    asked_seconds: float | None = None
    throttled: bool = False


def trouble_of(exchange: Exchange) -> Trouble | None:
    """Return the trouble that an exchange met, or None if the catalog has answered (rule 11).

    Trouble is a lost connection or time-out, 429, 503, a 400 whose headers say throttling, or a
    page that a gateway sends in the catalog's place.
    """
    if exchange.status is None:
        return _lost(exchange.error or "no answer")
    asked = asked_seconds(exchange)
    said = "".join(f"{name}: {value}" for name, value in exchange.response_headers).lower()
    if exchange.status == 429 or (exchange.status == 400 and "throttl" in said):
        words = f"throttled with {exchange.status}"
        attempts = _ATTEMPTS_WHEN_THROTTLED_MAX
        return Trouble(words, False, attempts, asked_seconds=asked, throttled=True)
    if exchange.status == 503:
        # Without Retry-After only idempotent requests should be retried (L4659): the 503 may come
        # from a gateway that does not know what became of the request.
        if asked is None:
            return Trouble("throttled with 503", True, throttled=True)
        attempts = _ATTEMPTS_WHEN_THROTTLED_MAX
        return Trouble("throttled with 503", False, attempts, asked_seconds=asked, throttled=True)
    if exchange.status in _GATEWAY_PAGES and not exchange.claims_json:
        return Trouble(f"a gateway's page with {exchange.status}", True, asked_seconds=asked)
    return None


def next_wait(trouble: Trouble, method: str, attempts: int, waited_seconds: float) -> float | None:
    """Return how many seconds to wait before a retry, or None if the request is not retried.

    A request that adds something and may have been applied is never retried: it could be applied
    twice.
    """
    if trouble.may_be_applied and method not in _REPEATABLE:
        return None
    if attempts >= trouble.attempts_max:
        return None
    wait = trouble.asked_seconds
    if wait is None:
        wait = min(trouble.first_wait_seconds * 2 ** (attempts - 1), WAIT_SECONDS_MAX / 4)
    return wait if waited_seconds + wait <= WAIT_SECONDS_MAX else None


def is_uncertain(trouble: Trouble, exchange: Exchange) -> bool:
    """Return whether a 404 after some trouble tells nothing: the first try may have worked.

    A retried deletion, for example, is rightly answered that the object is not there.
    """
    reads = exchange.method in _READING
    return trouble.may_be_applied and not reads and exchange.status == 404


def foreign_words(exchange: Exchange) -> str:
    """Return in words an answer that does not come from a catalog, or "" if it may.

    It is a redirection, a server error, or something other than a JSON object where one is due. One
    such answer may be a mistake of the catalog; if all are such, there is no catalog.
    """
    status = exchange.status or 0
    if 300 <= status < 400 and status != 304:
        # The query of a redirection may hold a login secret.
        location = (exchange.header("location") or "").partition("?")[0][:120]
        return f"{status} to {location}" if location else str(status)
    if status >= 500 and status != 501:
        return str(status)
    if status not in {200, 201, 202, 204, 404}:
        return ""
    if _object_in(exchange) is not None:
        return ""
    return f"{status} and {exchange.header('content-type') or 'nothing'}, which is no JSON object"


def broke_off(exchange: Exchange) -> bool:
    """Return whether a whole request was taken, and the connection ended without an answer to it.

    A page of a gateway is an answer. A time-out tells nothing of the request, and a connection that
    ends while the request is sent may hold an answer that nobody has read.
    """
    if exchange.status is not None:
        return False
    trouble, kind = trouble_of(exchange), (exchange.error or "").partition(":")[0]
    untold = "Timeout" in kind or kind in {"UnusableAnswer", "WriteError"}
    return trouble is not None and trouble.may_be_applied and not (trouble.throttled or untold)


_AMBIGUOUS = re.compile("%(?:2f|25|5c|3b|7f|0[0-9a-f]|1[0-9a-e])")
"""What web servers refuse in a path: slash, percent sign, backslash, semicolon and control
characters, but for the one between the levels of a namespace.
"""


def is_stopped_on_the_way(exchange: Exchange) -> bool:
    """Return whether a name with an encoded slash or its like was refused before the catalog.

    Names stand below `/namespaces/`; what stands before them is the catalog's own. Web servers and
    routers refuse such paths by themselves: the answer has no error of the document's shape, and
    tells nothing of the catalog. A server error other than 501 is no refusal.
    """
    names = exchange.url.partition("?")[0].lower().partition("/namespaces/")[2]
    status = exchange.status or 0
    refused = 400 <= status < 500 or status == 501
    if not refused or _AMBIGUOUS.search(names) is None:
        return False
    if exchange.method == "HEAD" and not exchange.response_body:
        return False  # whoever refuses a HEAD says nothing
    body = _object_in(exchange) or {}
    return not (isinstance(body.get("error"), dict) or "code" in body)


def _object_in(exchange: Exchange) -> dict[str, Any] | None:
    """Return the JSON object of an answer, which every catalog sends where a body is due."""
    try:
        body = read_json(exchange.response_body)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _lost(error: str) -> Trouble:
    if error.startswith(UNSENDABLE):
        return Trouble(error, False, 1)
    never_sent = error.startswith(("ConnectError", "ConnectTimeout", "PoolTimeout"))
    # A slow or unusable answer is likely to repeat, and each try takes the whole time-out.
    kind = error.partition(":")[0]
    dear = "Timeout" in kind or kind == "UnusableAnswer"
    attempts = _ATTEMPTS_AFTER_LIMIT_MAX if dear else _ATTEMPTS_MAX
    return Trouble(error, not never_sent, attempts, _FIRST_WAIT_AFTER_LOSS_SECONDS)


def asked_seconds(exchange: Exchange) -> float | None:
    """Return the seconds that Retry-After asks for, in either of its forms; None without it."""
    text = exchange.header("retry-after")
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        due = parsedate_to_datetime(text)
        if due.tzinfo is None:
            due = due.replace(tzinfo=UTC)
        return max(0.0, (due - datetime.now(UTC)).total_seconds())
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return _UNREADABLE_SECONDS  # a date of the year 10^30, or something else
