"""Credentials of the object store: those of the server itself, and vended ones for some places.

A vended session token says itself what it permits, signed by the server: there is nothing to
remember, and nobody can make one.
"""

import binascii
import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode

import msgspec

from icecheck.mock_server.objects.places import Place
from icecheck.mock_server.objects.refusals import S3Refusal, access_denied

_DIGEST_BYTES = 20


class Grant(msgspec.Struct, frozen=True, array_like=True):
    """What vended credentials permit, and until when."""

    places: tuple[Place, ...]
    may_write: bool
    expires_ms: int


class Keys(msgspec.Struct, frozen=True):
    """Credentials as clients have them; those of the server itself have no token."""

    access_key_id: str
    secret_access_key: str
    session_token: str | None = None

    def __repr__(self) -> str:
        """Show no secret."""
        return f"Keys({self.access_key_id!r})"


class AccessKeys:
    """Makes the credentials of one server, and finds what stands behind those of a request."""

    __slots__ = ("_key", "root")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.root = self._keys("ICECHECKROOT", "root", None)

    def vend(self, grant: Grant) -> Keys:
        """Return credentials for a grant; the same ones for the same grant."""
        content = urlsafe_b64encode(msgspec.json.encode(grant)).decode()
        token = f"{content}.{self._digest('grant', content)}"
        return self._keys(f"ICECHECK{self._digest('id', token)[:12].upper()}", token, token)

    def behind(self, access_key_id: str, token: str | None) -> tuple[Keys, Grant | None]:
        """Return the credentials with this id, and their grant; None: everything is permitted.

        S3Refusal if there are none, or if the token is not theirs.
        """
        if token is None:
            if _same(access_key_id, self.root.access_key_id):
                return self.root, None
            raise S3Refusal(
                403, "InvalidAccessKeyId", "No such access key, or its session token is missing"
            )
        grant = self.granted_by(token)
        keys = self.vend(grant)
        if not _same(access_key_id, keys.access_key_id):
            raise S3Refusal(403, "InvalidAccessKeyId", "The session token is of another key")
        return keys, grant

    def granted_by(self, token: str) -> Grant:
        """Return the grant of a session token; S3Refusal if it is none of this server's."""
        content, _, digest = token.partition(".")
        if not _same(digest, self._digest("grant", content)):
            raise access_denied("The session token is none of this server's")
        try:
            return msgspec.json.decode(urlsafe_b64decode(content), type=Grant)
        except (binascii.Error, ValueError, msgspec.DecodeError):
            raise access_denied("The session token is none of this server's") from None

    def _keys(self, access_key_id: str, about: str, token: str | None) -> Keys:
        return Keys(access_key_id, self._digest("secret", about), token)

    def _digest(self, purpose: str, text: str) -> str:
        content = f"{purpose}\0{text}".encode(errors="surrogateescape")
        return hashlib.blake2b(content, key=self._key, digest_size=_DIGEST_BYTES).hexdigest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("latin-1", "replace"), other.encode("latin-1", "replace"))
