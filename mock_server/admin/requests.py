"""Routes for the journal: what was asked, waiting for it, and comparing with what was expected."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from icecheck.mock_server.admin.declared import WAIT_MS, Asked, Parts, Refusal, no_such, route
from icecheck.mock_server.core.journal_entry import JournalEntry, Matching
from icecheck.mock_server.core.journal_files import entry_document, entry_line, har
from icecheck.mock_server.linting.client_lint import LintUnavailable, Violation, violations
from icecheck.mock_server.protocol.wire import Reply

WAIT_MS_MAX = 60_000


class Query(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What requests are looked for; what is left out matches everything.

    `namespace` has its levels joined by dots. `limit` takes the newest so many.
    """

    operation: str | None = None
    warehouse: str | None = None
    namespace: str | None = None
    name: str | None = None
    table: str | None = None
    status: int | None = None
    principal: str | None = None
    method: str | None = None
    fault: str | None = None
    since: int = 0
    limit: Annotated[int, Meta(ge=0)] | None = None
    content: bool = False

    @property
    def matching(self) -> Matching:
        """The same for the journal."""
        own = {name: getattr(self, name) for name in Matching.__struct_fields__}
        return Matching(**own)


class Requests(msgspec.Struct, frozen=True):
    """Requests in their order, and how many there are; see `RequestShown` for one."""

    count: int
    requests: list[dict[str, Any]]


class Violations(msgspec.Struct, frozen=True):
    """What clients sent that the document forbids, the same thing of one client once."""

    violations: list[Violation]


class Wait(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to wait for: so many requests that match, so long at most."""

    matching: Matching = Matching()
    count: Annotated[int, Meta(ge=1)] = 1
    timeout_ms: Annotated[int, Meta(ge=0, le=WAIT_MS_MAX)] = WAIT_MS


class Sequence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The operations that are expected, in their order, without those to be ignored."""

    operations: list[str]
    ignore: list[str] = []
    matching: Matching = Matching()


class Compared(msgspec.Struct, frozen=True):
    """The operations that there were, and whether they are those that were expected."""

    holds: bool
    operations: list[str]


@route("GET", "/requests", query=Query, answer=Requests)
def list_requests(parts: Parts, asked: Asked) -> Requests:
    """List the requests that match, headers and bodies among them if `content` is true."""
    found = _found(parts, asked.query)
    return _shown(found, with_content=asked.query.content)


@route("GET", "/requests/{sequence}", answer=dict[str, Any], refusals=(404,))
def get_request(parts: Parts, asked: Asked) -> dict[str, Any]:
    """Show one request with headers and bodies, without secrets."""
    text = asked.names["sequence"]
    for entry in parts.journal.find():
        if str(entry.sequence) == text:
            return entry_document(entry)
    raise no_such("request", text)


@route("DELETE", "/requests")
def clear_requests(parts: Parts, _asked: Asked) -> None:
    """Forget every request; their numbers go on."""
    parts.journal.clear()


@route("POST", "/requests/wait", body=Wait, answer=Requests, refusals=(408,))
def wait_for_requests(parts: Parts, asked: Asked) -> Requests:
    """Answer as soon as so many requests match, those so far among them; 408 if they do not."""
    wanted: Wait = asked.body
    if not parts.journal.waited_for(wanted.matching, wanted.count, wanted.timeout_ms / 1000):
        there = len(parts.journal.matching(wanted.matching))
        raise Refusal(408, f"{there} of {wanted.count} requests came in {wanted.timeout_ms} ms")
    return _shown(parts.journal.matching(wanted.matching), with_content=False)


@route("POST", "/requests/sequence", body=Sequence, answer=Compared)
def compare_sequence(parts: Parts, asked: Asked) -> Compared:
    """Compare the requests that match with the operations that were expected."""
    wanted: Sequence = asked.body
    seen = [each.operation or each.path for each in parts.journal.matching(wanted.matching)]
    seen = [each for each in seen if each not in wanted.ignore]
    return Compared(seen == wanted.operations, seen)


@route("GET", "/violations", query=Query, answer=Violations, refusals=(409,))
def list_violations(parts: Parts, asked: Asked) -> Violations:
    """List what clients sent in the requests that match, and what the document forbids."""
    try:
        return Violations([*violations(_found(parts, asked.query), parts.served.contract)])
    except LintUnavailable as missing:
        raise Refusal(409, str(missing)) from None


@route("GET", "/requests.har", query=Query, answer=dict[str, Any])
def save_har(parts: Parts, asked: Asked) -> Reply:
    """Return the requests that match as a HAR 1.2 document."""
    content = har(_found(parts, asked.query))
    return Reply(200, (("content-type", "application/json"),), content)


@route("GET", "/requests.jsonl", query=Query, answer=str, media_type="application/jsonl")
def save_lines(parts: Parts, asked: Asked) -> Reply:
    """Return the requests that match as JSON lines, headers and bodies among them."""
    lines = b"".join(map(entry_line, _found(parts, asked.query)))
    return Reply(200, (("content-type", "application/jsonl"),), lines)


def _found(parts: Parts, query: Query) -> tuple[JournalEntry, ...]:
    found = parts.journal.matching(query.matching)
    if query.limit is None:
        return found
    return found[len(found) - min(len(found), query.limit) :]


def _shown(found: tuple[JournalEntry, ...], *, with_content: bool) -> Requests:
    return Requests(len(found), [entry_document(e, with_content=with_content) for e in found])
