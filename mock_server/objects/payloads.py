"""The body of a request as its signature describes it: whole, unsigned, or in signed chunks."""

import hashlib
import hmac

from icecheck.mock_server.objects.refusals import S3Refusal, invalid
from icecheck.mock_server.objects.signatures import (
    ALGORITHM,
    EMPTY_SHA256,
    UNSIGNED_PAYLOAD,
    Signature,
    keyed,
    signing_key,
)
from icecheck.mock_server.protocol.wire import Request

_SIGNED_CHUNKS = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
_SIGNED_CHUNKS_AND_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
_CHUNKS_AND_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
_CHUNKED = (_SIGNED_CHUNKS, _SIGNED_CHUNKS_AND_TRAILER, _CHUNKS_AND_TRAILER)

_LINE_BYTES_MAX = 1024
_TRAILERS_MAX = 16
_SIGNATURE_OF_CHUNK = "chunk-signature="
_SIGNATURE_OF_TRAILER = "x-amz-trailer-signature"


def payload_of(request: Request, signature: Signature, secret: str) -> bytes:
    """Return the content that a request sends; S3Refusal if it is not what was signed."""
    match signature.payload:
        case payload if payload == UNSIGNED_PAYLOAD:
            return request.body
        case payload if payload in _CHUNKED:
            return _Chunks(request, signature, secret).content()
        case payload:
            if payload.lower() != hashlib.sha256(request.body).hexdigest():
                raise S3Refusal(
                    400,
                    "XAmzContentSHA256Mismatch",
                    "The x-amz-content-sha256 is not that of the body",
                )
            return request.body


class _Chunks:
    """Reads a body in the form `aws-chunked`, and compares the signatures in it."""

    def __init__(self, request: Request, signature: Signature, secret: str) -> None:
        self._body = request.body
        self._wanted = request.headers.get("x-amz-decoded-content-length", "")
        self._at = 0
        self._signature = signature
        self._has_trailer = signature.payload != _SIGNED_CHUNKS
        self._is_signed = signature.payload != _CHUNKS_AND_TRAILER
        self._key = signing_key(signature, secret)
        self._previous = signature.value

    def content(self) -> bytes:
        """Return the content of all chunks."""
        content = bytearray()
        while True:
            size, _, extension = self._line().partition(";")
            chunk = self._taken(_size(size))
            if self._is_signed:
                self._check_chunk(chunk, extension)
            if not chunk:
                break
            if self._taken(2) != b"\r\n":
                raise invalid("A chunk of the body does not end where it says")
            content += chunk
        self._read_end()
        if self._wanted != str(len(content)):
            raise S3Refusal(
                400, "IncompleteBody", "The body is not as long as x-amz-decoded-content-length"
            )
        return bytes(content)

    def _check_chunk(self, chunk: bytes, extension: str) -> None:
        parts = ("AWS4-HMAC-SHA256-PAYLOAD", EMPTY_SHA256, hashlib.sha256(chunk).hexdigest())
        self._compare(parts, extension.removeprefix(_SIGNATURE_OF_CHUNK))

    def _read_end(self) -> None:
        """Read the trailer, whose checksums are not computed here, and its signature."""
        trailer = ""
        for _ in range(_TRAILERS_MAX):
            if self._at >= len(self._body):
                break
            line = self._line()
            if not line:
                continue
            name, colon, value = line.partition(":")
            if not colon or not self._has_trailer:
                raise invalid("The body goes on after its last chunk")
            if name.lower() == _SIGNATURE_OF_TRAILER:
                digest = hashlib.sha256(trailer.encode()).hexdigest()
                self._compare(("AWS4-HMAC-SHA256-TRAILER", digest), value.strip())
                trailer = ""
            else:
                trailer += f"{name.lower()}:{value.strip()}\n"
        if self._at < len(self._body) or (self._is_signed and trailer):
            raise invalid("The trailer of the body is not signed, or too long")

    def _compare(self, parts: tuple[str, ...], given: str) -> None:
        kind, *rest = parts
        signature = self._signature
        text = "\n".join((kind, signature.time, signature.scope, self._previous, *rest))
        expected = keyed(self._key, text)
        if not hmac.compare_digest(expected.encode(), given.encode()):
            raise S3Refusal(
                403, "SignatureDoesNotMatch", f"A part of the body has not this {ALGORITHM}"
            )
        self._previous = expected

    def _line(self) -> str:
        end = self._body.find(b"\r\n", self._at, self._at + _LINE_BYTES_MAX)
        if end < 0:
            raise S3Refusal(400, "IncompleteBody", "The body ends before its last chunk")
        line = self._body[self._at : end].decode("latin-1")
        self._at = end + 2
        return line

    def _taken(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._body):
            raise S3Refusal(400, "IncompleteBody", "The body ends before its last chunk")
        taken = self._body[self._at : end]
        self._at = end
        return taken


def _size(digits: str) -> int:
    try:
        if not digits.isalnum():
            raise ValueError(digits)
        return int(digits, 16)
    except ValueError:
        raise invalid("The size of a chunk of the body is no hexadecimal number") from None
