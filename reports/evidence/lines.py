"""Reads the lines of exchanges, in the executors: inflated piece by piece, each looked at."""

import hashlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from icecheck.reports.evidence.declared_tables import LINES
from icecheck.reports.evidence.files import open_file

if TYPE_CHECKING:
    from pandas import DataFrame

LINE_BYTES_MAX = 64 << 20
"""A longer line is not taken in: it would have to be held in memory."""
_CHUNK = 1 << 18
# A block of zstd has 4 bytes or more, and holds 128 KiB at most: of so many come 16 MiB at most.
_PACKED_AT_ONCE = 512
_BATCH_ROWS, _BATCH_BYTES = 2_000, 4 << 20
_WINDOW_MAX = 1 << 27
_EXCERPT = 200


class _Body(msgspec.Struct):
    text: str | None = None
    base64: str | None = None


class _Exchange(msgspec.Struct):
    """The members that every exchange has; later ones are not looked at."""

    check: str
    ordinal: int
    step: str
    operation: str | None
    method: str
    url: str
    request_headers: list[tuple[str, str]]
    request_body: _Body | None
    status: int | None
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
    """Make rows of ``bronze.lines`` of each row with uri, report_id and day."""
    import pandas as pd

    for batch in batches:
        for file in batch.itertuples():
            rows: list[tuple[Any, ...]] = []
            size = 0
            for line in lines_of(file.uri):
                content, problem = _told(line)
                rows.append(
                    (
                        file.report_id, file.day, file.uri, line.number, line.offset,
                        hashlib.sha256(line.content).hexdigest(), content, problem,
                    )
                )  # fmt: skip
                size += len(line.content)
                if len(rows) >= _BATCH_ROWS or size >= _BATCH_BYTES:
                    yield pd.DataFrame(rows, columns=[*LINES.columns])
                    rows, size = [], 0
            if rows:
                yield pd.DataFrame(rows, columns=[*LINES.columns])


def lines_of(uri: str) -> Iterator[Line]:
    """Yield the lines of a file; what is wrong with the file itself is the problem of the last."""
    splitting = _Splitting()
    problem = ""
    try:
        with open_file(uri) as stream:
            for chunk in _inflated(stream):
                yield from splitting.taken(chunk)
    except (OSError, EOFError) as error:
        problem = str(error)[:_EXCERPT]
    read = splitting.number
    last = splitting.rest()
    if problem or last is not None:
        found = last or Line(read + 1, splitting.offset, b"")
        why = problem or "the file ends within this line"
        yield msgspec.structs.replace(found, problem=f"{why}; {read} lines were read")


def _inflated(stream: Any) -> Iterator[bytes]:
    """Yield what the frames of a file hold; EOFError where it ends within one, or is damaged."""
    import zstandard

    decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW_MAX)
    frame = None
    empty = True
    while packed := bytes(stream.read(_CHUNK)):
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


def _told(line: Line) -> tuple[str, str | None]:
    """Return a line's text and what is wrong with it; of a wrong one an excerpt."""
    problem = line.problem
    try:
        text = line.content.decode()
    except UnicodeDecodeError as error:
        problem = problem or f"it is not UTF-8 (byte {error.start})"
        text = line.content.decode("utf-8", "replace")
    problem = problem or _no_exchange(line.content)
    return (text[:_EXCERPT], problem) if problem else (text, None)


def _no_exchange(content: bytes) -> str:
    try:
        msgspec.json.decode(content, type=_Exchange)
    except msgspec.ValidationError as error:
        return f"it is no exchange: {error}"
    except msgspec.DecodeError as error:
        return "" if _is_lone_surrogate(content) else f"it is no JSON: {error}"
    return ""


def _is_lone_surrogate(content: bytes) -> bool:
    """Return whether a line is JSON but for half a surrogate pair, which a catalog may send."""
    try:
        msgspec.convert(json.loads(content), _Exchange)
    except (ValueError, RecursionError):
        return False
    return True
