"""Hides what clients of a proxy show: nobody has told which of it is secret.

A run knows the credentials of its user, and a secret by its name. Here every engine may show what
it likes, so all is hidden that is not known to be harmless.
"""

from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from icecheck.contract import Operation
from icecheck.targets.secret_marks import SecretMarks
from icecheck.targets.secret_names import HARMLESS_HEADERS
from icecheck.wire.exchange import Exchange, Headers

_HARMLESS_ANSWERS = frozenset(
    {
        "access-control-allow-origin", "age", "allow", "cache-control", "connection",
        "content-encoding", "content-language", "content-length", "content-type", "date", "etag",
        "expires", "keep-alive", "last-modified", "location", "pragma", "retry-after", "server",
        "strict-transport-security", "transfer-encoding", "vary", "via", "www-authenticate",
    }
)  # fmt: skip
_HARMLESS_FIELDS = frozenset(
    {"actor_token_type", "client_id", "grant_type", "requested_token_type", "scope",
     "subject_token_type"}
)  # fmt: skip
_WITH_SCHEMES = frozenset({"authorization", "original-authorization", "proxy-authorization"})


def hidden(exchange: Exchange, operation: Operation | None, marks: SecretMarks) -> Exchange:
    """Return an exchange without what may be a secret of a client; an answer's body stays.

    Of a request that is none of the document's, nobody judges the body, and neither is kept.
    """
    path, _, query = exchange.url.partition("?")
    known = set()
    if operation is not None:
        known = {each.name for each in operation.parameters if each.location == "query"}
    shown = replace(
        exchange,
        url=f"{path}?{_query(query, known, marks)}" if query else path,
        request_headers=_headers(exchange.request_headers, HARMLESS_HEADERS, marks),
        response_headers=_headers(exchange.response_headers, _HARMLESS_ANSWERS, marks),
    )
    if operation is None:
        return replace(shown, request_body=None, response_body=b"")
    if operation.id == "getToken" and shown.request_body is not None:
        return replace(shown, request_body=_form(shown.request_body, marks))
    return shown


def _headers(headers: Headers, harmless: frozenset[str], marks: SecretMarks) -> Headers:
    return tuple(
        (name, value if name.lower() in harmless else _marked(name.lower(), value, marks))
        for name, value in headers
    )


def _marked(name: str, value: str, marks: SecretMarks) -> str:
    scheme, blank, rest = value.partition(" ")
    if name in _WITH_SCHEMES and blank:
        return f"{scheme} {marks.of(rest)}"
    return marks.of(value)


def _query(query: str, known: set[str], marks: SecretMarks) -> str:
    """Return a query with marks for the values of parameters that the operation does not have."""
    parts = []
    for part in query.split("&"):
        name, equals, value = part.partition("=")
        parts.append(part if name in known or not value else f"{name}{equals}{marks.of(value)}")
    return "&".join(parts)


def _form(body: bytes, marks: SecretMarks) -> bytes:
    pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
    kept = [(name, text if name in _HARMLESS_FIELDS else marks.of(text)) for name, text in pairs]
    return urlencode(kept).encode()
