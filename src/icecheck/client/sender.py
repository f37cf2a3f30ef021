"""Sends requests for one check: adapts, enters in the ledger, records and settles each."""

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from icecheck.client.session import Session
from icecheck.findings.verdict import SkipKind
from icecheck.ownership.effects import Effect, changes_nothing, effect_of
from icecheck.ownership.ledger import Entry, Ledger
from icecheck.replies.expect import NotOffered, Reply
from icecheck.replies.ill_shaped import IllShapedBody
from icecheck.targets.target import Namespace
from icecheck.wire.connection import Wire
from icecheck.wire.exchange import Exchange, Step

Json = Any
Query = Sequence[tuple[str, str]]
Names = Mapping[str, str | Namespace]
Headers = Mapping[str, str]
NO_BODY = object()
DELEGATION_HEADER = "X-Iceberg-Access-Delegation"
"""The header by which a client asks for access to the files of a table."""
ASKING_FOR_CREDENTIALS: Headers = {DELEGATION_HEADER: "vended-credentials"}
KEY_HEADER = "Idempotency-Key"
"""The header by which a request that comes again is known (1.11.0, L2079)."""


class Sender:
    """Holds the requests of one check and the ledger of the objects they may make.

    ``step`` is the purpose of the next request, ``ordinal`` its number. The check may have sent
    requests through another one up to ``last_ordinal``: those of this one go on from there.
    """

    def __init__(self, session: Session, check_id: str, last_ordinal: int = 0) -> None:
        self.session = session
        self.check_id = check_id
        self.ledger = Ledger(session.owner, session.journal, session.ledgered, session.undropped)
        self.exchanges: list[Exchange] = []
        self._kept: dict[int, Exchange] = {}
        self.handed_out: list[IllShapedBody] = []
        self._answered_keys: set[str] = set()
        self.step = Step.DO
        self.ordinal = last_ordinal + 1

    @contextlib.contextmanager
    def marking(self, step: Step) -> Iterator[None]:
        """Mark the requests sent inside; those of a search (PROBE) no evidence shows."""
        before, self.step = self.step, step
        try:
            yield
        finally:
            self.step = before

    def refuse_to_write(self, operation_id: str, method: str | None = None) -> None:
        """Raise NotOffered for a request that changes something, if the run may only read."""
        operation = self.session.contract.operations[operation_id]
        if self.session.target.read_only and not changes_nothing(operation, method):
            reason = f"{operation_id} changes the catalog, and this run may only read"
            raise NotOffered(reason, SkipKind.SAFETY_LEVEL)

    def call(
        self,
        operation_id: str,
        names: Names | None = None,
        *,
        query: Query = (),
        body: Json = NO_BODY,
        headers: Headers | None = None,
        path: str | None = None,
        method: str | None = None,
    ) -> Reply:
        """Send one request; ``body`` may be JSON or raw bytes, ``path`` replaces the whole path.

        A header with an empty value removes a default header. Raises Unreachable, and NotOffered
        for a request that changes something in a run that may only read.
        """
        wire, effect, fresh = self._prepared(
            operation_id, names or {}, query, body, headers or {}, path, method
        )
        exchange = self.session.connection.send(wire, self.record)
        key = wire.headers.get(KEY_HEADER)
        # What comes again with its key tells of its effect then, and not of what is there since:
        # what has the name of something that was dropped may be another object.
        if key not in self._answered_keys:
            self.settle(exchange.status or 0, effect, fresh)
        if key:
            self._answered_keys.add(key)
        return Reply(exchange, self.session.schemas, self.handed_out)

    def lose_answer(
        self, operation_id: str, names: Names, *, body: Json = NO_BODY, headers: Headers
    ) -> None:
        """Send one request, and close its connection before the answer is read.

        Whatever it may have made stays in the ledger. Raises as ``call``.
        """
        wire, *_ = self._prepared(operation_id, names, (), body, headers, None, None)
        self.session.connection.send_unread(wire, self.record)

    def _prepared(
        self,
        operation_id: str,
        names: Names,
        query: Query,
        body: Json,
        headers: Headers,
        path: str | None,
        method: str | None,
    ) -> tuple[Wire, Effect, list[Entry]]:
        """Return a request with its effect, and what of that was entered in the ledger for it."""
        self.refuse_to_write(operation_id, method)
        body = self.fitted(operation_id, names, body, self.ordinal)
        operation = self.session.contract.operations[operation_id]
        url = self.session.base_url(operation_id)
        url += self.session.offer.path(operation.path, names) if path is None else path
        if query:
            url += "?" + str(httpx.QueryParams(list(query)))
        sent = content_of(body)
        effect = effect_of(operation, names, sent)
        wire = Wire(
            check=self.check_id,
            ordinal=self.ordinal,
            step=self.step,
            operation=operation_id,
            method=method or operation.method,
            url=url,
            headers=headers,
            body=sent,
            repeatable=method is None and operation.facts.repeatable,
        )
        return wire, effect, self.enter(effect)

    def fitted(self, operation_id: str, names: Names, body: Json, ordinal: int) -> Json:
        """Return the body with this run's adaptations; bytes stay as they are.

        Raises NotOffered for an object that the catalog does not take there.
        """
        known = self.session.adaptations
        operation = self.session.contract.operations[operation_id]
        if refusal := known.refuses(operation, names, body):
            raise NotOffered(refusal)
        return known.fitted(operation, names, body, ordinal)

    def enter(self, effect: Effect) -> list[Entry]:
        """Enter in the ledger what a request may create, before it is sent; return new entries."""
        fresh = [entry for entry in effect.creates if entry not in self.ledger]
        for entry in fresh:
            self.ledger.add(entry)
        return fresh

    def record(self, exchange: Exchange) -> None:
        """Keep an exchange of this check."""
        self.exchanges.append(exchange)
        self.ordinal = max(self.ordinal, exchange.ordinal + 1)
        self._kept[id(exchange)] = self.session.record(exchange)

    def shown(self, exchange: Exchange) -> Exchange:
        """Return an exchange as it was kept, without its secrets.

        One that was not is redacted now. Those that were are not redacted again: what they vended
        would be learned once more, and newer secrets forgotten for it.
        """
        kept = self._kept.get(id(exchange))
        return self.session.connection.redactor.exchange(exchange) if kept is None else kept

    def settle(self, status: int, effect: Effect, fresh: Sequence[Entry]) -> None:
        """Correct the ledger once the answer is known; an unknown outcome stays entered."""
        if 400 <= status < 500 or status == 501:
            for entry in fresh:
                self.ledger.forget(entry, deleted=False)
        elif 200 <= status < 300:
            for entry in effect.removes:
                self.ledger.forget(entry, deleted=True)


def content_of(body: Json) -> bytes | None:
    """Return a body as it is sent: bytes as they are, JSON encoded, and None for NO_BODY."""
    if body is NO_BODY:
        return None
    return body if isinstance(body, bytes) else encode(body)


def encode(body: Json) -> bytes:
    """Return a JSON body in the encoding that every request of the suite uses."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
