"""Invalid credentials: made up, expired, or forged from the run's own token."""

import base64
import json
from collections.abc import Mapping
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.conformance.kit.other_principals import bearer
from icecheck.conformance.security.token_requests import asks_here, own_form

_PARTS = 3
_FAR_SECONDS = 4_102_444_800  # the year 2100
_CUT = 6
_LONG = 24
_FALSE_SIGNATURE = "aWNlY2hlY2sgZGlkIG5vdCBzaWduIHRoaXMgdG9rZW4h"


def own_token(catalog: Catalog) -> str | None:
    """Return a token that the catalog accepts, or None if the run cannot get one."""
    if catalog.target.token:
        return catalog.target.token
    if not asks_here(catalog):
        return None
    with catalog.arranging():
        reply = catalog.get_token(own_form(catalog))
    body = reply.json() if reply.status == 200 else None
    token = body.get("access_token") if isinstance(body, dict) else None
    return token if isinstance(token, str) else None


def strangers(catalog: Catalog) -> Mapping[str, Mapping[str, str]]:
    """Return invalid credentials that a caller may send: description -> headers.

    Empty if requests are signed: then every request of a check has the run's signature.
    """
    if catalog.target.sigv4:
        return {}
    return {
        "another scheme": {"Authorization": "Basic aWNlY2hlY2s6aWNlY2hlY2s="},
        **{what: bearer(token) for what, token in forged_tokens(catalog).items()},
    }


def forged_tokens(catalog: Catalog) -> dict[str, str]:
    """Return tokens that are not valid: description -> token. Reports redact all of them."""
    now_over = {"sub": "icecheck", "client_id": "icecheck", "iat": 1, "exp": 2}
    lasting = {"sub": "icecheck", "client_id": "icecheck", "iat": 1, "exp": _FAR_SECONDS}
    made = {
        "an unsigned token": unsigned_jwt(lasting),
        "an expired token": f"{_jwt_head('HS256')}.{_encoded(now_over)}.{_FALSE_SIGNATURE}",
    }
    token = own_token(catalog)
    if token is not None:
        # Use the token first, so that the catalog may cache it.
        catalog.call("getConfig", query=catalog.target.warehouse_query, headers=bearer(token))
        made |= _forged(token)
    for forged in made.values():
        catalog.session.connection.redactor.add(forged)
    return made


def _forged(token: str) -> dict[str, str]:
    head, *rest = token.split(".")
    claims = claims_of(token)
    # The rest of a short token may be a word that occurs in a report and would be redacted there.
    cut = {"its own token, cut short": token[:-_CUT]} if len(token) >= _LONG else {}
    if claims is None or len(rest) != _PARTS - 1:
        other = {"its own token, in other letters": token.swapcase()}
        others = other if token.swapcase() != token else {}
        return {**cut, **others, "its own token, and more": f"{token}0"}
    longer = {**claims, "exp": _FAR_SECONDS}
    signature = rest[1]
    return {
        **cut,
        "its own token, declared unsigned": f"{_jwt_head('none')}.{rest[0]}.",
        "its own token, with other claims": f"{head}.{_encoded(longer)}.{signature}",
        "its own token, signed by somebody else": f"{head}.{rest[0]}.{signature[::-1]}",
    }


def claims_of(token: str) -> dict[str, Any] | None:
    """Return the claims of a JWT, unverified; None if the token is not a JWT."""
    parts = token.split(".")
    if len(parts) != _PARTS:
        return None
    try:
        padded = parts[1] + "=" * (-len(parts[1]) % 4)
        claims = json.loads(base64.urlsafe_b64decode(padded))
    except ValueError:
        return None
    return claims if isinstance(claims, dict) else None


def unsigned_jwt(claims: Mapping[str, Any]) -> str:
    """Return an unsigned token with these claims (RFC 7519, section 6)."""
    return f"{_jwt_head('none')}.{_encoded(claims)}."


def _jwt_head(algorithm: str) -> str:
    return _encoded({"alg": algorithm})


def _encoded(part: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
