"""Entries of the journal as documents: JSON, JSON lines, and HAR for the tools that read that."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from icecheck.mock_server.core.journal_entry import JournalEntry

HAR_VERSION = "1.2"
SUFFIXES = (".har", ".jsonl")
_encode = msgspec.json.Encoder().encode


def entry_document(entry: JournalEntry, *, with_content: bool = True) -> dict[str, Any]:
    """Return an entry as JSON has it; ``request`` and ``response`` are null where forgotten."""
    document: dict[str, Any] = {
        "sequence": entry.sequence,
        "time": _moment(entry),
        "method": entry.method,
        "path": entry.path,
        "query": entry.query,
        "operation": entry.operation,
        "warehouse": entry.warehouse,
        "namespace": [*entry.namespace],
        "name": entry.name,
        "principal": entry.principal,
        "client": entry.client,
        "status": entry.status,
        "answered": entry.answered,
        "duration_us": entry.duration_us,
        "fault": entry.fault,
    }
    if with_content:
        headers = entry.request_headers
        answered = entry.response_headers
        document["request"] = (
            None if headers is None else {"headers": headers, "body": entry.request_body}
        )
        document["response"] = (
            None if answered is None else {"headers": answered, "body": entry.response_body}
        )
    return document


def entry_line(entry: JournalEntry) -> bytes:
    """Return an entry as one line of JSON, with its newline."""
    return _encode(entry_document(entry)) + b"\n"


def entry_words(entry: JournalEntry) -> str:
    """Return an entry as one line for people."""
    what = entry.operation or f"{entry.method} {entry.path[:100]}"
    about = ".".join((*entry.namespace, *([entry.name] if entry.name else ())))
    parts = [
        _moment(entry)[11:23],
        str(entry.status) if entry.answered else f"{entry.status} not answered",
        what,
        *(part for part in (entry.warehouse, about) if part),
        f"{entry.duration_us / 1000:.1f} ms",
    ]
    if entry.fault:
        parts.append(f"fault {entry.fault}")
    return " ".join(part if part.isprintable() else repr(part) for part in parts)


def har(entries: Iterable[JournalEntry]) -> bytes:
    """Return a HAR 1.2 document of those entries whose content is remembered."""
    from icecheck import __version__

    log = {
        "version": HAR_VERSION,
        "creator": {"name": "icecheck", "version": __version__},
        "entries": [_har_entry(entry) for entry in entries if entry.request_headers is not None],
    }
    return _encode({"log": log})


def save(entries: Sequence[JournalEntry], path: Path) -> None:
    """Write entries into a file, ``.har`` or ``.jsonl``; ValueError for another suffix."""
    if path.suffix not in SUFFIXES:
        raise ValueError(f"{path}: a journal is saved as one of {', '.join(SUFFIXES)}")
    if path.suffix == ".har":
        path.write_bytes(har(entries))
    else:
        path.write_bytes(b"".join(map(entry_line, entries)))


def _har_entry(entry: JournalEntry) -> dict[str, Any]:
    query, body = entry.query or "", entry.request_body or ""
    request_headers, response_headers = entry.request_headers or (), entry.response_headers or ()
    named = dict(request_headers)
    base_uri = f"http://{named.get('host', 'localhost')}"
    content_type = named.get("content-type", "")
    answer = entry.response_body or ""
    milliseconds = entry.duration_us / 1000
    request: dict[str, Any] = {
        "method": entry.method,
        "url": f"{base_uri}{entry.path}{'?' if query else ''}{query}",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _named(request_headers),
        "queryString": _named(parse_qsl(query, keep_blank_values=True)),
        "headersSize": -1,
        "bodySize": len(body.encode()),
    }
    if body:
        request["postData"] = {"mimeType": content_type, "text": body}
    return {
        "startedDateTime": _moment(entry),
        "time": milliseconds,
        "request": request,
        "response": {
            # No answer at all has the status 0 in HAR.
            "status": entry.status if entry.answered else 0,
            "statusText": "",
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": _named(response_headers),
            "content": {
                "size": len(answer.encode()),
                "mimeType": dict(response_headers).get("content-type", ""),
                "text": answer,
            },
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": len(answer.encode()),
        },
        "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0},
        "comment": entry.operation,
    }


def _named(pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _moment(entry: JournalEntry) -> str:
    return datetime.fromtimestamp(entry.time_ms / 1000, UTC).isoformat(timespec="milliseconds")
