"""Sends one request at a time to a target, and reads its answer within the limits."""

import contextlib
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from icecheck.targets.target import Target
from icecheck.wire.answers import ACCEPTED_ENCODING, read_answer
from icecheck.wire.exchange import Exchange
from icecheck.wire.transport import SocketTransport

DRAFTED = "icecheck.drafted"
"""The extension in which a transport finds the exchange of the request that it is to send."""
_OF_EVERY_REQUEST = frozenset({"host", "content-length"})


class Pool:
    """The HTTP connections to a target; threads may share them.

    No cookie of the target is kept: it would be sent with the requests of every principal, would be
    in no recorded request, and a target could send any number of them.
    ``requests`` counts the answers, and ``latencies_ms`` holds how long each one took.
    """

    def __init__(self, target: Target, transport: httpx.BaseTransport | None = None) -> None:
        self.requests = 0
        self.latencies_ms: list[float] = []
        self._lock = threading.Lock()
        self._timeout_seconds = target.timeout_seconds
        self._http = httpx.Client(
            transport=transport or SocketTransport(target),
            headers={"Accept-Encoding": ACCEPTED_ENCODING, "User-Agent": target.agent},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            timeout=target.timeout_seconds,
            follow_redirects=False,
            trust_env=False,
        )

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def send(
        self, drafted: Exchange, asked: httpx.Request, given: Collection[str] = ()
    ) -> Exchange:
        """Send a request once; if no answer comes, the exchange's ``error`` says why.

        The headers of ``asked`` are sent and recorded. Headers that every request has are recorded
        only if their names, in lower case, are among the ``given``.
        """
        headers = {
            name: value
            for name, value in _headers_of(asked).items()
            if name.lower() not in _OF_EVERY_REQUEST or name.lower() in given
        }
        request = self._http.build_request(
            asked.method,
            asked.url,
            headers=headers,
            content=asked.read() or None,
            extensions={DRAFTED: drafted},
        )
        sent = replace(drafted, request_headers=tuple(headers.items()))
        started = time.perf_counter()
        try:
            with contextlib.closing(self._http.send(request, stream=True)) as response:
                body = read_answer(response, started + self._timeout_seconds)
        except httpx.HTTPError as error:
            said = str(error) or type(error).__name__
            return replace(sent, error=f"{type(error).__name__}: {said}")
        elapsed_ms = (time.perf_counter() - started) * 1000
        with self._lock:
            self.requests += 1
            self.latencies_ms.append(elapsed_ms)
        return replace(
            sent,
            status=response.status_code,
            response_headers=tuple(response.headers.multi_items()),
            response_body=body,
            elapsed_ms=elapsed_ms,
        )


def as_response(exchange: Exchange) -> httpx.Response:
    """Return an exchange as an httpx response with status and decoded body, for an auth flow.

    Headers are left out: a catalog may send some that httpx cannot write.
    """
    return httpx.Response(exchange.status or 0, content=exchange.response_body)


def _headers_of(request: httpx.Request) -> Mapping[str, str]:
    """Return the headers with their names as they are spelled; ``items`` changes the case."""
    return {name.decode("ascii"): value.decode("ascii") for name, value in request.headers.raw}
