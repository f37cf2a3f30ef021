"""Answers requests below `/_mock/`: who may ask, which route it is, and what is wrong with it."""

import base64
import hmac
import ipaddress
import logging
import re
from collections import Counter
from typing import Any
from urllib.parse import parse_qsl, unquote

import msgspec

from icecheck.mock_server.admin.declared import (
    PREFIX,
    AdminRoute,
    Asked,
    Parts,
    Refusal,
)
from icecheck.mock_server.admin.openapi import openapi_document
from icecheck.mock_server.admin.routes import routes
from icecheck.mock_server.admin.ui.pages import ROOT as UI
from icecheck.mock_server.admin.ui.pages import page
from icecheck.mock_server.core.context import Reply, Request
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.json_place import json_error
from icecheck.mock_server.protocol.problem import Problem

BODY_BYTES_MAX = 64 << 20


def _number(text: str) -> float | int:
    """Read a number with a fraction or an exponent: `2.0` is a whole number to JSON Schema."""
    value = float(text)
    return int(value) if value.is_integer() else value


_DOCUMENT = "/_mock/openapi.json"
_TYPES = {
    400: "BadRequestException",
    401: "NotAuthorizedException",
    403: "ForbiddenException",
    404: "NotFoundException",
    405: "MethodNotAllowedException",
    408: "TimeoutException",
    409: "ConflictException",
    415: "UnsupportedMediaTypeException",
}
_log = logging.getLogger(__name__)
_decode = msgspec.json.Decoder(float_hook=_number).decode
_encode = msgspec.json.Encoder().encode


class AdminDoor:
    """The administration of one server.

    Without a `token` only clients on this machine are answered. Nothing here is reached by way of
    the catalog's own routes, and nothing of the catalog by way of these.
    """

    __slots__ = ("_parts", "_patterns", "_token")

    def __init__(self, parts: Parts, token: str | None = None) -> None:
        self._parts = parts
        self._token = token
        self._patterns = [(re.compile(_pattern(each.path)), each) for each in routes()]

    def handle(self, request: Request, client: str) -> Reply:
        """Answer one request of a client at this address. Never raises."""
        try:
            reply = self._handled(request, client)
        except Refusal as refused:
            reply = _refused(refused.status, refused.message)
        except Problem as refused:
            reply = _refused(refused.status, refused.message)
        except OSError as error:
            reply = _refused(400, f"What was asked for cannot be kept: {error}; make room")
        except Exception:  # noqa: BLE001 - the one place that turns our bugs into answers
            _log.exception("%s %s failed", request.method, request.raw_path)
            reply = replies.error_reply(500, "InternalServerError", "The administration failed")
        if request.method == "HEAD":
            reply = Reply(reply.status, (), b"")
        return reply

    def _handled(self, request: Request, client: str) -> Reply:
        self._expect_access(request, client)
        if request.raw_path == _DOCUMENT and request.method in ("GET", "HEAD"):
            return replies.json_reply(openapi_document(routes()))
        if request.raw_path == UI or request.raw_path.startswith(f"{UI}/"):
            return page(self._parts, request)
        route, names = self._found(request)
        query = _query(route, request.query_string)
        body = None if route.body is None else _body(route, request)
        answer = route.act(self._parts, Asked(names, query, body))
        if isinstance(answer, Reply):
            return answer
        if answer is None:
            return Reply(route.status)
        return Reply(route.status, replies.JSON_CONTENT, _encode(answer))

    def _expect_access(self, request: Request, client: str) -> None:
        if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            raise Refusal(403, "A page of another site asks for this")
        if self._token is not None:
            given = request.headers.get("authorization") or ""
            token = _token_in(given)
            if not token or not hmac.compare_digest(token.encode(), self._token.encode()):
                raise Refusal(401, "The administration of this server needs its own token")
        elif not _is_loopback(client):
            raise Refusal(
                403, "The administration answers clients on its machine only: give it a token"
            )

    def _found(self, request: Request) -> tuple[AdminRoute, dict[str, str]]:
        path = request.raw_path.removeprefix(PREFIX)
        method = "GET" if request.method == "HEAD" else request.method
        allowed = []
        for pattern, route in self._patterns if request.raw_path.startswith(PREFIX) else ():
            found = pattern.fullmatch(path)
            if found is None:
                continue
            if route.method == method:
                return route, {name: _decoded(text) for name, text in found.groupdict().items()}
            allowed.append(route.method)
        if allowed:
            raise Refusal(405, f"This path takes {', '.join(sorted(allowed))}")
        raise Refusal(404, f"There is no such route; see {_DOCUMENT}")


def _pattern(path: str) -> str:
    """Return the pattern of a path; in the document's style a name in braces is one segment."""
    return re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path))


def _decoded(segment: str) -> str:
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        raise Refusal(400, "The path is not UTF-8") from None


def _query(route: AdminRoute, text: str) -> Any:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=100)
    except (UnicodeDecodeError, ValueError):
        raise Refusal(400, "The query cannot be read") from None
    twice = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    if twice:
        raise Refusal(400, f"The query has {twice[0]!r} twice")
    if route.query is None:
        if pairs:
            raise Refusal(400, f"This route takes no query, and so no {pairs[0][0]!r}")
        return None
    try:
        return msgspec.convert(dict(pairs), route.query, strict=False)
    except (msgspec.ValidationError, ValueError, OverflowError) as error:
        raise Refusal(400, f"The query: {error}") from None


def _body(route: AdminRoute, request: Request) -> Any:
    if len(request.body) > BODY_BYTES_MAX:
        raise Refusal(400, f"The body is larger than {BODY_BYTES_MAX} bytes")
    # A page of another site can send other media types without asking first.
    given = (request.headers.get("content-type") or "").partition(";")[0].strip().lower()
    if request.body and given != "application/json":
        raise Refusal(415, "The body has to be application/json")
    try:
        return msgspec.convert(_decode(request.body or b"{}"), route.body)
    except msgspec.ValidationError as error:
        raise Refusal(400, f"The body: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(400, f"The body is no JSON: {json_error(request.body) or error}") from None


def _token_in(authorization: str) -> str:
    """Return the token in a header: a browser sends it as the password of anybody."""
    scheme, _, text = authorization.partition(" ")
    match scheme.lower():
        case "bearer":
            return text
        case "basic":
            try:
                return base64.b64decode(text, validate=True).decode().partition(":")[2]
            except ValueError:
                return ""
        case _:
            return ""


def _is_loopback(client: str) -> bool:
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _refused(status: int, message: str) -> Reply:
    headers = (("www-authenticate", 'Bearer, Basic realm="icecheck"'),) if status == 401 else ()
    return replies.error_reply(status, _TYPES.get(status, "RefusedException"), message, headers)
