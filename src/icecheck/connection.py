"""The wire to a catalog: sends requests, records every exchange, waits out the weather."""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import httpx

from icecheck.answers import ACCEPTED_ENCODING, read_answer
from icecheck.contract import load
from icecheck.exchange import Exchange, Step
from icecheck.json_text import read_json
from icecheck.redaction import Redactor
from icecheck.signing import Signer
from icecheck.target import Principal, Target
from icecheck.transport import SocketTransport
from icecheck.unreachable import CredentialsEnded, Unreachable
from icecheck.weather import UNSENDABLE, Trouble, is_uncertain, next_wait, trouble_of

__all__ = ["Connection", "TargetUnusable", "Wire"]

_TOKEN_MARGIN_SECONDS = 10.0
_LIFETIME_SECONDS_MAX = 366 * 86_400


class TargetUnusable(Exception):
    """There is no catalog to verify at this URL; the message says why, in one line.

    ``other_url`` is where the same server answers, if only the scheme is wrong.
    """

    def __init__(self, words: str, *, other_url: str | None = None) -> None:
        self.other_url = other_url
        super().__init__(words)


@dataclass(frozen=True, slots=True)
class Wire:
    """What a request is made of before it is sent: everything but the connection."""

    check: str
    ordinal: int
    step: Step
    operation: str | None
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None


class Connection:
    """One HTTP connection pool to the target, with its credentials; safe to share by threads.

    Bad weather (``icecheck.weather``) is waited out for a while, by all who share the connection
    if the catalog throttles; then it is ``Unreachable`` (verdict-rules 11). A 401 to a token that
    was accepted before gets a new one, or is ``CredentialsEnded``. Once ``stopped`` is set,
    nothing is sent but what cleans up, and whoever wants to is interrupted.
    """

    def __init__(
        self,
        target: Target,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] | None = None,
        now: Callable[[], float] = time.monotonic,
        redactor: Redactor | None = None,
    ) -> None:
        self.redactor = redactor or Redactor()
        self.follow(target)
        self.requests = 0
        self.latencies_ms: list[float] = []
        self._sleep = sleep
        self._now = now
        self._token = target.token
        self._token_expires = float("inf")
        self._lock = threading.RLock()
        self._second_token = None if target.second is None else target.second.token
        self.redactor.add(self._second_token or "", of_second=True)
        self._signer = None if target.sigv4 is None else Signer(target.sigv4)
        limit = target.requests_per_second
        self._interval_seconds = 0.0 if limit is None else 1 / limit
        self._next_at = 0.0
        self._hold_until = 0.0
        self._proven: Wire | None = None
        self._ended = ""
        self.stopped = threading.Event()
        self.guard: Callable[[Wire], None] = lambda _: None
        self._resigned = False
        self._silent = False
        self._http = httpx.Client(
            transport=transport or SocketTransport(target),
            headers={"Accept-Encoding": ACCEPTED_ENCODING},
            timeout=target.timeout_seconds,
            follow_redirects=False,
            trust_env=False,
        )

    def close(self) -> None:
        """Close the pool."""
        self._http.close()

    def follow(self, target: Target) -> None:
        """Speak to the target as its config tells clients to; secrets in that are secret too."""
        self.redactor.know(target.secrets, target.headers)
        self.target = target

    def use_token(self, token: str) -> None:
        """Send this bearer token from now on (a config answer may carry one).

        Raises TargetUnusable for one that no header can carry.
        """
        _refuse_unsendable(token)
        self.redactor.add(token)
        self._token, self._ended = token, ""
        self._token_expires = float("inf")

    def resign(self) -> None:
        """Expect no answer any more: one request may still go unanswered, then none is sent."""
        self._resigned = True

    def send(self, wire: Wire, record: Callable[[Exchange], None]) -> Exchange:
        """Send a request and return its exchange; every attempt is recorded.

        Raises Unreachable when no usable answer came, KeyboardInterrupt once the run is stopped.
        """
        self.guard(wire)
        waited, attempts, renewed = 0.0, 0, False
        doubt: Trouble | None = None
        while True:
            if self._silent:
                raise self._lost(wire, "not sent, nothing answers any more")
            self._keep_pace(wire, again=attempts > 0)
            exchange = self._once(wire, self._headers(wire))
            record(exchange)
            attempts += 1
            trouble = trouble_of(exchange)
            if trouble is None:
                if exchange.status == 401 and self._is_ours(wire):
                    if not renewed and self._renewed(exchange):
                        renewed = True
                        continue
                    self._expect_token_to_live(wire, record)
                if doubt and wire.step is not Step.UNDO and is_uncertain(doubt, exchange):
                    raise self._lost(wire, f"{doubt.words}, then 404")
                self._remember(wire, exchange)
                return exchange
            doubt = trouble if trouble.may_be_applied else doubt
            # What cleans up may be sent twice: what is gone already is gone.
            method = "GET" if wire.step is Step.UNDO else wire.method
            wait = next_wait(trouble, method, attempts, waited)
            if wait is None or self._resigned:
                self._silent = self._resigned
                raise self._lost(wire, trouble.words)
            if trouble.throttled:
                self._hold_until = max(self._hold_until, self._now() + wait)
            self._wait(wire, wait)
            waited += wait

    def _lost(self, wire: Wire, words: str) -> Unreachable:
        return Unreachable(self.redactor.text(f"{wire.method} {wire.url}: {words}"))

    def _keep_pace(self, wire: Wire, *, again: bool) -> None:
        """Wait for this request's turn: the user limits how many are sent, the catalog throttles.

        Who sends a request again has waited as long as the catalog asked.
        """
        if self.stopped.is_set() and wire.step is not Step.UNDO:
            raise KeyboardInterrupt
        if not self._interval_seconds and (again or not self._hold_until):
            return
        with self._lock:
            now = self._now()
            turn = max(now, self._next_at, 0.0 if again else self._hold_until)
            self._next_at = turn + self._interval_seconds
        if turn > now:
            self._wait(wire, turn - now)

    def _wait(self, wire: Wire, seconds: float) -> None:
        if self._sleep is not None:
            self._sleep(seconds)
        elif wire.step is Step.UNDO:
            time.sleep(seconds)
        else:
            self.stopped.wait(seconds)
        if self.stopped.is_set() and wire.step is not Step.UNDO:
            raise KeyboardInterrupt

    def _once(self, wire: Wire, headers: Mapping[str, str]) -> Exchange:
        """Send a request once; what came in place of an answer is the exchange's ``error``."""
        sent = Exchange(
            check=wire.check,
            ordinal=wire.ordinal,
            step=wire.step,
            operation=wire.operation,
            method=wire.method,
            url=wire.url,
            request_headers=tuple(headers.items()),
            request_body=wire.body,
        )
        try:
            headers = self._signed(wire, headers)
            request = self._http.build_request(
                wire.method, wire.url, headers=dict(headers), content=wire.body
            )
        except (httpx.InvalidURL, UnicodeError) as error:
            # A catalog may name a prefix, a page or a tag that no request can carry.
            return replace(sent, error=f"{UNSENDABLE}: {error}")
        sent = replace(sent, request_headers=tuple(headers.items()))
        started = time.perf_counter()
        try:
            with contextlib.closing(self._http.send(request, stream=True)) as response:
                body = read_answer(response, started + self.target.timeout_seconds)
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

    # ---- credentials

    def _is_ours(self, wire: Wire) -> bool:
        """Whether a request goes with the run's own token: checks may send another, or none."""
        own = not any(name.lower() == "authorization" for name in wire.headers)
        given = any(name.lower() == "authorization" for name in self.target.headers)
        has_token = self._token is not None or given
        return own and has_token and wire.operation not in load().before_config

    def _remember(self, wire: Wire, exchange: Exchange) -> None:
        """Keep a request that only reads and that the catalog accepted with the run's token."""
        if wire.method in {"GET", "HEAD"} and exchange.status == 200 and self._is_ours(wire):
            self._proven = wire

    def _renewed(self, refused: Exchange) -> bool:
        """Let the next request fetch a token if there is a credential; return whether there is."""
        if not self.target.credential:
            return False
        with self._lock:
            if ("Authorization", f"Bearer {self._token}") in refused.request_headers:
                self._token_expires = float("-inf")
        return True

    def _expect_token_to_live(self, wire: Wire, record: Callable[[Exchange], None]) -> None:
        """Tell a 401 that is an answer from one because the token has ended.

        It has ended if what was answered 200 with it before is now answered 401 as well.
        """
        proven = self._proven
        if self._ended:
            raise CredentialsEnded(self._ended)
        if proven is None:
            return
        probe = replace(proven, check=wire.check, ordinal=wire.ordinal, step=Step.PROBE)
        seen = self._once(probe, self._headers(probe))
        record(seen)
        if seen.status == 401:
            self._ended = self.redactor.text(
                f"{proven.method} {proven.url} is answered 401 and was answered 200 before: the "
                "token is not accepted any more; give a fresh one with --token, or --credential, "
                "with which it is renewed"
            )
            raise CredentialsEnded(self._ended)

    def _headers(self, wire: Wire) -> dict[str, str]:
        headers = {"Accept": "application/json", **self.target.headers}
        if wire.body is not None:
            headers["Content-Type"] = "application/json"
        if token := self._current_token():
            headers["Authorization"] = f"Bearer {token}"
        headers.update(wire.headers)
        return {name: value for name, value in headers.items() if value != ""}

    def _signed(self, wire: Wire, headers: Mapping[str, str]) -> Mapping[str, str]:
        # Nobody signs what comes before a token, nor what a check sends as a stranger.
        if self._signer is None or wire.operation == "getToken" or not _is_known(wire):
            return headers
        self.redactor.add(*self._signer.secrets)
        return self._signer.signed(wire.method, wire.url, dict(headers), wire.body)

    def second_token(self) -> str | None:
        """Return the second principal's token, had with its credential if need be; None for nobody.

        Raises TargetUnusable where the token endpoint gives none.
        """
        second = self.target.second or Principal()
        with self._lock:
            if self._second_token is None and second.credential:
                answer = self._token_answer(self._form(second.credential), second=True)
                self._second_token = str(answer["access_token"])
                _refuse_unsendable(self._second_token)
                self.redactor.add(self._second_token, of_second=True)
            return self._second_token

    def _current_token(self) -> str | None:
        """Return the bearer token, fetching or refreshing it from a credential."""
        if not self.target.credential:
            return self._token
        with self._lock:
            if self._token is None or time.monotonic() > self._token_expires:
                self._fetch_token(self.target.credential)
            return self._token

    def _form(self, credential: str) -> bytes:
        client_id, colon, secret = credential.partition(":")
        form = {"grant_type": "client_credentials", "scope": self.target.scope}
        # A credential without a colon is a secret only, as clients read it.
        form |= (
            {"client_id": client_id, "client_secret": secret}
            if colon
            else {"client_secret": client_id}
        )
        return urlencode(form).encode()

    def _fetch_token(self, credential: str) -> None:
        answer = self._token_answer(self._form(credential))
        self.use_token(answer["access_token"])
        lifetime = answer.get("expires_in")
        if isinstance(lifetime, int | float) and not isinstance(lifetime, bool):
            lifetime = min(lifetime, _LIFETIME_SECONDS_MAX)
            margin = min(_TOKEN_MARGIN_SECONDS, lifetime / 10)
            self._token_expires = time.monotonic() + lifetime - margin

    def _token_answer(self, form: bytes, *, second: bool = False) -> dict[str, Any]:
        """Ask the token endpoint; nothing of this is recorded."""
        endpoint = self.target.token_endpoint
        media = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        wire = Wire("", 0, Step.PROBE, "getToken", "POST", endpoint, {}, form)
        waited, attempts = 0.0, 0
        while True:
            exchange = self._once(wire, media)
            attempts += 1
            trouble = trouble_of(exchange)
            if trouble is None:
                break
            # Asking for a token twice does no harm.
            wait = next_wait(trouble, "GET", attempts, waited)
            if wait is None:
                raise self._lost(wire, f"the token endpoint gave no answer: {trouble.words}")
            self._wait(wire, wait)
            waited += wait
        self.redactor.learn(exchange.response_body)
        try:
            answer: Any = read_json(exchange.response_body) if exchange.status == 200 else None
        except ValueError:
            answer = None
        if isinstance(answer, dict) and isinstance(answer.get("access_token"), str):
            return answer
        said = f"answered {exchange.status}{_oauth_error(exchange.response_body)}"
        words = self.redactor.text(f"the token endpoint {endpoint} {said}")
        if second:
            raise TargetUnusable(f"{words}: check --second-credential")
        if self._token is not None:
            raise CredentialsEnded(f"{words}, and has given a token for this credential before")
        raise TargetUnusable(f"{words}: check --credential and --oauth2-server-uri")


def _refuse_unsendable(token: str) -> None:
    if not (token.isascii() and token.isprintable()):
        raise TargetUnusable(
            "the catalog gave a token that cannot be sent: only printable ASCII is possible in it"
        )


def _is_known(wire: Wire) -> bool:
    """Whether a request says whose it is; an empty header takes the identity away."""
    return wire.headers.get("Authorization") != ""


def _oauth_error(body: bytes) -> str:
    try:
        answer = read_json(body)
    except ValueError:
        return ""
    error = answer.get("error") if isinstance(answer, dict) else None
    return f" ({error})" if isinstance(error, str) else ""
