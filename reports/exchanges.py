"""The exchanges of a run on disk: JSON lines, compressed with Zstandard as they happen."""

import base64
import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from icecheck.targets.unwritable import Unwritable, writing
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.json_text import JsonFlaw

_LEVEL = 3
_WINDOW_MAX = 1 << 27


class ExchangeLog:
    """Writes exchanges to one file, from any thread; ``close`` ends it, once.

    ``full`` says why the file could not be written; what comes after that is not kept.
    """

    def __init__(self, path: Path) -> None:
        import zstandard

        self.written = 0
        self.full = ""
        self._path = path
        self._lock = threading.Lock()
        self._file = path.open("wb")
        self._stream: Any = zstandard.ZstdCompressor(level=_LEVEL).stream_writer(self._file)

    def write(self, exchange: Exchange) -> None:
        """Append one redacted exchange.

        Raises Unwritable when the disk is full, once: the run that this ends goes on to clean up.
        """
        line = json.dumps(_to_json(exchange), separators=(",", ":")).encode() + b"\n"
        with self._lock, self._remembered():
            if not self.full:
                self._stream.write(line)
                self.written += 1

    def close(self) -> None:
        """Finish the frame and close the file.

        Raises Unwritable when the disk is full, or was.
        """
        with self._lock, self._remembered(), contextlib.ExitStack() as closing:
            closing.callback(self._file.close)
            self._stream.close()
        if self.full:
            raise Unwritable(self.full)

    @contextlib.contextmanager
    def _remembered(self) -> Iterator[None]:
        """Raise Unwritable for a full disk, and remember it."""
        try:
            with writing(self._path):
                yield
        except Unwritable as unwritable:
            self.full = str(unwritable)
            raise


class ExchangesUnreadable(ValueError):
    """A file holds no exchanges, or not all of them; the message says what is wrong with it."""


def read_exchanges(path: Path) -> Iterator[Exchange]:
    """Yield the exchanges of a file in the order in which they happened.

    Raises ExchangesUnreadable.
    """
    with path.open("rb") as opened:
        yield from exchanges_in(opened)


def exchanges_in(opened: BinaryIO, *, bytes_max: int | None = None) -> Iterator[Exchange]:
    """Yield the exchanges of an opened file; never more than ``bytes_max`` of them are inflated.

    Raises ExchangesUnreadable.
    """
    for number, line in enumerate(_lines(opened, bytes_max), start=1):
        try:
            yield _from_json(json.loads(line))
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            raise ExchangesUnreadable(f"line {number} is no exchange") from None


def _lines(opened: BinaryIO, bytes_max: int | None) -> Iterator[bytes]:
    import zstandard

    pending: list[bytes] = []
    inflated = 0
    try:
        with zstandard.ZstdDecompressor(max_window_size=_WINDOW_MAX).stream_reader(
            opened
        ) as stream:
            while chunk := stream.read(1 << 16):
                inflated += len(chunk)
                if bytes_max is not None and inflated > bytes_max:
                    raise ExchangesUnreadable(f"is longer than {bytes_max} bytes when inflated")
                first, *others = chunk.split(b"\n")
                pending.append(first)
                for begun in others:
                    yield b"".join(pending)
                    pending = [begun]
    except zstandard.ZstdError as error:
        raise ExchangesUnreadable(f"cannot be inflated: {error}") from None
    if any(pending):
        raise ExchangesUnreadable("ends within an exchange")


def _to_json(exchange: Exchange) -> dict[str, Any]:
    row = {
        "check": exchange.check,
        "ordinal": exchange.ordinal,
        "step": str(exchange.step),
        "operation": exchange.operation,
        "method": exchange.method,
        "url": exchange.url,
        "request_headers": [list(pair) for pair in exchange.request_headers],
        "request_body": None if exchange.request_body is None else _body(exchange.request_body),
        "status": exchange.status,
        "response_headers": [list(pair) for pair in exchange.response_headers],
        "response_body": _body(exchange.response_body),
        "elapsed_ms": round(exchange.elapsed_ms, 3),
        "error": exchange.error,
    }
    # Few exchanges have these: without them, some passive verdicts could not be derived again.
    if exchange.raced:
        row["raced"] = True
    if exchange.response_text is not None:
        row["response_text"] = [[flaw.value, told] for flaw, told in exchange.response_text]
    return row


def _from_json(row: dict[str, Any]) -> Exchange:
    request_body, flaws = row["request_body"], row.get("response_text")
    return Exchange(
        check=row["check"],
        ordinal=row["ordinal"],
        step=Step(row["step"]),
        operation=row["operation"],
        method=row["method"],
        url=row["url"],
        request_headers=tuple((k, v) for k, v in row["request_headers"]),
        request_body=None if request_body is None else _bytes(request_body),
        status=row["status"],
        response_headers=tuple((k, v) for k, v in row["response_headers"]),
        response_body=_bytes(row["response_body"]),
        elapsed_ms=row["elapsed_ms"],
        error=row["error"],
        response_text=None if flaws is None else tuple((JsonFlaw(f), told) for f, told in flaws),
        raced=row.get("raced", False),
    )


def _body(body: bytes) -> dict[str, str]:
    """Return a body as text if it is UTF-8, else as base64, so that nothing is lost."""
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def _bytes(body: dict[str, str]) -> bytes:
    return body["text"].encode() if "text" in body else base64.b64decode(body["base64"])
