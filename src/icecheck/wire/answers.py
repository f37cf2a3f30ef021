"""Reads one answer to its end, within limits of time and length."""

import io
import time
import zlib
from collections.abc import Iterable, Iterator

import httpx

ACCEPTED_ENCODING = "gzip"
"""The encoding that requests accept; an answer in another one is not decoded."""
_BODY_BYTES_MAX = 256 * 1024 * 1024
_PIECE_BYTES = 256 * 1024
_GZIP = zlib.MAX_WBITS | 16
_NAMES_OF_GZIP = frozenset({"gzip", "x-gzip"})


class UnusableAnswer(httpx.HTTPError):
    """An answer came and cannot be read: it is too long, or its encoding was not asked for."""


def read_answer(response: httpx.Response, deadline: float) -> bytes:
    """Return the body of an answer, decoded; ``deadline`` is a time of ``time.perf_counter``.

    Never more than the limit and one piece are held in memory, whatever the body inflates to.
    Raises UnusableAnswer, and httpx.ReadTimeout for an answer that is not complete in time.
    """
    if not isinstance(response.stream, httpx.SyncByteStream):
        raise TypeError("an answer of an asynchronous client cannot be read here")
    body = io.BytesIO()
    for piece in _decoded(response.stream, response.headers.get("content-encoding", "")):
        body.write(piece)
        if time.perf_counter() > deadline:
            raise httpx.ReadTimeout("the answer was not complete in time")
        if body.tell() > _BODY_BYTES_MAX:
            raise UnusableAnswer(f"the answer is longer than {_BODY_BYTES_MAX} bytes")
    return body.getvalue()


def decoded_body(body: bytes, encoding: str) -> bytes:
    """Return a body that was received whole, decoded; raises UnusableAnswer."""
    read = io.BytesIO()
    for piece in _decoded((body,), encoding):
        read.write(piece)
        if read.tell() > _BODY_BYTES_MAX:
            raise UnusableAnswer(f"the answer is longer than {_BODY_BYTES_MAX} bytes")
    return read.getvalue()


def _decoded(stream: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield a body piece by piece; an empty body needs no decoding."""
    names = [name for each in encoding.split(",") if (name := each.strip().lower())]
    layers = [name for name in names if name != "identity"]
    if not layers:
        yield from stream
        return
    chunks = (chunk for chunk in stream if chunk)
    first = next(chunks, b"")
    if not first:
        return
    if len(layers) > 1 or layers[0] not in _NAMES_OF_GZIP:
        raise UnusableAnswer(
            f"the answer is encoded as {encoding[:80]!r}, and {ACCEPTED_ENCODING} was asked for"
        )
    try:
        yield from _inflated(first, chunks)
    except zlib.error as error:
        raise UnusableAnswer(f"the answer says it is gzip and cannot be read: {error}") from None


def _inflated(first: bytes, more: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the content of consecutive gzip members, in pieces of a bounded length."""
    member = zlib.decompressobj(_GZIP)
    received, chunk = 0, first
    while chunk:
        received += len(chunk)
        if received > _BODY_BYTES_MAX:
            raise UnusableAnswer(f"the answer is longer than {_BODY_BYTES_MAX} bytes")
        while chunk:
            if member.eof:
                member = zlib.decompressobj(_GZIP)
            yield member.decompress(chunk, _PIECE_BYTES)
            chunk = member.unconsumed_tail or member.unused_data
        chunk = next(more, b"")
    while not member.eof:
        # The decompressor may still hold output of the last input.
        piece = member.decompress(b"", _PIECE_BYTES)
        if not piece:
            raise UnusableAnswer("the answer says it is gzip and ends too early")
        yield piece
