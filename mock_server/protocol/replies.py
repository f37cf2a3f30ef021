"""Replies in the protocol's shapes: JSON, no content, and the error body of every refusal."""

from typing import Any

import msgspec

from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.wire import Reply

JSON_CONTENT: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)

NO_CONTENT = Reply(204)

_encode = msgspec.json.Encoder().encode


def json_reply(value: Any, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    """Return an answer with a JSON body."""
    return Reply(status, JSON_CONTENT + headers, _encode(value))


def encoded_json_reply(body: bytes) -> Reply:
    """Return an answer with a body that is JSON already."""
    return Reply(200, JSON_CONTENT, body)


def error_reply(
    status: int, error_type: str, message: str, headers: tuple[tuple[str, str], ...] = ()
) -> Reply:
    """Return a refusal as the document's IcebergErrorResponse; its code is the status."""
    body = {"error": {"message": message, "type": error_type, "code": status}}
    return json_reply(body, status, headers)


FAILED = error_reply(500, "InternalServerError", "The mock server failed")
"""The reply where a bug of ours left none."""


def problem_reply(problem: Problem) -> Reply:
    """Return the reply for a Problem."""
    return error_reply(problem.status, problem.type, problem.message)


def oauth_error_reply(
    status: int, error: str, description: str, headers: tuple[tuple[str, str], ...] = ()
) -> Reply:
    """Return a refusal by the token endpoint, as the document's OAuthError (L3849)."""
    return json_reply({"error": error, "error_description": description}, status, headers)
