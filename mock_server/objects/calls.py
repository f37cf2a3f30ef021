"""A request to the object store, taken apart once: what is judged is what is carried out."""

from collections.abc import Mapping
from urllib.parse import quote

import msgspec

from icecheck.mock_server.objects.places import has_dots, is_bucket
from icecheck.mock_server.objects.refusals import S3Refusal, invalid
from icecheck.mock_server.objects.signatures import decoded, query_pairs
from icecheck.mock_server.objects.values import check_numbers, is_acted_upon
from icecheck.mock_server.objects.xml_bodies import (
    ObjectToDelete,
    deletion_body,
    objects_to_delete,
    parts_body,
)
from icecheck.mock_server.protocol.wire import Request

COPY_SOURCE = "x-amz-copy-source"

_KEY_BYTES_MAX = 1024
_DOCUMENT_BYTES_MAX = 2 * 1024 * 1024
_IN_CHUNKS = "aws-chunked"
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_TAKEN_HEADERS = frozenset(
    {
        "cache-control", "content-disposition", "content-encoding", "content-language",
        "content-type", "expires", "if-match", "if-modified-since", "if-none-match",
        "if-unmodified-since", "range", "x-amz-checksum-algorithm", "x-amz-checksum-mode",
        "x-amz-checksum-type", "x-amz-copy-source-if-match", "x-amz-copy-source-if-modified-since",
        "x-amz-copy-source-if-none-match", "x-amz-copy-source-if-unmodified-since",
        "x-amz-copy-source-range", "x-amz-metadata-directive", "x-amz-storage-class",
        "x-amz-tagging", "x-amz-tagging-directive",
    }
)  # fmt: skip
"""The headers that are handed on, with those of the user's own metadata; no other can have an
effect."""


class CopySource(msgspec.Struct, frozen=True):
    """The object that a request copies."""

    bucket: str
    key: str
    version: str | None = None

    def header(self) -> str:
        """Return it as the value of a header."""
        version = "" if self.version is None else f"?versionId={quote(self.version, safe='')}"
        return f"/{self.bucket}/{quote(self.key, safe='/')}{version}"


class S3Call(msgspec.Struct, frozen=True):
    """A request by its decoded parts; without a `key` it is about the bucket, or about all.

    `deleted` are the objects of a request that deletes several.
    """

    method: str
    bucket: str = ""
    key: str = ""
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    body: bytes = b""
    copied: CopySource | None = None
    deleted: tuple[ObjectToDelete, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names of the parameters that say what it is about."""
        return frozenset(self.query) - {"x-id"}

    @property
    def url(self) -> str:
        """Its path and query, escaped."""
        path = "/" + self.bucket + (f"/{quote(self.key, safe='/')}" if self.key else "")
        pairs = [f"{quote(name, safe='')}={quote(v, safe='')}" for name, v in self.query.items()]
        return f"{path}?{'&'.join(pairs)}" if pairs else path


def call_of(request: Request, payload: bytes | None) -> S3Call:
    """Return what a request asks for; S3Refusal if it is ambiguous or cannot be understood.

    `payload` None: it is not known yet, and what is in it is not judged.
    """
    _, _, rest = request.raw_path.partition("/")
    bucket, _, raw_key = rest.partition("/")
    key = decoded(raw_key)
    if bucket and not is_bucket(bucket):
        raise S3Refusal(400, "InvalidBucketName", "There can be no bucket of this name")
    if key and not bucket:
        raise S3Refusal(400, "InvalidURI", "The path begins with two slashes")
    query = _query_of(request.query_string)
    check_numbers(query)
    if payload is not None and "partNumber" not in query and query.keys() - {"x-id"}:
        _check_document(payload)
    copied = None
    if COPY_SOURCE in request.headers:
        copied = _copy_source(request.headers[COPY_SOURCE])
    deleted: tuple[ObjectToDelete, ...] = ()
    if payload is None:
        payload = b""
    elif request.method == "POST" and bucket and not key and "delete" in query:
        deleted = objects_to_delete(payload)
        payload = deletion_body(deleted)
    elif request.method == "POST" and key and "uploadId" in query:
        payload = parts_body(payload)
    elif request.method not in {"PUT", "POST"}:
        payload = b""
    for each in (key, *(one.key for one in deleted), *([copied.key] if copied else [])):
        _check_key(each)
    headers = _handed_on(request.method, request.headers, copied)
    return S3Call(request.method, bucket, key, query, headers, payload, copied, deleted)


def _query_of(query_string: str) -> dict[str, str]:
    query: dict[str, str] = {}
    for name, value in query_pairs(query_string):
        if name in query:
            raise invalid("A parameter of the query is repeated")
        query[name] = value
    return query


def _check_key(key: str) -> None:
    if has_dots(key):
        raise S3Refusal(400, "InvalidURI", "No segment of a key can be . or ..")
    if len(key.encode()) > _KEY_BYTES_MAX:
        raise S3Refusal(400, "KeyTooLongError", f"A key has {_KEY_BYTES_MAX} bytes at most")


def _copy_source(value: str) -> CopySource:
    raw_path, _, raw_query = value.partition("?")
    bucket, _, key = decoded(raw_path).removeprefix("/").partition("/")
    if not is_bucket(bucket) or not key:
        raise invalid(f"{COPY_SOURCE} names no object: write /BUCKET/KEY")
    pairs = query_pairs(raw_query)
    if [name for name, _ in pairs] not in ([], ["versionId"]):
        raise invalid(f"{COPY_SOURCE} can have a versionId, and nothing else")
    return CopySource(bucket, key, pairs[0][1] if pairs else None)


def _check_document(body: bytes) -> None:
    if len(body) > _DOCUMENT_BYTES_MAX:
        raise S3Refusal(
            400,
            "MaxMessageLengthExceeded",
            f"A body in XML has {_DOCUMENT_BYTES_MAX} bytes at most",
        )


def _handed_on(
    method: str, headers: Mapping[str, str], copied: CopySource | None
) -> dict[str, str]:
    found = {
        name: value
        for name, value in headers.items()
        if (name in _TAKEN_HEADERS and is_acted_upon(method, name, value))
        or name.startswith("x-amz-meta-")
    }
    # moto would read parameters from a form, beside those of the query that are judged here.
    if found.get("content-type", "").strip().lower().startswith(_FORMS):
        found["content-type"] = "application/octet-stream"
    encodings = [each.strip() for each in found.pop("content-encoding", "").split(",")]
    kept = [each for each in encodings if each and each.lower() != _IN_CHUNKS]
    if kept:
        found["content-encoding"] = ",".join(kept)
    if copied is not None:
        found[COPY_SOURCE] = copied.header()
    return found
