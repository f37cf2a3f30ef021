"""The gate that every request passes first: the server's one bearer token, if it has one."""

import hmac

from icecheck.mock_server import problem, replies
from icecheck.mock_server.context import Reply, Request


def refusal(request: Request, token: str | None) -> Reply | None:
    """The 401 for a request without the server's bearer token; None when it may pass."""
    if token is None:
        return None
    given = request.headers.get("authorization", "").encode()
    if hmac.compare_digest(given, f"Bearer {token}".encode()):
        return None
    refused = problem.not_authorized("Not authorized to make this request")
    challenge = (("www-authenticate", "Bearer"),)
    return replies.error_reply(refused.status, refused.type, refused.message, challenge)
