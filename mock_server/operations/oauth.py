"""getToken: tokens for clients and users, in the terms of OAuth2 instead of Iceberg's."""

from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.security.grants import granted
from icecheck.mock_server.security.token_requests import OAuthProblem

_UNCACHED = (("cache-control", "no-store"), ("pragma", "no-cache"))
_CHALLENGE = (("www-authenticate", 'Basic realm="icecheck"'),)


@operation("getToken")
def get_token(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Return a token for a client's credentials or for another token (L175-L242).

    Refusals have the body of RFC 6749, section 5.2, which the document takes over. Every answer
    says that it must not be stored.
    """
    try:
        response = granted(call.request, context.security)
    except OAuthProblem as refused:
        status = 401 if refused.unauthenticated else 400
        headers = (*_UNCACHED, *_CHALLENGE) if refused.unauthenticated else _UNCACHED
        reply = replies.oauth_error_reply(status, refused.error, refused.description, headers)
        return Outcome(state, reply)
    return Outcome(state, replies.json_reply(response, headers=_UNCACHED))
