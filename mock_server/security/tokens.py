"""Access tokens: signed JWTs whose times are those of the server's clock."""

import base64
import binascii
import hashlib
import re
from typing import Any

import msgspec

from icecheck.mock_server.core.identity import Identities

_ISSUER = "icecheck"
_ALGORITHM = "HS256"
_TOKEN_CHARACTERS_MAX = 8192
_SAML_SUBJECT = re.compile(r"<(?:[\w.-]+:)?(?:NameID|NameIdentifier)(?:\s[^<>]*)?>([^<]+)</")
# Times and audiences are judged here, not by the library: it would use the system's clock.
_UNJUDGED = {
    f"verify_{claim}": False for claim in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")
}


class AccessToken(msgspec.Struct, frozen=True):
    """The claims of a token of this server; times are seconds since the epoch.

    `subject` is the user or, without one, the client itself.
    """

    client_id: str
    subject: str
    scope: str
    issued_seconds: int
    expires_seconds: int

    @property
    def scopes(self) -> tuple[str, ...]:
        """The single scopes."""
        return tuple(self.scope.split())


class Tokens:
    """Signs and reads the tokens of one server; those signed before `revoke_all` are invalid."""

    __slots__ = ("_generation", "_identities", "_key")

    def __init__(self, identities: Identities) -> None:
        self._identities = identities
        self._generation = -1
        self._key = b""
        self.revoke_all()

    def revoke_all(self) -> None:
        """Replace the key with which all tokens so far were signed."""
        self._generation += 1
        number = self._generation.to_bytes(4, "big")
        seed = self._identities.token_key
        self._key = hashlib.blake2b(number, key=seed, digest_size=32, person=b"jwt").digest()

    def sign(self, token: AccessToken) -> str:
        """Return the token as a JWT (RFC 9068 names for its claims)."""
        import jwt

        claims: dict[str, Any] = {
            "iss": _ISSUER,
            "sub": token.subject,
            "client_id": token.client_id,
            "scope": token.scope,
            "iat": token.issued_seconds,
            "exp": token.expires_seconds,
            "jti": self._identities.new_uuid(),
        }
        if token.subject != token.client_id:
            claims["act"] = {"sub": token.client_id}
        return jwt.encode(claims, self._key, algorithm=_ALGORITHM)

    def read(self, text: str) -> AccessToken | None:
        """Return the claims of a JWT of this server, expired or not; None for any other token."""
        if text.count(".") != 2 or len(text) > _TOKEN_CHARACTERS_MAX:
            return None
        import jwt

        try:
            claims = jwt.decode(text, self._key, algorithms=[_ALGORITHM], options=_options())
            return AccessToken(
                client_id=claims["client_id"],
                subject=claims["sub"],
                scope=claims["scope"],
                issued_seconds=claims["iat"],
                expires_seconds=claims["exp"],
            )
        except (jwt.PyJWTError, KeyError, ValueError, RecursionError):
            return None


def _options() -> Any:
    return dict(_UNJUDGED)


def foreign_subject(text: str, now_seconds: int) -> str | None:
    """Return the subject of a foreign token, or None if it cannot be read or has expired.

    The document lets users bring any kind of token, unsecured JWTs among them (L221): the signature
    cannot be checked here, so it is ignored. A JWT that falsely claims to be of this server is
    refused. SAML assertions are read as base64url, as RFC 8693 demands.
    """
    if len(text) > _TOKEN_CHARACTERS_MAX:
        return None
    return _jwt_subject(text, now_seconds) if text.count(".") == 2 else _saml_subject(text)


def _jwt_subject(text: str, now_seconds: int) -> str | None:
    try:
        claims = msgspec.json.decode(_base64url(text.split(".")[1]))
    except (ValueError, RecursionError):
        return None
    if not isinstance(claims, dict) or claims.get("iss") == _ISSUER:
        return None
    ends = claims.get("exp")
    if isinstance(ends, int | float) and ends <= now_seconds:
        return None
    subject = claims.get("sub")
    return subject if isinstance(subject, str) and subject else None


def _saml_subject(text: str) -> str | None:
    try:
        found = _SAML_SUBJECT.search(_base64url(text).decode())
    except ValueError:
        return None
    return found[1].strip() or None if found else None


def _base64url(text: str) -> bytes:
    padded = text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4)
    try:
        return base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
