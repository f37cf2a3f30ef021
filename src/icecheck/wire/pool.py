"""Sends one request at a time to a target, and reads its answer within the limits.

What the libraries below log about it is redacted.
"""

import contextlib
import logging
import re
import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

import httpx

from icecheck.targets.target import Target
from icecheck.wire.answers import ACCEPTED_ENCODING, read_answer
from icecheck.wire.exchange import Exchange
from icecheck.wire.redaction import Redactor
from icecheck.wire.transport import SocketTransport

DRAFTED = "icecheck.drafted"
"""The extension in which a transport finds the exchange of the request that it is to send."""
_UNREAD_SECONDS = 0.02
_UNREAD_ERROR = "AnswerUnread: the connection was closed before the answer was read"
_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.LocalProtocolError,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
)
_OF_EVERY_REQUEST = frozenset({"host", "content-length"})
_READING = ("httpcore.connection", "httpcore.http11", "httpcore.http2", "httpx")
# It logs what it signs, every header among it, and the signature.
_SIGNING = "botocore.auth"
_HEADERS = re.compile(r"\[\(b['\"].*\)\]", re.DOTALL)


class Pool:
    """The HTTP connections to a target; threads may share them.

    No cookie of the target is kept: it would be sent with the requests of every principal, would be
    in no recorded request, and a target could send any number of them.
    ``requests`` counts the answers, and ``latencies_ms`` holds how long each one took, by operation
    ("" for what no operation of the document answers).
    """

    def __init__(self, target: Target, transport: httpx.BaseTransport | None = None) -> None:
        self.requests = 0
        self.latencies_ms: defaultdict[str, list[float]] = defaultdict(list)
        self._lock = threading.Lock()
        self._timeout_seconds = target.timeout_seconds
        self._timeouts = httpx.Timeout(target.timeout_seconds).as_dict()
        self._transport = transport or SocketTransport(target)
        always = {"Accept": "*/*", "Accept-Encoding": ACCEPTED_ENCODING}
        always |= {"Connection": "keep-alive", "User-Agent": target.agent}
        self._always = httpx.Headers(always).raw

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

    def send(
        self,
        drafted: Exchange,
        asked: httpx.Request,
        given: Collection[str] = (),
        *,
        unread: bool = False,
    ) -> Exchange:
        """Send a request once; if no answer comes, the exchange's ``error`` says why.

        With ``unread`` the connection is closed a moment after the request was sent, whether or not
        an answer has come by then: the exchange has none.

        The headers of ``asked`` are sent and recorded. Headers that every request has are recorded
        only if their names, in lower case, are among the ``given``.
        """
        headers = asked.headers.raw
        named = {name.lower() for name, _ in headers}
        every = [*headers, *(each for each in self._always if each[0].lower() not in named)]
        timeouts = self._timeouts | ({"read": _UNREAD_SECONDS} if unread else {})
        request = httpx.Request(
            asked.method,
            asked.url,
            headers=every,
            stream=asked.stream,
            extensions={DRAFTED: drafted, "timeout": timeouts},
        )
        request.read()
        sent = replace(drafted, request_headers=_told(headers, given))
        started = time.perf_counter()
        try:
            with contextlib.closing(self._transport.handle_request(request)) as response:
                if unread:
                    return replace(sent, error=_UNREAD_ERROR)
                body = read_answer(response, started + self._timeout_seconds)
        except httpx.HTTPError as error:
            if unread and not isinstance(error, _NEVER_SENT):
                return replace(sent, error=_UNREAD_ERROR)
            said = str(error) or type(error).__name__
            return replace(sent, error=f"{type(error).__name__}: {said}")
        elapsed_ms = (time.perf_counter() - started) * 1000
        with self._lock:
            self.requests += 1
            self.latencies_ms[drafted.operation or ""].append(elapsed_ms)
        return replace(
            sent,
            status=response.status_code,
            response_headers=tuple(response.headers.multi_items()),
            response_body=body,
            elapsed_ms=elapsed_ms,
        )


def hide_in_logs(redactor: Redactor) -> Callable[[], None]:
    """Redact the records of these libraries from now on; returns a function that ends it.

    It ends with the redactor at the latest, if nobody calls that.

    The headers of an answer are logged before anybody could have learned what they hold: they are
    left out. Records about signing are dropped.
    """
    known = weakref.ref(redactor)

    def hidden(record: logging.LogRecord) -> bool:
        if (hiding := known()) is None:
            return True
        record.msg = hiding.text(_HEADERS.sub("[…]", record.getMessage()))
        record.args = None
        return record.name != _SIGNING

    loggers = [logging.getLogger(name) for name in (*_READING, _SIGNING)]
    for logger in loggers:
        logger.addFilter(hidden)

    def end() -> None:
        for logger in loggers:
            logger.removeFilter(hidden)

    return weakref.finalize(redactor, end)


def as_response(exchange: Exchange) -> httpx.Response:
    """Return an exchange as an httpx response with status and decoded body, for an auth flow.

    Headers are left out: a catalog may send some that httpx cannot write.
    """
    return httpx.Response(exchange.status or 0, content=exchange.response_body)


def _told(
    headers: Iterable[tuple[bytes, bytes]], given: Collection[str]
) -> tuple[tuple[str, str], ...]:
    """Return headers as they are recorded, with their names as they are spelled."""
    texts = ((name.decode("ascii"), value.decode("ascii")) for name, value in headers)
    return tuple(
        (name, value)
        for name, value in texts
        if name.lower() not in _OF_EVERY_REQUEST or name.lower() in given
    )
