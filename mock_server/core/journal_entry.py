"""One request to a server as the journal has it, and what entries are looked for by."""

import msgspec

from icecheck.mock_server.core.redaction import redacted_body, redacted_headers, redacted_query
from icecheck.mock_server.protocol.wire import Reply, Request


class Content:
    """The request and the reply of an entry, until they are forgotten for want of memory."""

    __slots__ = ("characters", "reply", "request", "size")

    def __init__(self, request: Request, reply: Reply, size: int, characters: int) -> None:
        self.request: Request | None = request
        self.reply: Reply | None = reply
        self.size = size
        self.characters = characters  # of the entry's path and names, which are not forgotten

    def forget(self) -> None:
        """Let the memory go."""
        self.request = self.reply = None


class JournalEntry(msgspec.Struct, frozen=True):
    """One handled request; `operation` is "" where no route matched, names are as resolved.

    `principal` is whose token it had ("" where none is asked for), `fault` the id of the fault rule
    that touched it. `answered` False: the connection was cut instead of an answer. Headers and
    bodies are without secrets; they are None when they were forgotten for want of memory.
    """

    sequence: int
    time_ms: int
    method: str
    path: str
    operation: str
    warehouse: str
    namespace: tuple[str, ...]
    name: str
    principal: str
    status: int
    duration_us: int
    fault: str
    answered: bool
    content: Content

    @property
    def query(self) -> str | None:
        """The query string as it was sent."""
        request = self.content.request
        return None if request is None else redacted_query(request.query_string)

    @property
    def request_headers(self) -> tuple[tuple[str, str], ...] | None:
        """The headers of the request, their names in lower case."""
        request = self.content.request
        return None if request is None else redacted_headers(request.headers.items())

    @property
    def request_body(self) -> str | None:
        """The body of the request."""
        request = self.content.request
        if request is None:
            return None
        return redacted_body(request.body, request.headers.get("content-type") or "")

    @property
    def response_headers(self) -> tuple[tuple[str, str], ...] | None:
        """The headers of the answer."""
        reply = self.content.reply
        return None if reply is None else redacted_headers(reply.headers)

    @property
    def response_body(self) -> str | None:
        """The body of the answer."""
        reply = self.content.reply
        if reply is None:
            return None
        return redacted_body(reply.body, dict(reply.headers).get("content-type", ""))

    @property
    def client(self) -> str | None:
        """The User-Agent of the client; "" where it sent none."""
        request = self.content.request
        return None if request is None else request.headers.get("user-agent") or ""


class Matching(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What entries are looked for; None matches everything.

    `namespace` is a tuple of levels, or their names joined by dots; `table` the name of a table or
    view, with or without its namespace. `since` is the sequence number before the first one.
    """

    operation: str | None = None
    warehouse: str | None = None
    namespace: tuple[str, ...] | str | None = None
    name: str | None = None
    table: str | None = None
    status: int | None = None
    principal: str | None = None
    method: str | None = None
    fault: str | None = None
    since: int = 0

    def matches(self, entry: JournalEntry) -> bool:
        """Return whether an entry is one of those looked for."""
        return (
            entry.sequence > self.since
            and self.operation in (None, entry.operation)
            and self.warehouse in (None, entry.warehouse)
            and self.namespace in (None, entry.namespace, ".".join(entry.namespace))
            and self.name in (None, entry.name)
            and self.table in (None, entry.name, ".".join((*entry.namespace, entry.name)))
            and self.status in (None, entry.status)
            and self.principal in (None, entry.principal)
            and self.method in (None, entry.method)
            and self.fault in (None, entry.fault)
        )
