"""Reads the lines of exchanges, in the executors: inflated piece by piece, each taken apart."""

import binascii
import contextlib
import hashlib
import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import msgspec

from icecheck.reports.evidence.declared_tables import LINES
from icecheck.reports.evidence.files import open_file
from icecheck.targets.target import UsageError

if TYPE_CHECKING:
    from pandas import DataFrame

LINE_BYTES_MAX = 64 << 20
"""A longer line is not taken in: it would have to be held in memory."""
UNREAD = "it could not be read"
"""How the problem begins of a file that another ingestion may read."""
_CHUNK = 1 << 18
# A block of zstd has 4 bytes or more, and holds 128 KiB at most: of so many come 16 MiB at most.
_PACKED_AT_ONCE = 512
_BATCH_ROWS, _BATCH_BYTES = 2_000, 4 << 20
_WINDOW_MAX = 1 << 27
_EXCERPT = 200


# What the columns of numbers hold.
_Int = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]


class _Body(msgspec.Struct, gc=False):
    text: str | None = None
    base64: str | None = None


class _Exchange(msgspec.Struct, gc=False):
    """The members that every exchange has; later ones are not looked at."""

    check: str
    ordinal: _Int
    step: str
    operation: str | None
    method: str
    url: str
    request_headers: list[tuple[str, str]]
    request_body: _Body | None
    status: _Int | None
    response_headers: list[tuple[str, str]]
    response_body: _Body
    elapsed_ms: float
    error: str | None
    raced: bool = False


class Line(msgspec.Struct, frozen=True):
    """A line with its number (from 1) and its offset in bytes; ``problem`` of the file, if any.

    ``content`` of a line that is too long is its beginning.
    """

    number: int
    offset: int
    content: bytes
    problem: str = ""


def exchange_lines(batches: "Iterator[DataFrame]") -> "Iterator[DataFrame]":
    """Make rows of ``bronze.lines`` of each row with uri, exchanges_sha256, report_id and day."""
    import pandas as pd

    for batch in batches:
        for file in batch.itertuples():
            rows: list[tuple[Any, ...]] = []
            size = 0
            for line in lines_of(file.uri, file.exchanges_sha256):
                content, problem, said = _told(line)
                rows.append(
                    (
                        file.report_id, file.day, file.uri, line.number, line.offset,
                        hashlib.sha256(line.content).hexdigest(), content, problem,
                        file.exchanges_sha256, *said,
                    )
                )  # fmt: skip
                size += len(line.content)
                if len(rows) >= _BATCH_ROWS or size >= _BATCH_BYTES:
                    yield pd.DataFrame(rows, columns=[*LINES.columns], dtype=object)
                    rows, size = [], 0
            if rows:
                # As objects: pandas would make floats of whole numbers beside a null.
                yield pd.DataFrame(rows, columns=[*LINES.columns], dtype=object)


def lines_of(uri: str, sha256: str) -> Iterator[Line]:
    """Yield the lines of a file; what is wrong with the file itself is the problem of the last.

    That begins with `UNREAD` if these are not the lines of the file that had this digest.
    """
    splitting = _Splitting()
    problem = ""
    try:
        with open_file(uri) as stream:
            reading = _Reading(stream)
            try:
                for chunk in _inflated(reading):
                    yield from splitting.taken(chunk)
            except EOFError as error:
                problem = str(error)[:_EXCERPT]
            while reading.read(_CHUNK):
                pass  # what follows a fault is not looked at, but belongs to the digest
            if reading.digest() != sha256:
                problem = f"{UNREAD}: it has changed since it was looked at"
    except (OSError, UsageError) as error:
        problem = f"{UNREAD}: {str(error)[:_EXCERPT]}"
    read = splitting.number
    last = splitting.rest()
    if problem or last is not None:
        found = last or Line(read + 1, splitting.offset, b"")
        why = problem or "the file ends within this line"
        yield msgspec.structs.replace(found, problem=f"{why}; {read} lines were read")


class _Reading:
    """A stream, with the digest of what was read of it."""

    __slots__ = ("_digest", "_stream")

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        part = bytes(self._stream.read(size))
        self._digest.update(part)
        return part

    def digest(self) -> str:
        """Return the digest of all bytes that were read."""
        return f"sha256:{self._digest.hexdigest()}"


def _inflated(stream: _Reading) -> Iterator[bytes]:
    """Yield what the frames of a file hold; EOFError where it ends within one, or is damaged."""
    import zstandard

    decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW_MAX)
    frame = None
    empty = True
    while packed := stream.read(_CHUNK):
        empty = False
        begin = 0
        while begin < len(packed):
            frame = frame or decompressor.decompressobj()
            part = packed[begin : begin + _PACKED_AT_ONCE]
            try:
                found = frame.decompress(part)
            except zstandard.ZstdError as error:
                raise EOFError(f"it cannot be inflated further: {error}") from None
            for start in range(0, len(found), _CHUNK):
                yield found[start : start + _CHUNK]
            begin += len(part)
            if frame.eof:
                begin -= len(frame.unused_data)
                frame = None
    if empty:
        raise EOFError("the file is empty")
    if frame is not None:
        raise EOFError("the file was not written to its end")


class _Splitting:
    """Splits bytes at the ends of lines; of a line that is too long only the beginning is kept."""

    __slots__ = ("_held_bytes", "_parts", "number", "offset")

    def __init__(self) -> None:
        self.number = 0
        self.offset = 0
        self._parts: list[bytes] = []
        self._held_bytes = 0

    def taken(self, chunk: bytes) -> Iterator[Line]:
        """Yield the lines that end in a chunk."""
        first, *others = chunk.split(b"\n")
        self._hold(first)
        for begun in others:
            yield self._ended()
            self._hold(begun)

    def rest(self) -> Line | None:
        """Return what follows the last end of a line, if anything."""
        return self._ended() if self._held_bytes else None

    def _hold(self, part: bytes) -> None:
        room = LINE_BYTES_MAX - self._held_bytes
        if room > 0:
            self._parts.append(part[:room])
        self._held_bytes += len(part)

    def _ended(self) -> Line:
        content, length = b"".join(self._parts), self._held_bytes
        self.number += 1
        line = Line(self.number, self.offset, content)
        if length > LINE_BYTES_MAX:
            words = f"it has {length} bytes, more than {LINE_BYTES_MAX >> 20} MiB"
            line = Line(self.number, self.offset, content[:_EXCERPT], words)
        self.offset += length + 1
        self._parts, self._held_bytes = [], 0
        return line


def _told(line: Line) -> tuple[str, str | None, tuple[Any, ...]]:
    """Return a line's text, what is wrong with it, and what it says; of a wrong one an excerpt."""
    problem, said = line.problem, _NOTHING
    try:
        text = line.content.decode()
    except UnicodeDecodeError as error:
        problem = problem or f"it is not UTF-8 (byte {error.start})"
        text = line.content.decode("utf-8", "replace")
    if not problem:
        try:
            said = _said(_exchange(line.content))
        except msgspec.ValidationError as error:
            problem = f"it is no exchange: {error}"
        except msgspec.DecodeError as error:
            problem = f"it is no JSON: {error}"
        except RecursionError:
            problem = "it is nested too deeply"
    return (text[:_EXCERPT], problem, said) if problem else (text, None, said)


_READER = msgspec.json.Decoder(_Exchange)
_NOTHING: tuple[Any, ...] = (None,) * 14


def _exchange(content: bytes) -> _Exchange:
    try:
        return _READER.decode(content)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        # A catalog may send half a surrogate pair, which only this reader takes.
        with contextlib.suppress(json.JSONDecodeError, UnicodeDecodeError):
            document = json.loads(content, parse_constant=_refused)
            return msgspec.convert(_whole(document), _Exchange)
        raise


def _refused(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is no JSON", name, 0)


def _whole(value: Any) -> Any:
    """Return a value in whose texts half a surrogate pair is a question mark: no table holds it."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [*map(_whole, value)]
    if isinstance(value, dict):
        return {_whole(name): _whole(each) for name, each in value.items()}
    return value


def _said(read: _Exchange) -> tuple[Any, ...]:
    """Return what an exchange says, in the order of the columns."""
    if not math.isfinite(read.elapsed_ms):
        raise msgspec.ValidationError("Number out of range - at `$.elapsed_ms`")
    return (
        read.check, read.ordinal, read.step, read.operation, read.method, read.url, read.status,
        read.elapsed_ms, read.error, read.raced, read.request_headers, read.response_headers,
        _size(read.request_body), _size(read.response_body),
    )  # fmt: skip


def _size(body: _Body | None) -> int | None:
    if body is None or (body.text is None and body.base64 is None):
        return None
    if body.text is not None:
        return len(body.text) if body.text.isascii() else len(body.text.encode())
    try:
        return len(binascii.a2b_base64(body.base64 or "", strict_mode=True))
    except ValueError as error:
        raise msgspec.ValidationError(f"a body is no base64 ({error})") from None
