"""Redaction: removes secrets from exchanges and from texts about them."""

import contextlib
import json
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from icecheck.targets.secret_marks import SecretMarks, is_mark
from icecheck.targets.secret_names import (
    HARMLESS_HEADERS,
    address_without_secrets,
    is_address,
    is_harmless_setting,
    is_plain,
    is_secret_header,
    is_secret_key,
    known_from_headers,
    may_name_secrets,
    names_signature,
)
from icecheck.targets.secret_urls import may_give_access, without_access
from icecheck.wire.exchange import Exchange, Headers
from icecheck.wire.json_text import JsonFlaw, flaws_of
from icecheck.wire.secret_values import SecretValues, Seen, decoded

_SIGNED = re.compile(r"(AWS4-HMAC-SHA256 Credential=)[^/]+(/.+Signature=)(\w+|<redacted:\w+>)")
# Members of JSON quoted in running text, as in findings; a shortened text may end inside one.
_QUOTED_MEMBER = re.compile(r'("([^"\\]+)"\s*:\s*")((?:[^"\\]|\\.)*)')
# What a signed query gives access by. Of an id with its scope, only the id.
_SIGNING = re.compile(
    r"(?<![a-z])(?:x-(?:amz|goog)-)?(?:(?:sig(?:nature)?|security-token)=([^&\s\"'<>\\;,|]+)|"
    r"(?:credential|awsaccesskeyid|googleaccessid)=([^&\s\"'<>\\;,|/]+))",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[?&;=]|%2F|/(?=\d{8}/)", re.IGNORECASE)
_BEARER = re.compile(r"\b((?:Bearer|Basic)\s+)([A-Za-z0-9._~+/-]{12,}=*)", re.IGNORECASE)
_JWT = re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?")
_GIVEN_CHARACTERS_MIN = 4
_SETTINGS = frozenset({"config", "defaults", "overrides"})
_CREDENTIALS = "storage-credentials"
_OWN_NAMES = ("table-uuid", "view-uuid", "location")


class Redactor:
    """Replaces secrets by marks, so that equal secrets stay visibly equal within a run.

    Secrets are recognised by their place: headers and members of certain names, what clients are
    told to use (``config``, ``storage-credentials``, the config's ``defaults`` and ``overrides``)
    unless its name is known to be harmless, and signed queries. Secrets that the user gave or the
    catalog vended are then recognised by value, in any spelling, wherever they occur again. Every
    JSON type is kept: offline schema verdicts must not change. Threads may share it.

    Texts are redacted before they are cut for a report; ``text`` also hides the beginning of a
    secret at the end of a text or of a quotation.
    """

    def __init__(
        self,
        secrets: Iterable[str] = (),
        headers: Mapping[str, str] | None = None,
        marks: SecretMarks | None = None,
    ) -> None:
        self.marks = marks or SecretMarks()
        self._mark = self.marks.of
        self._values = SecretValues(self._mark)
        self._whose: dict[str, str] = {}
        self._headers_given: dict[str, str] = {}
        self._lock = threading.RLock()
        self.know(secrets, headers or {})

    def add(self, *secrets: str, whose: str = "") -> None:
        """Treat these values as secret from now on; ``whose``: "second" or "reader", or ours."""
        with self._lock:
            for secret in secrets:
                # In a replay, marks stand for secrets, also without the last letter, as a check
                # sends them: they are shown as they are.
                stands_for_one = is_mark(secret) or is_mark(f"{secret}>")
                if len(secret) >= _GIVEN_CHARACTERS_MIN and not stands_for_one:
                    self._values.add(secret)
                    if whose:
                        self._whose[secret] = whose

    def know(self, secrets: Iterable[str], headers: Mapping[str, str]) -> None:
        """Hide what the user gave; plain values of headers are hidden only in headers."""
        self.add(*secrets, *known_from_headers(headers))
        with self._lock:
            self._headers_given |= {
                name.lower(): value
                for name, value in headers.items()
                if name.lower() not in HARMLESS_HEADERS
            }

    def learn(self, body: bytes, seen: Seen = Seen.IN_BODY) -> None:
        """Learn the secrets of an answer that is not recorded, or is told to all clients."""
        if may_name_secrets(body):
            with self._lock:
                self._learn(body, seen)

    def learn_shown(self, values: Iterable[str]) -> None:
        """Hide for a while what a client has shown, of whom nothing is known."""
        with self._lock:
            self._values.add_vended((v for v in values if not is_mark(v)), Seen.IN_REQUEST)

    def exchange(self, exchange: Exchange) -> Exchange:
        """Return the exchange without its secrets."""
        sent, answer = exchange.request_body, exchange.response_body
        names_some = may_name_secrets(answer)
        with self._lock:
            if names_some:
                self._learn(answer)
            self._learn_headers(exchange)
            # Most exchanges hold no secret; one test of all their parts shows that.
            parts = self._parts(exchange)
            self._learn_signed(parts)
            search = self._values.stand_in(*parts) or any(map(may_give_access, parts))
            error = exchange.error
            shown = self._body(answer, search) if search or names_some else answer
            text = exchange.response_text
            return replace(
                exchange,
                url=self._text(exchange.url) if search else exchange.url,
                request_headers=self._headers(exchange.request_headers, search),
                request_body=None if sent is None else self._body(sent, search),
                response_headers=self._headers(exchange.response_headers, search),
                response_body=shown,
                response_text=text if text is not None or shown == answer else flaws_of(answer),
                error=self.text(error) if search and error is not None else error,
            )

    def text(self, text: str) -> str:
        """Return words about an exchange (a finding, an error) without secrets."""
        with self._lock:
            text = self._words(text)
        text = _BEARER.sub(self._bearer, text)
        return _JWT.sub(lambda match: self._mark(match[0]), text) if "eyJ" in text else text

    def value(self, pointer: str, text: str) -> str:
        """Return the value of a member without secrets, given its JSON pointer or name."""
        *above, name = pointer.split("/")
        told = bool({*_SETTINGS, _CREDENTIALS} & {*above}) and not is_harmless_setting(name)
        told = told and name != "prefix" and not is_plain(text.strip('"'))
        return self._mark(text) if told or is_secret_key(name) else self.text(text)

    def name(self, name: str) -> str:
        """Return the name of a member, or of a symptom, without secrets."""
        with self._lock:
            return self._name(name)

    def json(self, value: Any) -> Any:
        """Return a JSON value without secrets; types are kept."""
        with self._lock:
            return self._json(value, search=True)

    # ---- learning secrets

    def _learn(self, body: bytes, seen: Seen = Seen.IN_BODY) -> None:
        try:
            parsed = json.loads(body)
        except (ValueError, RecursionError):
            return
        self._values.add_vended(_vended_in(parsed, own=frozenset(_own_values(parsed))), seen)

    def _learn_headers(self, exchange: Exchange) -> None:
        """Learn what the headers of an answer hold; what was sent, and is told again, is known."""
        secret = [(n.lower(), v) for n, v in exchange.response_headers if is_secret_header(n)]
        if not secret:
            return
        sent = [value for _, value in exchange.request_headers]
        for name, value in secret:
            found = [value, value.partition(" ")[2]]
            if name == "set-cookie":
                found = [value.partition(";")[0].partition("=")[2]]
            new = (each for each in found if not any(each in value for value in sent))
            self._values.add_vended((n for n in new if not is_plain(n)), Seen.IN_HEADER)

    def _learn_signed(self, parts: Iterable[str]) -> None:
        """Learn what the signed queries of a text hold, which may stand there coded as well."""
        signed = [part for part in parts if names_signature(part.lower())]
        found = (match for part in signed for match in _SIGNING.finditer(decoded(part)))
        values = (match[1] or match[2] for match in found)
        self._values.add_vended((v for v in values if not is_plain(v)), Seen.IN_SIGNED_URL)

    def _parts(self, exchange: Exchange) -> list[str]:
        """Return the texts in an exchange, headers left aside that are hidden by their names."""
        parts = [exchange.url, exchange.error or ""]
        for headers in (exchange.request_headers, exchange.response_headers):
            parts += [f"{n} {v}" for n, v in headers if not self._hides(n.lower(), v)]
        # Latin-1 decodes every byte, so that secrets in ASCII are found in any body.
        parts.append((exchange.request_body or b"").decode("latin-1"))
        parts.append(exchange.response_body.decode("latin-1"))
        return parts

    def _hides(self, name: str, value: str) -> bool:
        """Return whether a header is hidden because of its name."""
        return is_secret_header(name) or self._headers_given.get(name) == value

    # ---- the parts of an exchange

    def _headers(self, headers: Headers, search: bool) -> Headers:
        return tuple(
            (self._text(name) if search else name, self._header(name.lower(), value, search))
            for name, value in headers
        )

    def _header(self, name: str, value: str, search: bool) -> str:
        if name in {"authorization", "original-authorization"}:
            return self._authorization(value)
        if self._hides(name, value) or is_secret_key(name):
            return self._mark(value)
        return self._text(value) if search else value

    def _authorization(self, value: str) -> str:
        scheme, _, rest = value.partition(" ")
        if scheme.lower() == "bearer" and not self._values.stand_in(rest):
            return value  # a token that a check made up, to be refused
        if whose := self._whose.get(rest):
            return f"{scheme} {self._mark(rest, whose)}"
        if signed := _SIGNED.fullmatch(value):
            # Its scope says how to sign again.
            hidden = self._mark(signed[3] if is_mark(signed[3]) else value)
            return f"{signed[1]}{hidden}{signed[2]}{hidden}"
        return f"{scheme} {self._mark(rest)}" if rest else self._mark(value)

    def _body(self, body: bytes, search: bool) -> bytes:
        if not search and not may_name_secrets(body):
            return body
        encoding = json.detect_encoding(body)
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError:
            return self._words(body.decode("latin-1")).encode("latin-1", "replace")
        if text.lstrip("\ufeff \t\r\n")[:1] in {"{", "["}:
            try:
                parsed = json.loads(text.lstrip("\ufeff"))
                redacted = self._json(parsed, search=search)
            except (ValueError, RecursionError):
                return self._words(text).encode(encoding, "backslashreplace")
            # A body without secrets stays byte for byte as it was sent. Of a member that stands
            # there twice, only one was looked at.
            if redacted == parsed and JsonFlaw.REPEATED not in dict(flaws_of(body)):
                return body
            return json.dumps(redacted).encode(encoding)
        if "grant_type=" in text:
            pairs = parse_qsl(text, keep_blank_values=True)
            kept = [(k, self._mark(v) if is_secret_key(k) else v) for k, v in pairs]
            return self._text(urlencode(kept)).encode()
        if encoding != "utf-8":
            return self._words(body.decode("latin-1")).encode("latin-1", "replace")
        return self._words(text).encode("utf-8", "backslashreplace")

    def _words(self, text: str) -> str:
        return self._text(_QUOTED_MEMBER.sub(self._quoted_member, text), cut=True)

    def _quoted_member(self, match: re.Match[str]) -> str:
        start, name, value = match.groups()
        return f"{start}{self._mark(value)}" if is_secret_key(name) else match[0]

    def _bearer(self, match: re.Match[str]) -> str:
        return match[0] if is_plain(match[2]) else f"{match[1]}{self._mark(match[2])}"

    def _json(self, value: Any, key: str = "", *, told: bool = False, search: bool = False) -> Any:
        """Return a redacted JSON value; ``told`` means that clients are told to use it.

        Without ``search`` the value holds no known secret, and only places are redacted.
        """
        if isinstance(value, dict):
            settings = told or key in _SETTINGS
            return {
                self._name(k) if search else k: self._json(
                    v, k, told=settings or k == _CREDENTIALS, search=search
                )
                for k, v in value.items()
            }
        if isinstance(value, list):
            return [self._json(v, key, told=told, search=search) for v in value]
        if isinstance(value, str):
            if told or is_secret_key(key):
                return self._member(key, value)
            # A catalog may quote a secret in part, in any spelling.
            return self._text(value, cut=True) if search else value
        if search and isinstance(value, int | float) and not isinstance(value, bool):
            return 0 if len(str(value)) >= 12 and self._values.stand_in(str(value)) else value
        return value

    def _member(self, key: str, value: str) -> str:
        """Return the value at a secret place redacted, unless its name is known to be harmless."""
        if is_mark(value):
            return value
        if is_secret_key(key) or not (is_harmless_setting(key) or _is_scalar(value)):
            return self._mark(value)
        shown = self._text(value)
        return address_without_secrets(shown, self._mark) if "?" in value or "@" in value else shown

    def _name(self, name: str) -> str:
        """Return the name of a member redacted; plain words are never hidden."""
        return name if is_plain(name) and name.replace("-", "").isalpha() else self._text(name)

    def _text(self, text: str, *, cut: bool = False) -> str:
        text = self._values.replaced(text, cut=cut)
        return without_access(text, self._mark) if may_give_access(text) else text


def _is_scalar(value: str) -> bool:
    return len(value) < 40 and is_plain(value) and (value.isalpha() or value.isdecimal())


def _vended_in(
    value: Any, key: str = "", *, told: bool = False, own: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Yield the values at secret places that are long and varied enough to search for.

    Those that are somebody's ``own`` are left out where only the place makes them secret.
    """
    if isinstance(value, str):
        found: tuple[str, ...] = ()
        if is_secret_key(key):
            found = () if is_mark(value) else (value, *_parts_of(value))
        elif told and not is_mark(value):
            # An address under any name is shown without its user and query.
            shown = is_harmless_setting(key) or is_address(value)
            parts = _parts_of(value) if not shown or "?" in value or "@" in value else ()
            found = tuple(part for part in (value, *parts)[shown:] if part not in own)
        yield from (part for part in found if not is_plain(part))
    elif isinstance(value, dict):
        settings = told or key in _SETTINGS
        for name, inner in value.items():
            if isinstance(inner, str | dict | list):
                inside = settings or name == _CREDENTIALS
                yield from _vended_in(inner, name, told=inside, own=own)
    elif isinstance(value, list):
        for inner in value:
            yield from _vended_in(inner, key, told=told, own=own)


def _parts_of(value: str) -> Iterator[str]:
    """Yield what a setting is made of: a query, a connection string, NAME:SECRET, or JSON."""
    if "=" in value:
        query = value.partition("?")[2] if is_address(value.partition("?")[0]) else value
        parts = _PARTS.split(query or value)
        yield from dict.fromkeys((*map(unquote, parts), *parts))
    user = value.partition("://")[2].rpartition("@")[0] if "://" in value else value
    if user.count(":") == 1:
        yield user.partition(":")[2]
    if value.startswith("{"):
        with contextlib.suppress(ValueError, RecursionError):
            yield from _vended_in(json.loads(value), told=True)


def _own_values(body: Any) -> Iterator[str]:
    """Yield the values that identify a table or view in its answer: requests may contain them."""
    if isinstance(body, dict):
        metadata = body.get("metadata")
        named = [body.get("metadata-location")]
        if isinstance(metadata, dict):
            named += [metadata.get(name) for name in _OWN_NAMES]
        yield from (name for name in named if isinstance(name, str))
