"""The wire to a catalog: sends requests, records every exchange, waits out the weather."""

import json
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx

from icecheck.exchange import Exchange, Redactor, Step
from icecheck.expect import Unreachable
from icecheck.target import Target

__all__ = ["Connection", "TargetUnusable", "Wire"]

_ATTEMPTS_MAX = 4
_WAIT_SECONDS_MAX = 20.0
_TOKEN_MARGIN_SECONDS = 10.0


class TargetUnusable(Exception):
    """There is no catalog to verify at this URL; the message says why, in one line."""


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

    Throttling (429, 503, a 400 whose headers say so) and transport errors are weather: waited out
    a few times, then ``Unreachable`` (verdict-rules 11). A request that may have been applied is
    never sent again: a 503 to a POST only with Retry-After, a lost answer only to GET and HEAD.
    """

    def __init__(
        self,
        target: Target,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.target = target
        self.redactor = Redactor(target.secrets)
        self.requests = 0
        self.latencies_ms: list[float] = []
        self._sleep = sleep
        self._token = target.token
        self._token_expires = float("inf")
        self._lock = threading.RLock()
        limit = target.requests_per_second
        self._interval_seconds = 0.0 if limit is None else 1 / limit
        self._next_at = 0.0
        self._http = httpx.Client(
            transport=transport,
            verify=_verification(target),
            timeout=target.timeout_seconds,
            follow_redirects=False,
            trust_env=False,
            limits=httpx.Limits(max_connections=64, max_keepalive_connections=64),
        )

    def close(self) -> None:
        """Close the pool."""
        self._http.close()

    def use_token(self, token: str) -> None:
        """Send this bearer token from now on (a config answer may carry one)."""
        self.redactor.add(token)
        self._token = token
        self._token_expires = float("inf")

    def send(self, wire: Wire, record: Callable[[Exchange], None]) -> Exchange:
        """Send a request and return its exchange; every attempt is recorded.

        Raises Unreachable when no usable answer came.
        """
        trouble = "no answer"
        for attempt in range(_ATTEMPTS_MAX):
            exchange = self._once(wire)
            record(exchange)
            if exchange.status is None:
                trouble = exchange.error or "no answer"
                # A DELETE whose answer was lost may have been applied: asking again would be
                # answered 404, and a correct catalog would be blamed.
                if wire.method not in {"GET", "HEAD"} and not _never_sent(trouble):
                    break
                wait: float | None = 0.1 * 2**attempt
            else:
                wait = _throttled_for(exchange)
                if wait is None:
                    return exchange
                trouble = f"throttled with {exchange.status}"
                if wire.method == "POST" and _may_be_half_done(exchange):
                    break
            if attempt + 1 < _ATTEMPTS_MAX:
                self._sleep(min(wait or 0.0, _WAIT_SECONDS_MAX))
        raise Unreachable(f"{wire.method} {wire.url}: {trouble}")

    def _keep_pace(self) -> None:
        """Wait for this request's turn, if the user has limited how many are sent."""
        if not self._interval_seconds:
            return
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next_at)
            self._next_at = turn + self._interval_seconds
        if turn > now:
            self._sleep(turn - now)

    def _once(self, wire: Wire) -> Exchange:
        self._keep_pace()
        headers = self._headers(wire)
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
        started = time.perf_counter()
        try:
            response = self._http.request(wire.method, wire.url, headers=headers, content=wire.body)
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
            response_body=response.content,
            elapsed_ms=elapsed_ms,
        )

    def _headers(self, wire: Wire) -> dict[str, str]:
        headers = {"Accept": "application/json", **self.target.headers}
        if wire.body is not None:
            headers["Content-Type"] = "application/json"
        if token := self._current_token():
            headers["Authorization"] = f"Bearer {token}"
        headers.update(wire.headers)
        return {name: value for name, value in headers.items() if value != ""}

    def _current_token(self) -> str | None:
        """Return the bearer token, fetching or refreshing it from a credential."""
        if not self.target.credential:
            return self._token
        with self._lock:
            if self._token is None or time.monotonic() > self._token_expires:
                self._fetch_token(self.target.credential)
            return self._token

    def _fetch_token(self, credential: str) -> None:
        client_id, colon, secret = credential.partition(":")
        form = {"grant_type": "client_credentials", "scope": self.target.scope}
        # A credential without a colon is a secret only, as clients read it.
        form |= (
            {"client_id": client_id, "client_secret": secret}
            if colon
            else {"client_secret": client_id}
        )
        endpoint = self.target.token_endpoint
        try:
            response = self._http.post(endpoint, data=form)
        except httpx.HTTPError as error:
            raise TargetUnusable(f"the token endpoint {endpoint} gave no answer: {error}") from None
        try:
            answer: Any = response.json() if response.status_code == 200 else None
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or not isinstance(answer.get("access_token"), str):
            said = f"answered {response.status_code}{_oauth_error(response)}"
            raise TargetUnusable(
                f"the token endpoint {endpoint} {said}: check --credential and --oauth2-server-uri"
            )
        self.use_token(answer["access_token"])
        lifetime = answer.get("expires_in")
        if isinstance(lifetime, int | float) and not isinstance(lifetime, bool):
            margin = min(_TOKEN_MARGIN_SECONDS, lifetime / 10)
            self._token_expires = time.monotonic() + lifetime - margin


def _verification(target: Target) -> ssl.SSLContext | bool:
    if target.ca_bundle is None:
        return target.url.lower().startswith("https")
    try:
        return ssl.create_default_context(cafile=target.ca_bundle)
    except (OSError, ssl.SSLError) as error:
        raise TargetUnusable(
            f"the CA bundle {target.ca_bundle} cannot be used ({error}): give a PEM file"
        ) from None


def _throttled_for(exchange: Exchange) -> float | None:
    """Return how long to wait before asking again, or None when the answer is an answer."""
    retry_after = exchange.header("retry-after")
    says_throttled = any(
        "throttl" in f"{name}: {value}".lower() for name, value in exchange.response_headers
    )
    throttled = exchange.status in {429, 503} or (exchange.status == 400 and says_throttled)
    if not throttled:
        return None
    try:
        return max(0.0, float(retry_after or 0.5))
    except ValueError:
        return 1.0


def _may_be_half_done(exchange: Exchange) -> bool:
    """Whether a refused request must not be sent again: a 503 that names no Retry-After."""
    return exchange.status == 503 and exchange.header("retry-after") is None


def _never_sent(trouble: str) -> bool:
    return trouble.startswith(("ConnectError", "ConnectTimeout", "PoolTimeout"))


def _oauth_error(response: httpx.Response) -> str:
    try:
        answer = json.loads(response.content)
    except ValueError:
        return ""
    error = answer.get("error") if isinstance(answer, dict) else None
    return f" ({error})" if isinstance(error, str) else ""
