"""Signatures of version 4, as S3 has them: read from a request, computed, compared."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import quote, unquote_to_bytes

import msgspec

from icecheck.mock_server.objects.refusals import S3Refusal, access_denied
from icecheck.mock_server.protocol.wire import Request

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "s3"
SESSION_TOKEN = "x-amz-security-token"  # noqa: S105 - a header's name
UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD"
EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
TIME_FORM = "%Y%m%dT%H%M%SZ"

_SKEW_SECONDS_MAX = 15 * 60
_AUTHORIZATION = re.compile(
    rf"{ALGORITHM}\s+Credential=(?P<id>[^/,\s]+)/(?P<date>\d{{8}})/(?P<region>[^/,\s]*)/{SERVICE}"
    r"/aws4_request\s*,\s*SignedHeaders=(?P<headers>[a-z0-9;_.-]+)\s*,\s*"
    r"Signature=(?P<signature>[0-9a-f]{64})"
)
_MALFORMED_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


class Signature(msgspec.Struct, frozen=True):
    """A signature with what it says of itself; `time` is that of `x-amz-date`."""

    access_key_id: str
    region: str
    time: str
    headers: tuple[str, ...]
    payload: str
    value: str = ""

    @property
    def scope(self) -> str:
        """The day, the region and the service that the key is made for."""
        return f"{self.time[:8]}/{self.region}/{SERVICE}/aws4_request"

    @property
    def authorization(self) -> str:
        """The value of the `Authorization` header."""
        return (
            f"{ALGORITHM} Credential={self.access_key_id}/{self.scope}, "
            f"SignedHeaders={';'.join(self.headers)}, Signature={self.value}"
        )


def signature_of(request: Request) -> Signature:
    """Return the signature that a request bears.

    S3Refusal if it has none, if it is too old or too new, or if it leaves out one of the headers
    that S3 acts upon: whoever holds a signed request could otherwise make it another one.
    """
    found = _AUTHORIZATION.fullmatch(request.headers.get("authorization", "").strip())
    if found is None:
        raise access_denied("The request needs a signature of version 4 in its Authorization")
    time = request.headers.get("x-amz-date", "")
    if _age_seconds(time) > _SKEW_SECONDS_MAX:
        raise S3Refusal(
            403, "RequestTimeTooSkewed", "x-amz-date differs from the time here by over 15 minutes"
        )
    if found["date"] != time[:8]:
        raise access_denied("The signature is for another day than x-amz-date")
    headers = tuple(found["headers"].split(";"))
    needed = {"host"} | {name for name in request.headers if name.startswith("x-amz-")}
    missing = sorted(needed.difference(headers))
    if missing:
        raise access_denied(f"There were headers which were not signed: {', '.join(missing)}")
    payload = request.headers.get("x-amz-content-sha256", "")
    if not payload:
        raise access_denied("The request needs x-amz-content-sha256")
    region = found["region"]
    return Signature(found["id"], region, time, headers, payload, found["signature"])


def check_signature(request: Request, signature: Signature, secret: str) -> None:
    """Raise S3Refusal unless this secret made the signature of this request."""
    expected = signed(
        request.method, request.raw_path, request.query_string, request.headers, signature, secret
    )
    if not hmac.compare_digest(expected.value, signature.value):
        raise S3Refusal(
            403,
            "SignatureDoesNotMatch",
            "The signature is not that of this request by the secret of this access key",
        )


def signed(
    method: str,
    raw_path: str,
    query_string: str,
    headers: Mapping[str, str],
    signature: Signature,
    secret: str,
) -> Signature:
    """Return a signature with the value that a secret gives it for a request.

    Paths and queries count as they are decoded, however they are escaped.
    """
    pairs = sorted((_escaped(name), _escaped(value)) for name, value in query_pairs(query_string))
    lines = [
        method,
        quote(decoded(raw_path), safe="/"),
        "&".join(f"{name}={value}" for name, value in pairs),
        *(f"{name}:{' '.join(headers.get(name, '').split())}" for name in signature.headers),
        "",
        ";".join(signature.headers),
        signature.payload,
    ]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    text = f"{ALGORITHM}\n{signature.time}\n{signature.scope}\n{digest}"
    return msgspec.structs.replace(signature, value=keyed(signing_key(signature, secret), text))


def signing_key(signature: Signature, secret: str) -> bytes:
    """Return the key of a secret for the scope of a signature."""
    key = f"AWS4{secret}".encode()
    for part in signature.scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def keyed(key: bytes, text: str) -> str:
    """Return the HMAC of a text in hexadecimal digits."""
    return hmac.digest(key, text.encode(), "sha256").hex()


def query_pairs(query_string: str) -> list[tuple[str, str]]:
    """Return the parameters of a query, decoded; S3Refusal for a malformed one."""
    pairs = []
    for part in filter(None, query_string.split("&")):
        name, _, value = part.replace("+", "%20").partition("=")
        pairs.append((decoded(name), decoded(value)))
    return pairs


def decoded(text: str) -> str:
    """Return a part of a URL without its percent escapes, decoded once; S3Refusal if malformed."""
    if _MALFORMED_ESCAPE.search(text):
        raise S3Refusal(400, "InvalidURI", "The URL has a malformed percent escape")
    try:
        return unquote_to_bytes(text.encode("latin-1")).decode()
    except ValueError:
        raise S3Refusal(400, "InvalidURI", "The URL is not UTF-8") from None


def _escaped(text: str) -> str:
    return quote(text, safe="")


def _age_seconds(time: str) -> float:
    try:
        moment = datetime.strptime(time, TIME_FORM).replace(tzinfo=UTC)
    except ValueError:
        raise access_denied("The request needs x-amz-date, such as 20260101T000000Z") from None
    return abs((datetime.now(UTC) - moment).total_seconds())
