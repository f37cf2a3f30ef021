"""The gate of every request: without a valid token only the token endpoint is reached."""

from icecheck.mock_server.core.context import Reply, Request
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.security.callers import Security, Unknown

TOKEN_PATH = "/v1/oauth/tokens"  # noqa: S105 - a path

# RFC 6750, section 3: a request without a token gets no error code.
_CHALLENGES = {
    Unknown.MISSING: "Bearer",
    Unknown.INVALID: 'Bearer error="invalid_token"',
    Unknown.EXPIRED: 'Bearer error="invalid_token", error_description="The token has expired"',
}


def refusal(request: Request, security: Security) -> Reply | None:
    """Return the 401 (or 419) for a request without a valid token; None when it may pass."""
    if security.is_open:
        return None
    unknown = security.identify(request.headers.get("authorization"))
    if not isinstance(unknown, Unknown):
        return None
    if request.raw_path == TOKEN_PATH and request.method == "POST":
        return None
    if unknown is Unknown.EXPIRED and security.expired_status == 419:
        return replies.error_reply(
            419, "AuthenticationTimeoutException", "Credentials have timed out"
        )
    challenge = (("www-authenticate", _CHALLENGES[unknown]),)
    refused = problem.not_authorized("Not authorized to make this request")
    return replies.error_reply(refused.status, refused.type, refused.message, challenge)
