"""The address of a request to S3: its bucket is the beginning of the path, or of the host."""

import re
from urllib.parse import SplitResult, urlsplit

import msgspec

from icecheck.mock_server.objects.refusals import access_denied, invalid

_AMAZON = re.compile(
    r"(?:(?P<bucket>[a-z0-9.-]+)\.)?s3(?:\.dualstack)?(?:[.-][a-z0-9-]+)?\.amazonaws\.com(?:\.cn)?"
)


class Addressed(msgspec.Struct, frozen=True):
    """A request by its host, its path as it is sent, and the same path after the bucket."""

    host: str
    path: str
    query: str
    path_with_bucket: str


def at_endpoint(uri: str, endpoint: str, *, in_path: bool = True) -> Addressed:
    """Return the address of a request to an endpoint, with the bucket in the path or in the host.

    S3Refusal for one that goes elsewhere.
    """
    parts = _split(uri)
    scheme, _, host = endpoint.partition("://")
    if parts.scheme == scheme and not parts.fragment and parts.path.isascii():
        if f"{scheme}://{parts.netloc}" == endpoint:
            return Addressed(parts.netloc, parts.path, parts.query, parts.path)
        bucket = parts.netloc.removesuffix(f".{host}")
        if not in_path and bucket != parts.netloc:
            path = parts.path or "/"
            return Addressed(parts.netloc, path, parts.query, f"/{bucket}{path}")
    raise access_denied(f"Only requests to {endpoint} are signed")


def at_amazon(uri: str) -> Addressed:
    """Return the address of a request to S3 itself; S3Refusal for one that goes elsewhere."""
    parts = _split(uri)
    found = _AMAZON.fullmatch(parts.netloc) if parts.scheme == "https" else None
    if found is None or parts.fragment or not parts.path.isascii():
        raise access_denied("Only requests to https://s3.REGION.amazonaws.com are signed")
    bucket = found["bucket"]
    path = parts.path if bucket is None else f"/{bucket}{parts.path}"
    return Addressed(parts.netloc, parts.path or "/", parts.query, path)


def _split(uri: str) -> SplitResult:
    try:
        return urlsplit(uri)
    except ValueError:
        raise invalid("The uri is none") from None
