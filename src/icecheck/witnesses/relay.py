"""Carries the requests of a client that uses the library ``requests`` over the run's connection.

Such a request is one of the run's own: it is guarded, entered in the ledger, signed, recorded and
sent again after trouble like any other. The client itself never opens a connection.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import unquote

from requests import PreparedRequest, Response
from requests.adapters import BaseAdapter
from requests.exceptions import ConnectionError as ConnectionLost
from requests.structures import CaseInsensitiveDict

from icecheck.client.catalog import Catalog
from icecheck.contract import Operation
from icecheck.findings.verdict import SkipKind
from icecheck.ownership.effects import effect_of, read_body
from icecheck.replies.expect import NotOffered, Reply
from icecheck.targets.addresses import spelled_separator
from icecheck.targets.offer import encode_segment
from icecheck.targets.target import Namespace
from icecheck.wire.connection import Wire
from icecheck.wire.exchange import Exchange

# Headers of the client's own connection, which it has not got.
_OF_A_CONNECTION = frozenset(
    {"accept-encoding", "connection", "content-length", "host", "transfer-encoding"}
)
_AUTHORIZATION = "authorization"
_USUAL_SEPARATOR = "%1F"


@dataclass(frozen=True, slots=True)
class Carried:
    """One request of the client with the catalog's answer; ``lost`` if the client got none.

    ``thread`` is the one that has sent it: writers at the same time have one each.
    """

    thread: int
    operation_id: str
    body: Mapping[str, Any]
    reply: Reply
    lost: bool

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions of the updates that a commit asks for."""
        updates = self.body.get("updates") or ()
        return tuple(str(each.get("action")) for each in updates)


class Relay(BaseAdapter):  # type: ignore[misc]
    """An adapter for every session of one client; threads may share it.

    The run's credentials are sent, whatever the client shows, unless it ``shows_own_tokens``.
    """

    def __init__(self, catalog: Catalog, *, shows_own_tokens: bool = False) -> None:
        super().__init__()
        self.carried: list[Carried] = []
        self._catalog = catalog
        self._shows_own_tokens = shows_own_tokens
        self._lock = threading.Lock()
        self._ordinal = 0
        self._losing: set[str] = set()
        self._instead: dict[str, str] = {}

    def since(self, before: int) -> list[Carried]:
        """Return the requests of this thread, without the first ones of all threads."""
        own = threading.get_ident()
        return [each for each in self.carried[before:] if each.thread == own]

    @contextmanager
    def losing(self, operation_id: str) -> Iterator[None]:
        """Keep the answers to an operation from the client: the catalog gets the requests."""
        self._losing.add(operation_id)
        try:
            yield
        finally:
            self._losing.discard(operation_id)

    def spoil_next(self, operation_id: str, token: str) -> None:
        """Show another token than the client's with its next request of an operation."""
        self._instead[operation_id] = token

    def send(self, request: PreparedRequest, *_args: Any, **_options: Any) -> Response:
        """Return the catalog's answer; requests' ConnectionError for one that is to be lost.

        Raises what ``Sender.call`` raises, and NotOffered for a request that is none of the
        document's.
        """
        operation, path, names = self._recognised(request)
        sender, session = self._catalog.sender, self._catalog.session
        sender.refuse_to_write(operation.id, operation.method)
        body = _body(request)
        effect = effect_of(operation, names, body)
        fresh = sender.enter(effect)
        wire = Wire(
            check=sender.check_id,
            ordinal=self._next_ordinal(),
            step=sender.step,
            operation=operation.id,
            method=operation.method,
            url=session.base_url(operation.id) + path,
            headers=self._headers(request, operation.id),
            body=body,
        )
        exchange = session.connection.send(wire, sender.record)
        sender.settle(exchange.status or 0, effect, fresh)
        lost = operation.id in self._losing
        reply = Reply(exchange, session.schemas, sender.handed_out)
        self.carried.append(
            Carried(threading.get_ident(), operation.id, read_body(body), reply, lost)
        )
        if lost:
            raise ConnectionLost("the answer was lost", request=request)
        return _response(exchange, request)

    def close(self) -> None:
        """Do nothing: the connection is the run's."""

    def _recognised(
        self, request: PreparedRequest
    ) -> tuple[Operation, str, dict[str, str | Namespace]]:
        """Return the operation of a request, its path with the query, and the names in it."""
        session, url = self._catalog.session, str(request.url)
        for base in (session.config_url, session.target.base_url):
            spelled = _spelled(base)
            if not url.startswith(f"{spelled}/v1/"):
                continue
            path = url[len(spelled) :]
            bare = path.partition("?")[0]
            found = session.offer.operation_of(session.contract, str(request.method), bare)
            if found is not None:
                operation_id, names = found
                self._expect_announced(names.get("namespace", ""))
                return session.contract.operations[operation_id], path, self._read(names)
        words = f"{request.method} {url.partition('?')[0]}"
        raise NotOffered(
            f"the client sends {words}, which is no request of the document to this catalog",
            SkipKind.HARNESS_GAP,
        )

    def _expect_announced(self, segment: str) -> None:
        """Raise NotOffered for levels that are joined otherwise than the catalog announces.

        What announces a separator of its own need not know the usual one, or another spelling.
        """
        separator = spelled_separator(self._catalog.session.offer.separator)
        levels = unquote(segment).split(unquote(separator))
        joined = separator.join(map(encode_segment, levels))
        if separator.upper() != _USUAL_SEPARATOR and joined.upper() != segment.upper():
            raise NotOffered(
                f"the client does not join levels by {separator}, as the catalog announces",
                SkipKind.HARNESS_GAP,
            )

    def _read(self, names: Mapping[str, str]) -> dict[str, str | Namespace]:
        separator = unquote(self._catalog.session.offer.separator)
        decoded = {key: unquote(value) for key, value in names.items()}
        return {
            key: tuple(value.split(separator)) if key == "namespace" else value
            for key, value in decoded.items()
        }

    def _headers(self, request: PreparedRequest, operation_id: str) -> dict[str, str]:
        left_out = _OF_A_CONNECTION | ({_AUTHORIZATION} if not self._shows_own_tokens else set())
        headers = {
            name: value.decode("latin-1") if isinstance(value, bytes) else str(value)
            for name, value in request.headers.items()
            if name.lower() not in left_out
        }
        if token := self._instead.pop(operation_id, None):
            headers = {n: v for n, v in headers.items() if n.lower() != _AUTHORIZATION}
            headers["Authorization"] = f"Bearer {token}"
        if self._shows_own_tokens and operation_id == "getToken":
            headers.setdefault("Authorization", "")
        return headers

    def _next_ordinal(self) -> int:
        with self._lock:
            self._ordinal = max(self._ordinal, len(self._catalog.exchanges)) + 1
            return self._ordinal


def _spelled(url: str) -> str:
    """Return a URL as the library requests spells it, which writes the host in small letters."""
    request = PreparedRequest()
    request.prepare_url(url, None)
    return str(request.url).rstrip("/")


def _body(request: PreparedRequest) -> bytes | None:
    body = request.body
    return body.encode() if isinstance(body, str) else body


def _response(exchange: Exchange, request: PreparedRequest) -> Response:
    response = Response()
    response.status_code = exchange.status
    response.reason = _reason(exchange.status or 0)
    response.headers = CaseInsensitiveDict(exchange.response_headers)
    response.headers.pop("location", None)  # no redirect is followed
    response.raw = BytesIO(exchange.response_body)
    response.encoding = "utf-8"
    response.url = request.url
    response.request = request
    return response


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
