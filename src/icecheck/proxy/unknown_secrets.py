"""Hides what clients of a proxy show: nobody has told which of it is secret.

A run knows the credentials of its user, and a secret by its name. Here every engine may show what
it likes, so all is hidden that is not known to be harmless, there and where the catalog repeats it.
"""

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, unquote_plus, urlencode

from icecheck.contract import Operation
from icecheck.targets.secret_marks import SecretMarks
from icecheck.targets.secret_names import (
    HARMLESS_HEADERS,
    address_without_secrets,
    is_plain,
    is_secret_header,
    is_words,
)
from icecheck.wire.exchange import Exchange, Headers

_HARMLESS_ANSWERS = frozenset(
    {
        "access-control-allow-origin", "age", "allow", "cache-control", "connection",
        "content-encoding", "content-language", "content-length", "content-type", "date", "etag",
        "expires", "keep-alive", "last-modified", "pragma", "retry-after", "server",
        "strict-transport-security", "transfer-encoding", "vary", "via", "www-authenticate",
    }
)  # fmt: skip
_HARMLESS_FIELDS = frozenset(
    {"actor_token_type", "client_id", "grant_type", "requested_token_type", "scope",
     "subject_token_type"}
)  # fmt: skip
_WITH_SCHEMES = frozenset({"authorization", "original-authorization", "proxy-authorization"})
_CREDENTIAL_CHARACTERS_MIN = 8
_NAME = re.compile("[A-Za-z_.-]{1,60}")
"""A name of a field; a secret that looks like one is a word."""
_PARTS = re.compile(r"""[^\s"'&;=,:{}\[\]]+""")


@dataclass(frozen=True, slots=True)
class _Hiding:
    """Puts marks in the place of values, and remembers those that may come back."""

    marks: SecretMarks
    shown: list[str] = field(default_factory=list)

    def of(self, value: str, *, credential: bool = True) -> str:
        """Return the mark of a value; whether it is a ``credential``, its place tells."""
        for text in dict.fromkeys((value, unquote_plus(value))):
            enough = len(text) >= _CREDENTIAL_CHARACTERS_MIN and not is_words(text)
            if enough if credential else not is_plain(text):
                self.shown.append(text)
        return self.marks.of(value)


def hidden(
    exchange: Exchange, operation: Operation | None, marks: SecretMarks
) -> tuple[Exchange, list[str]]:
    """Return an exchange without what may be a secret of a client, and what that was.

    The body of an answer stays. Of a request that is none of the document's, nobody judges the
    body, and neither is kept.
    """
    hiding = _Hiding(marks)
    path, _, query = exchange.url.partition("?")
    known = set()
    if operation is not None:
        known = {each.name for each in operation.parameters if each.location == "query"}
    shown = replace(
        exchange,
        url=f"{path}?{_query(query, known, hiding)}" if query else path,
        request_headers=_headers(exchange.request_headers, HARMLESS_HEADERS, hiding),
        response_headers=_headers(exchange.response_headers, _HARMLESS_ANSWERS, hiding),
    )
    if operation is None:
        shown = replace(shown, request_body=None, response_body=b"")
    elif operation.id == "getToken" and shown.request_body is not None:
        shown = replace(shown, request_body=_form(shown.request_body, hiding))
    return shown, hiding.shown


def _headers(headers: Headers, harmless: frozenset[str], hiding: _Hiding) -> Headers:
    return tuple(
        (name, value if name.lower() in harmless else _marked(name.lower(), value, hiding))
        for name, value in headers
    )


def _marked(name: str, value: str, hiding: _Hiding) -> str:
    if name == "location":
        return address_without_secrets(value, hiding.of)
    scheme, blank, rest = value.partition(" ")
    if name in _WITH_SCHEMES and blank:
        for part in _parts_of(scheme, rest):
            hiding.of(part)
        return f"{scheme} {hiding.of(rest)}"
    if "cookie" in name:
        for pair in value.split(";"):
            hiding.of(pair.partition("=")[2])
    return hiding.of(value, credential=is_secret_header(name))


def _parts_of(scheme: str, rest: str) -> Iterator[str]:
    """Yield what is secret in credentials, which a catalog may repeat without the rest."""
    if scheme.lower() != "basic":
        return
    try:
        both = base64.b64decode(rest, validate=True).decode("utf-8", "replace")
    except ValueError:
        return
    yield both
    yield both.partition(":")[2]


def _query(query: str, known: set[str], hiding: _Hiding) -> str:
    """Return a query with marks for the values of parameters that the operation does not have."""
    parts = []
    for part in query.split("&"):
        name, equals, value = part.partition("=")
        if name in known or not value:
            parts.append(part)
        else:
            parts.append(f"{name}{equals}{hiding.of(value, credential=False)}")
    return "&".join(parts)


def _form(body: bytes, hiding: _Hiding) -> bytes:
    """Return a form with its harmless fields as they are; a mark for what is no form."""
    text = body.decode("utf-8", "replace")
    pairs = parse_qsl(text.replace(";", "&"), keep_blank_values=True)
    if not all(_NAME.fullmatch(name) for name, _ in pairs):
        for part in _PARTS.findall(unquote_plus(text)):
            hiding.of(part)
        return hiding.of(text).encode()
    kept = [(name, text if name in _HARMLESS_FIELDS else hiding.of(text)) for name, text in pairs]
    return urlencode(kept).encode()
