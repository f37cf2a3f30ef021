"""Takes secrets out of exchanges and of words about them, in one place."""

import hashlib
import json
import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

from icecheck.exchange import OF_SECOND, Exchange, Headers

__all__ = ["Redactor", "is_secret_header"]

_SIGNED = re.compile(r"(AWS4-HMAC-SHA256 Credential=)[^/]+(/.+Signature=)\w+")
_SECRET_KEY = re.compile(
    r"secret|password|session-token(?!-expires)|access-key-id|sas-token|oauth2\.token$|"
    r"^token$|access_token|refresh_token|subject_token$|actor_token$|client_assertion|"
    r"token-type:|private-key|\bcredential$|"
    # Storage properties of clients, and headers that a config makes clients send.
    r"connection-string|account[.-]key|adls\.token|security-token|cryption-key$|"
    r"\bsse\.key$|^header\.(.*-)?(authorization|cookie|api-?key)$",
    re.IGNORECASE,
)
# One of these is in each such name, so that a text without any names no secret.
_HINTS = (
    b"secret", b"password", b"token", b"access-key-id", b"client_assertion", b"private-key",
    b"credential", b"connection-string", b"account-key", b"account.key", b"cryption-key",
    b"sse.key", b"header.",
)  # fmt: skip
_SECRET_HEADER = re.compile(
    r"authorization|cookie|api-?key|secret|password|credential|(^|-)token$|security-token",
    re.IGNORECASE,
)
# Members of JSON quoted in running text, as findings do; a shortened text may end in the middle.
_QUOTED_MEMBER = re.compile(r'("([^"\\]+)"\s*:\s*")((?:[^"\\]|\\.)*)')
# A shorter or plainer value may stand in an answer by chance; it is then only taken out where
# its own member or header says what it is.
_LEARNED_CHARACTERS_MIN = 12
_LEARNED_DISTINCT_MIN = 6
_VENDED_MAX = 64


class Redactor:
    """Replaces secrets by a short digest, so that equal secrets stay visibly equal.

    Secrets are recognised by the header or member that holds them; those that the user gave or the
    catalog vended are then known by value wherever they turn up again. Every JSON type is kept:
    offline schema verdicts must not change. Threads may share it.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # Longest first: a credential contains its secret.
        given = sorted((s for s in secrets if len(s) >= 4), key=len, reverse=True)
        self._given: dict[str, None] = dict.fromkeys(given)
        self._vended: dict[str, None] = {}
        self._of_second: set[str] = set()
        self._lock = threading.RLock()

    def add(self, secret: str, *, of_second: bool = False) -> None:
        """Treat this value as secret from now on; it may be the second principal's."""
        if len(secret) >= 4:
            with self._lock:
                self._given[secret] = None
                if of_second:
                    self._of_second.add(secret)

    def exchange(self, exchange: Exchange) -> Exchange:
        """Return the exchange without its secrets."""
        sent, answer = exchange.request_body, exchange.response_body
        names_some = _may_name_secrets(answer)
        with self._lock:
            if names_some:
                self._learn(answer)
            return replace(
                exchange,
                url=self._text(exchange.url),
                request_headers=self._headers(exchange.request_headers),
                request_body=None if sent is None else self._body(sent, _may_name_secrets(sent)),
                response_headers=self._headers(exchange.response_headers),
                response_body=self._body(answer, names_some),
                error=None if exchange.error is None else self._text(exchange.error),
            )

    def text(self, text: str) -> str:
        """Return words about an exchange (a finding, an error) without secrets."""
        with self._lock:
            return self._text(_QUOTED_MEMBER.sub(_quoted_member, text))

    def value(self, name: str, text: str) -> str:
        """Return what a member of that name holds without secrets."""
        return _digest(text) if _SECRET_KEY.search(name) else self.text(text)

    def _learn(self, body: bytes) -> None:
        if body.lstrip()[:1] not in {b"{", b"["}:
            return
        try:
            found = list(_vended_in(json.loads(body)))
        except (ValueError, RecursionError):
            return
        self._vended.update(dict.fromkeys(found))
        # Every answer may vend new ones: those of long ago no longer turn up.
        while len(self._vended) > _VENDED_MAX:
            del self._vended[next(iter(self._vended))]

    def _headers(self, headers: Headers) -> Headers:
        return tuple((name, self._header(name.lower(), value)) for name, value in headers)

    def _header(self, name: str, value: str) -> str:
        if name in {"authorization", "original-authorization"}:
            scheme, _, rest = value.partition(" ")
            if scheme.lower() == "bearer" and not self._holds_secret(value):
                return value  # a token that a check made up, to be refused
            if rest in self._of_second:
                return f"{scheme} {_digest(rest, OF_SECOND)}"
            if _SIGNED.fullmatch(value):
                return _SIGNED.sub(_without_signature, value)
            return f"{scheme} {_digest(rest)}" if rest else _digest(value)
        if is_secret_header(name) or _SECRET_KEY.search(name):
            return _digest(value)
        return self._text(value)

    def _holds_secret(self, text: str) -> bool:
        return any(secret in text for secret in (*self._given, *self._vended))

    def _body(self, body: bytes, names_some: bool) -> bytes:
        try:
            text = body.decode()
        except UnicodeDecodeError:
            # Latin-1 gives every byte back, and what is ASCII in it is found.
            return self.text(body.decode("latin-1")).encode("latin-1")
        if text.lstrip()[:1] in {"{", "["}:
            if not names_some and not self._holds_secret(text):
                return body
            try:
                parsed = json.loads(text)
                redacted = self._json(parsed)
            except (ValueError, RecursionError):
                return self.text(text).encode()
            # An untouched body stays byte for byte what was sent.
            return body if redacted == parsed else json.dumps(redacted).encode()
        if "grant_type=" in text:
            pairs = parse_qsl(text, keep_blank_values=True)
            kept = [(k, _digest(v) if _SECRET_KEY.search(k) else v) for k, v in pairs]
            return self._text(urlencode(kept)).encode()
        return self.text(text).encode()

    def _json(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: self._json(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [self._json(v, key) for v in value]
        if isinstance(value, str):
            return _digest(value) if key and _is_secret_key(key) else self._text(value)
        return value

    def _text(self, text: str) -> str:
        for secret in (*self._given, *self._vended):
            if secret in text:
                text = text.replace(secret, _digest(secret))
        return text


def _may_name_secrets(body: bytes) -> bool:
    """Whether a JSON text may have a member that holds a secret: most have none, and are long.

    An escape can spell any name, so that a text with one may.
    """
    lower = body.lower()
    return b"\\" in body or any(hint in lower for hint in _HINTS)


@lru_cache(maxsize=4096)
def _is_secret_key(key: str) -> bool:
    return _SECRET_KEY.search(key) is not None


def is_secret_header(name: str) -> bool:
    """Whether a header of this name carries a secret."""
    return _SECRET_HEADER.search(name) is not None


def _vended_in(value: Any, key: str = "") -> Iterator[str]:
    """Yield the values under secret members that are long and varied enough to know again."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _vended_in(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _vended_in(inner, key)
    elif (
        isinstance(value, str)
        and _is_secret_key(key)
        and len(value) >= _LEARNED_CHARACTERS_MIN
        and len(set(value)) >= _LEARNED_DISTINCT_MIN
        and not value.startswith("<redacted:")
    ):
        yield value


def _quoted_member(match: re.Match[str]) -> str:
    start, name, value = match.groups()
    return f"{start}{_digest(value)}" if _SECRET_KEY.search(name) else match[0]


def _digest(secret: str, whose: str = "") -> str:
    if secret.startswith("<redacted:"):
        return secret
    return f"<redacted:{whose}{hashlib.blake2s(secret.encode(), digest_size=3).hexdigest()}>"


def _without_signature(match: re.Match[str]) -> str:
    """Keep the scope of a signature: it says how to sign again."""
    return f"{match[1]}{_digest(match[0])}{match[2]}{_digest(match[0])}"
