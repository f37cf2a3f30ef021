"""The clients of a server: their secrets, their permissions, and the lifetime of their tokens."""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from icecheck.contract import Action
from icecheck.mock_server.protocol.served_contract import KNOWN

CATALOG_SCOPE = "catalog"
"""The only scope that the document names (L4952); it permits the catalog's routes."""

CLIENT_CREDENTIALS = "client_credentials"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"  # noqa: S105 - a grant's name

SIGNING = "signRequest"
"""The operation that signs requests to the object store."""

_GRANTING = frozenset({"loadTable", "loadCredentials"})
"""The operations whose answers let a caller read a table's files."""

_OPEN_TO_CALLERS = KNOWN.before_config
_UNGUARDED = frozenset(
    id_ for id_ in _OPEN_TO_CALLERS if KNOWN.operations[id_].facts.action is Action.AUTHENTICATE
)


def checked_operations(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names as given; ValueError for one that is no operationId of a server."""
    given = (names,) if isinstance(names, str) else tuple(names)
    if given:
        known = KNOWN.operations
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ValueError(f"there is no operation {unknown[0]!r}; there are {', '.join(known)}")
    return given


class Permissions(msgspec.Struct, frozen=True, kw_only=True):
    """The restrictions of a caller; nothing is forbidden by default.

    - `read_only`: every operation that changes something is forbidden.
    - `denied_namespaces`: every request that names one of these or a descendant is forbidden. Each
      is its levels as a tuple, or text with dots between them. They close names: in the object
      store a caller may choose a location where a denied namespace has its tables.
    - `denied_operations`: operationIds. Where `loadTable` or `loadCredentials` is denied, so is
      `signRequest`, which signs requests to a table's files.
    """

    read_only: bool = False
    denied_namespaces: tuple[tuple[str, ...] | str, ...] = ()
    denied_operations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse (ValueError) an operation that does not exist or a namespace without a name."""
        denied = frozenset(checked_operations(self.denied_operations))
        if denied & _UNGUARDED:
            raise ValueError("getToken is asked by whoever is still unknown: it cannot be denied")
        levels = tuple(
            tuple(each.split(".")) if isinstance(each, str) else tuple(each)
            for each in self.denied_namespaces
        )
        if not all(each and all(each) for each in levels):
            raise ValueError("a denied namespace needs a name on every level")
        msgspec.structs.force_setattr(self, "denied_namespaces", levels)

    @classmethod
    def nothing(cls) -> "Permissions":
        """Return permissions for a token and the configuration, and for nothing else."""
        return cls(denied_operations=tuple(sorted({*KNOWN.operations} - _OPEN_TO_CALLERS)))

    @property
    def restricts(self) -> bool:
        """Whether anything is forbidden."""
        return self.read_only or bool(self.denied_namespaces or self.denied_operations)

    def denies_operation(self, operation_id: str) -> bool:
        """Return whether an operation is denied; to sign for a table is to let read its files."""
        denied = frozenset(self.denied_operations)
        return operation_id in denied or (operation_id == SIGNING and bool(_GRANTING & denied))

    def denies_namespace(self, namespace: tuple[str, ...]) -> bool:
        """Return whether a namespace or one of its ancestors is denied."""
        return any(namespace[: len(denied)] == denied for denied in self.denied_namespaces)


class Client(msgspec.Struct, frozen=True):
    """One OAuth2 client.

    `scopes` are those that it may ask for; None permits any, because clients of catalogs with
    scopes of their own need that. A client may only use the grants in `grant_types`.
    """

    id: str
    secret: str
    scopes: tuple[str, ...] | None = None
    permissions: Permissions = Permissions()
    grant_types: tuple[str, ...] = (CLIENT_CREDENTIALS, TOKEN_EXCHANGE)

    def __post_init__(self) -> None:
        """Refuse (ValueError) values that no request could carry."""
        if not self.secret or ":" in self.id:
            raise ValueError("a client needs a secret, and an id without a colon")

    def __repr__(self) -> str:
        """Show everything but the secret."""
        return f"Client({self.id!r}, scopes={self.scopes!r}, permissions={self.permissions!r})"


class OAuth2Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The token endpoint of a server, and the validity of its tokens.

    - `token_seconds`: how long a token is valid, on the server's clock.
    - `expired_status`: the status of answers to an expired token; the document prefers 401 (L4637).
    - `exchange_seconds`: how long after its end a client may still exchange its own token.
    - `required_scope`: if given, a token without it is refused with 403.
    - `users`: the permissions of the users in whose name clients get tokens, by the subject of the
      token that is exchanged; permissions that the client lacks are denied to the users too.
    """

    clients: tuple[Client, ...]
    token_seconds: int = 3600
    expired_status: Literal[401, 419] = 401
    exchange_seconds: int = 3600
    required_scope: str | None = None
    users: Mapping[str, Permissions] = {}

    def __post_init__(self) -> None:
        """Refuse (ValueError) settings that make no sense."""
        msgspec.structs.force_setattr(self, "clients", tuple(self.clients))
        names = [client.id for client in self.clients]
        if not names or len(set(names)) < len(names):
            raise ValueError("OAuth2 needs at least one client, and each only once")
        if self.token_seconds < 1 or self.exchange_seconds < 0:
            raise ValueError("token_seconds must be at least 1, exchange_seconds at least 0")
        if self.expired_status not in {401, 419}:
            raise ValueError("expired_status is 401 or 419")

    @property
    def restricts(self) -> bool:
        """Whether any caller is restricted."""
        everybody = [*(client.permissions for client in self.clients), *self.users.values()]
        return bool(self.required_scope) or any(each.restricts for each in everybody)

    def client(self, client_id: str) -> Client | None:
        """Return the client of this id, or None."""
        return next((client for client in self.clients if client.id == client_id), None)
