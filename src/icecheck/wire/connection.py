"""The connection to a catalog: sends requests, records exchanges, retries after trouble."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import httpx

from icecheck.contract import Contract
from icecheck.targets.target import Target
from icecheck.wire.auth import BearerAuth, TokenRefused, drive
from icecheck.wire.credentials import Credentials
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.pace import Pace
from icecheck.wire.pool import Pool, as_response, hide_in_logs
from icecheck.wire.redaction import Redactor
from icecheck.wire.retry import (
    UNSENDABLE,
    Trouble,
    broke_off,
    is_uncertain,
    next_wait,
    trouble_of,
)
from icecheck.wire.unreachable import CredentialsEnded, Unreachable


class TargetUnusable(Exception):
    """There is no catalog to verify at this URL; the message says why, in one line.

    ``other_url`` is the URL at which the same server answers, if only the scheme is wrong.
    """

    def __init__(self, words: str, *, other_url: str | None = None) -> None:
        self.other_url = other_url
        super().__init__(words)


@dataclass(frozen=True, slots=True)
class Wire:
    """The parts of a request before it is sent, without the connection.

    ``repeatable``: to send it twice changes nothing, whatever its method.
    """

    check: str
    ordinal: int
    step: Step
    operation: str | None
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None
    repeatable: bool = False


class Connection:
    """One HTTP connection pool to the target, with its credentials; threads may share it.

    Transient trouble (``icecheck.wire.retry``) is retried for a while; if the catalog throttles,
    all users of the connection wait. After that ``Unreachable`` is raised (verdict-rules 11). A 401
    for a token that was accepted before fetches a new one, or raises ``CredentialsEnded``. Once
    ``stopped`` is set, only requests that clean up are sent; others raise KeyboardInterrupt.
    """

    def __init__(
        self,
        target: Target,
        contract: Contract,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] | None = None,
        now: Callable[[], float] = time.monotonic,
        redactor: Redactor | None = None,
    ) -> None:
        self.redactor = redactor or Redactor()
        self._credentials = Credentials(target, contract, self.redactor, now)
        self.follow(target)
        self._sleep = sleep
        self._pace = Pace(target.requests_per_second, now)
        self._proven: Wire | None = None
        self._ended: tuple[str | None, str] | None = None
        self.stopped = threading.Event()
        self.guard: Callable[[Wire], None] = lambda _: None
        self._retries_stopped = False
        self._silent = False
        self._pool = Pool(target, transport)
        self._end_hiding = hide_in_logs(self.redactor)

    @property
    def requests(self) -> int:
        """The number of answered requests, requests for tokens included."""
        return self._pool.requests

    @property
    def latencies_ms(self) -> Mapping[str, list[float]]:
        """The time that each answer took, by operation; "" for requests of no operation."""
        return self._pool.latencies_ms

    def close(self) -> None:
        """Close the pool."""
        self._pool.close()
        self._end_hiding()

    def follow(self, target: Target) -> None:
        """Send requests as the config tells clients to; secrets in the config are redacted too."""
        self.redactor.know(target.secrets, target.headers)
        self.target = target
        self._credentials.follow(target)

    def use_token(self, token: str) -> None:
        """Send this bearer token from now on (a config answer may contain one).

        Raises TargetUnusable for one that no header can carry.
        """
        try:
            self._credentials.own.use(token)
        except TokenRefused as refused:
            raise TargetUnusable(str(refused)) from None
        self._credentials.hide()

    def fetch_tokens(self) -> None:
        """Fetch the tokens of the other principals; raises as ``second_token`` does."""
        self.second_token()
        self.reader_token()

    def second_token(self) -> str | None:
        """Return the second principal's token, fetched if need be; None without such a principal.

        Raises TargetUnusable where the token endpoint gives none, CredentialsEnded if it gave one
        before.
        """
        return self._token_of(self._credentials.second, "--second-credential")

    def reader_token(self) -> str | None:
        """Return the token of the principal who may only read, as ``second_token`` does."""
        return self._token_of(self._credentials.reader, "--reader-credential")

    def _token_of(self, bearer: BearerAuth, option: str) -> str | None:
        with self._told_if_refused(bearer, option):
            token = drive(bearer.current_token(), partial(self._answer_with_token, Step.PROBE))
        self._credentials.hide()
        return token

    def shows_own(self, exchange: Exchange) -> bool:
        """Return whether a request that shows credentials shows the run's, and not another's."""
        return self._credentials.are_own(exchange.request_headers)

    def stop_retrying(self) -> None:
        """Allow only one more unanswered request; after it none is sent."""
        self._retries_stopped = True

    def send(self, wire: Wire, record: Callable[[Exchange], object]) -> Exchange:
        """Send a request and return its exchange; every attempt is recorded.

        Raises Unreachable when no usable answer came, KeyboardInterrupt once the run is stopped.
        """
        self.guard(wire)
        shows_token = self._credentials.are_shown(wire.operation, wire.headers)
        waited, attempts = 0.0, 0
        doubt: Trouble | None = None
        broke: Exchange | None = None
        # A request that cleans up may be sent twice: a second removal changes nothing.
        again = wire.repeatable or wire.step is Step.UNDO
        while True:
            if self._silent:
                raise self._lost(wire, "not sent, nothing answers any more")
            self._keep_pace(wire, again=attempts > 0)
            exchange = self._attempt(wire, record, renew=shows_token)
            attempts += 1
            trouble = trouble_of(exchange)
            broke = exchange if broke_off(exchange) else broke
            if trouble is None:
                if exchange.status == 401 and shows_token:
                    self._expect_token_to_live(wire, record)
                if doubt and not again and is_uncertain(doubt, exchange):
                    raise self._lost(wire, f"{doubt.words}, then 404", broke)
                if exchange.status == 200 and shows_token and wire.method in {"GET", "HEAD"}:
                    self._proven = wire
                return exchange
            doubt = trouble if trouble.may_be_applied else doubt
            method = "GET" if again else wire.method
            wait = next_wait(trouble, method, attempts, waited)
            if wait is None or self._retries_stopped:
                self._silent = self._retries_stopped
                raise self._lost(wire, trouble.words, broke)
            if trouble.throttled:
                self._pace.hold(wait)
            self._wait(wire.step, wait)
            waited += wait

    def send_unread(self, wire: Wire, record: Callable[[Exchange], object]) -> None:
        """Send a request once, and close its connection before the answer is read.

        It is recorded as one without an answer. Raises Unreachable where it could not be sent, and
        else as ``send``.
        """
        self.guard(wire)
        if self._silent:
            raise self._lost(wire, "not sent, nothing answers any more")
        self._keep_pace(wire, again=False)
        exchange = self._attempt(wire, record, renew=False, unread=True)
        trouble = trouble_of(exchange)
        if trouble is None or not trouble.may_be_applied:
            raise self._lost(wire, trouble.words if trouble else "the answer was read")

    def _lost(self, wire: Wire, words: str, broke: Exchange | None = None) -> Unreachable:
        return Unreachable(self.redactor.text(f"{wire.method} {wire.url}: {words}"), broke)

    def _keep_pace(self, wire: Wire, *, again: bool) -> None:
        """Wait for this request's turn.

        Raises KeyboardInterrupt for a request that is not sent because the run was stopped.
        """
        if self.stopped.is_set() and wire.step is not Step.UNDO:
            raise KeyboardInterrupt
        if seconds := self._pace.take_turn(again=again):
            self._wait(wire.step, seconds)

    def pause(self, seconds: float) -> None:
        """Wait before a request is sent again; raises KeyboardInterrupt if the run is stopped."""
        self._wait(Step.DO, seconds)

    def _wait(self, step: Step, seconds: float) -> None:
        if self._sleep is not None:
            self._sleep(seconds)
        elif step is Step.UNDO:
            time.sleep(seconds)
        else:
            self.stopped.wait(seconds)
        if self.stopped.is_set() and step is not Step.UNDO:
            raise KeyboardInterrupt

    def _attempt(
        self,
        wire: Wire,
        record: Callable[[Exchange], object],
        *,
        renew: bool,
        unread: bool = False,
    ) -> Exchange:
        """Send a request once, or again with a new token after a 401 if ``renew``; record it.

        An ``unread`` answer is not waited for.
        """
        headers = self._headers(wire)
        drafted, given = _drafted(wire, headers), {name.lower() for name in headers}
        try:
            request = httpx.Request(wire.method, wire.url, headers=headers, content=wire.body)
        except (httpx.InvalidURL, UnicodeError) as error:
            # A prefix, page token or ETag of the catalog may be text that no request can carry.
            self._credentials.hide()
            unsent = replace(drafted, error=f"{UNSENDABLE}: {error}")
            record(unsent)
            return unsent
        sent: list[Exchange] = []

        def answer(asked: httpx.Request) -> httpx.Response | None:
            if asked is not request:
                return self._answer_with_token(wire.step, asked)
            if sent:
                self._keep_pace(wire, again=True)
            self._credentials.hide()
            exchange = self._pool.send(drafted, asked, given, unread=unread)
            record(exchange)
            sent.append(exchange)
            return as_response(exchange) if renew and exchange.status == 401 else None

        flow = self._credentials.flow(wire.operation, wire.headers).sync_auth_flow(request)
        with self._told_if_refused(self._credentials.own, "--credential and --oauth2-server-uri"):
            drive(flow, answer)
        return sent[-1]

    # ---- credentials

    def _expect_token_to_live(self, wire: Wire, record: Callable[[Exchange], object]) -> None:
        """Raise CredentialsEnded if a 401 came because the token has expired.

        It has expired if a request that was answered 200 with it before is now answered 401 as
        well.
        """
        proven, token = self._proven, self._credentials.own.token
        if self._ended is not None and self._ended[0] == token:
            raise CredentialsEnded(self._ended[1])
        if proven is None:
            return
        probe = replace(proven, check=wire.check, ordinal=wire.ordinal, step=Step.PROBE)
        if self._attempt(probe, record, renew=False).status == 401:
            words = self.redactor.text(
                f"{proven.method} {proven.url} is answered 401 and was answered 200 before: the "
                "token is not accepted any more; give a fresh one with --token, or --credential, "
                "with which it is renewed"
            )
            self._ended = token, words
            raise CredentialsEnded(words)

    def _headers(self, wire: Wire) -> dict[str, str]:
        every = {"Accept": "application/json"}
        own = {} if wire.body is None else {"Content-Type": "application/json"}
        if self._credentials.own.identifies:
            # The flow replaces this header with the token that is valid by then.
            own["Authorization"] = f"Bearer {self._credentials.own.token or ''}"
        return _merged(every, self.target.headers, own, wire.headers)

    def _answer_with_token(self, step: Step, asked: httpx.Request) -> httpx.Response:
        """Send a request for a token, with retries; nothing of this is recorded."""
        wire = Wire("", 0, step, "getToken", asked.method, str(asked.url), {}, asked.read())
        drafted = _drafted(wire, {})
        waited, attempts = 0.0, 0
        while True:
            exchange = self._pool.send(drafted, asked)
            attempts += 1
            trouble = trouble_of(exchange)
            if trouble is None:
                self.redactor.learn(exchange.response_body)
                return as_response(exchange)
            # A second request for a token does no harm.
            wait = next_wait(trouble, "GET", attempts, waited)
            if wait is None:
                raise self._lost(wire, f"the token endpoint gave no answer: {trouble.words}")
            self._wait(step, wait)
            waited += wait

    @contextlib.contextmanager
    def _told_if_refused(self, bearer: BearerAuth, options: str) -> Iterator[None]:
        try:
            yield
        except TokenRefused as refused:
            words = self.redactor.text(str(refused))
            if bearer.token is not None:
                told = f"{words}, and has given a token for this credential before"
                raise CredentialsEnded(told) from None
            raise TargetUnusable(f"{words}: check {options}") from None


def _merged(*parts: Mapping[str, str]) -> dict[str, str]:
    """Return merged headers: a later one replaces an earlier one, an empty one removes it.

    Names are compared without case, as servers compare them.
    """
    merged: dict[str, tuple[str, str]] = {}
    for part in parts:
        merged |= {name.lower(): (name, value) for name, value in part.items()}
    return {name: value for name, value in merged.values() if value != ""}


def _drafted(wire: Wire, headers: Mapping[str, str]) -> Exchange:
    """Return the exchange of a request before it is sent."""
    return Exchange(
        check=wire.check,
        ordinal=wire.ordinal,
        step=wire.step,
        operation=wire.operation,
        method=wire.method,
        url=wire.url,
        request_headers=tuple(headers.items()),
        request_body=wire.body,
    )
