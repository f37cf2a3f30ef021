"""Bearer tokens as an httpx auth flow: fetched with a credential, renewed when they expire."""

import contextlib
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlencode

import httpx

from icecheck.targets.target import can_be_sent
from icecheck.wire.json_text import read_json

_MARGIN_SECONDS = 10.0
_LIFETIME_SECONDS_MAX = 366 * 86_400

Result = TypeVar("Result")
Flow = Generator[httpx.Request, httpx.Response, Result]


class TokenRefused(Exception):
    """A token cannot be fetched or sent; the message says why and holds no token."""


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """A credential (ID:SECRET, or a secret only) and the endpoint that issues a token for it."""

    credential: str = field(repr=False)
    endpoint: str
    scope: str

    def request(self) -> httpx.Request:
        """Return the request for a token, with OAuth2's grant ``client_credentials``."""
        client_id, colon, secret = self.credential.partition(":")
        form = {"grant_type": "client_credentials", "scope": self.scope}
        # A credential without a colon is only a secret; clients read it the same way.
        form |= (
            {"client_id": client_id, "client_secret": secret}
            if colon
            else {"client_secret": client_id}
        )
        media = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        content = urlencode(form).encode()
        return httpx.Request("POST", self.endpoint, headers=media, content=content)


class BearerAuth(httpx.Auth):
    """Sends a bearer token with each request; several threads may share it.

    With ``source`` a token is fetched when there is none or when it has expired by the clock
    ``now`` (seconds), and once more when a request with it is answered 401. Without a token and
    without a source, requests are sent unchanged. Raises TokenRefused where the source gives no
    token.
    """

    def __init__(
        self,
        token: str | None = None,
        source: ClientCredentials | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.source = source
        self._now = now
        self._lock = threading.Lock()
        self._token = token
        self._expires = float("inf")

    @property
    def token(self) -> str | None:
        """The token that was given or fetched last; it may have expired."""
        return self._token

    @property
    def identifies(self) -> bool:
        """Whether requests get a token."""
        return bool(self._token or self.source)

    def use(self, token: str, lifetime_seconds: float = float("inf")) -> None:
        """Send this token from now on.

        Raises TokenRefused for one that no header can carry.
        """
        if not can_be_sent(token):
            raise TokenRefused(
                "the catalog gave a token that cannot be sent: only printable ASCII is possible "
                "in it, without blanks at its ends"
            )
        self._token, self._expires = token, self._now() + lifetime_seconds

    def sync_auth_flow(self, request: httpx.Request) -> Flow[None]:
        """Yield a request for a token if one is due, then the request, after a 401 once again."""
        token = yield from self.current_token()
        if not token:
            yield request
            return
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code == 401 and self.source is not None:
            token = yield from self.current_token(refused=token)
            request.headers["Authorization"] = f"Bearer {token}"
            yield request

    def current_token(self, refused: str | None = None) -> Flow[str | None]:
        """Return a token that has not expired and is not ``refused``; yield the request for it.

        A thread that waits while another fetches a token gets that token.
        """
        if self.source is None:
            return self._token
        with self._lock:
            if not self._token or self._token == refused or self._now() >= self._expires:
                answer = yield self.source.request()
                answer.read()
                self._take(answer, self.source.endpoint)
            return self._token

    def _take(self, response: httpx.Response, endpoint: str) -> None:
        answer = _object(response.content)
        token = answer.get("access_token")
        if response.status_code != 200 or not isinstance(token, str) or not token:
            error = answer.get("error")
            why = f" ({error})" if isinstance(error, str) else ""
            raise TokenRefused(
                f"the token endpoint {endpoint} answered {response.status_code}{why}"
            )
        self.use(token, _lifetime_seconds(answer.get("expires_in")))


def drive(
    flow: Flow[Result], answer: Callable[[httpx.Request], httpx.Response | None]
) -> Result | None:
    """Run a flow to its end and return its result; None if ``answer`` ends it by returning None.

    ``answer`` sends a request of the flow and returns the response, whose body has been read.
    """
    with contextlib.closing(flow):
        try:
            asked = next(flow)
            while (response := answer(asked)) is not None:
                asked = flow.send(response)
        except StopIteration as end:
            result: Result = end.value
            return result
    return None


def _lifetime_seconds(told: object) -> float:
    """Return for how long a token is used; it ends a little before the token expires."""
    if isinstance(told, bool) or not isinstance(told, int | float):
        return float("inf")
    lifetime = min(told, _LIFETIME_SECONDS_MAX)
    return lifetime - min(_MARGIN_SECONDS, lifetime / 10)


def _object(body: bytes) -> dict[str, object]:
    """Return a body as a JSON object, or an empty dict for anything else."""
    try:
        answer = read_json(body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}
