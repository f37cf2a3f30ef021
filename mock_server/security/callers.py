"""Finds the caller of a request by its Authorization header; remembers it while a token lasts."""

import hmac
from enum import Enum

import msgspec

from icecheck.mock_server.core.clock import Clock
from icecheck.mock_server.core.identity import Identities
from icecheck.mock_server.security.settings import (
    CATALOG_SCOPE,
    Client,
    OAuth2Settings,
    Permissions,
)
from icecheck.mock_server.security.tokens import AccessToken, Tokens

_REMEMBERED_MAX = 4096
_SECONDS_DEFAULT = 3600


class Unknown(Enum):
    """The reason why the caller of a request is not known."""

    MISSING = "no bearer token"
    INVALID = "a token that this server did not give"
    EXPIRED = "a token whose time is over"


class Caller(msgspec.Struct, frozen=True):
    """The holder of a valid token; all of its `permissions` must permit a request.

    `expires_ms` is None for the server's own static token, which permits everything.
    """

    name: str
    scopes: tuple[str, ...] = ()
    permissions: tuple[Permissions, ...] = ()
    expires_ms: int | None = None


class Security:
    """The callers of one server: its static token, its clients, and the tokens they were given."""

    __slots__ = ("_known", "_token", "clock", "is_open", "oauth2", "restricts", "tokens")

    def __init__(
        self,
        clock: Clock,
        identities: Identities,
        *,
        token: str | None = None,
        oauth2: OAuth2Settings | None = None,
    ) -> None:
        self.clock = clock
        self.oauth2 = oauth2
        self.tokens = Tokens(identities)
        self.is_open = token is None and oauth2 is None
        self.restricts = oauth2 is not None and oauth2.restricts
        self._token = token
        self._known: dict[str, Caller] = {}

    @property
    def expired_status(self) -> int:
        """The status of answers to an expired token."""
        return 401 if self.oauth2 is None else self.oauth2.expired_status

    @property
    def token_seconds(self) -> int:
        """The lifetime of a new token in seconds."""
        return _SECONDS_DEFAULT if self.oauth2 is None else self.oauth2.token_seconds

    @property
    def exchange_seconds(self) -> int:
        """How many seconds after its end a client may exchange its own token."""
        return _SECONDS_DEFAULT if self.oauth2 is None else self.oauth2.exchange_seconds

    def identify(self, authorization: str | None) -> Caller | Unknown:
        """Return the caller for this Authorization header."""
        if not authorization:
            return Unknown.MISSING
        known = self._known  # what is read while tokens are revoked is not remembered after that
        caller = known.get(authorization)
        if caller is None:
            found = self._read(authorization)
            if isinstance(found, Unknown):
                return found
            if len(known) >= _REMEMBERED_MAX:
                known.clear()
            caller = known[authorization] = found
        if caller.expires_ms is not None and caller.expires_ms <= self.clock.now_ms():
            return Unknown.EXPIRED
        return caller

    def name_of(self, authorization: str | None) -> str:
        """Return the name of the caller for this Authorization header; "" if it is not known."""
        caller = self.identify(authorization)
        return "" if isinstance(caller, Unknown) else caller.name

    def token_for(self, client_id: str, seconds: int | None = None) -> str:
        """Return a token for the client of this id; KeyError if there is none."""
        client = None if self.oauth2 is None else self.oauth2.client(client_id)
        if client is None:
            raise KeyError(f"no such client: {client_id}")
        return self.access_token(client, seconds)

    def access_token(self, client: Client, seconds: int | None = None) -> str:
        """Return a token for a client without the token endpoint, for tests of its permissions."""
        issued = self.clock.now_ms() // 1000
        lasting = self.token_seconds if seconds is None else seconds
        scopes = (CATALOG_SCOPE,) if client.scopes is None else client.scopes
        token = AccessToken(client.id, client.id, " ".join(scopes), issued, issued + lasting)
        return self.tokens.sign(token)

    def revoke_tokens(self) -> None:
        """Refuse from now on every token that the server gave, except the static one."""
        self.tokens.revoke_all()
        self._known = {}

    def client_of(self, token: AccessToken) -> Client | None:
        """Return the client that a token was given to; on an open server any client is accepted."""
        if self.oauth2 is None:
            return Client(token.client_id, "-")
        return self.oauth2.client(token.client_id)

    def _read(self, authorization: str) -> Caller | Unknown:
        scheme, _, text = authorization.partition(" ")
        if scheme.lower() != "bearer" or not text:
            return Unknown.MISSING
        if self._token is not None and hmac.compare_digest(text.encode(), self._token.encode()):
            return Caller("the static token")
        token = self.tokens.read(text)
        client = None if token is None else self.client_of(token)
        if token is None or client is None:
            return Unknown.INVALID
        permissions = [client.permissions]
        if self.oauth2 is not None and token.subject in self.oauth2.users:
            permissions.append(self.oauth2.users[token.subject])
        return Caller(
            token.subject,
            token.scopes,
            tuple(each for each in permissions if each.restricts),
            token.expires_seconds * 1000,
        )
