"""Looks at each run.json, in the executors: whose run it is, and whether it can be taken in."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from icecheck.reports.evidence.declared_tables import DOCUMENTS
from icecheck.reports.evidence.files import open_file
from icecheck.reports.evidence.moments import moment
from icecheck.targets.target import UsageError

if TYPE_CHECKING:
    from pandas import DataFrame

RUN_BYTES_MAX = 128 << 20
"""A run.json that is larger is not taken in: a worker has to hold it in memory, taken apart."""
PIECE_CHARACTERS = 2 << 20
"""How much of a document is in one row: the JVM holds some rows at a time, whatever their size."""
KNOWN_VERSIONS = ((1, 0), (1, 1))
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AHEAD_MAX = timedelta(days=1)
_EXCERPT = 200

HEAD_COLUMNS = {
    "uri": "string",
    "sha256": "string",
    "report_id": "string",
    "run_id": "string",
    "generated_at": "string",
    "exchanges_name": "string",
    "problem": "string",
    "excerpt": "string",
}


def looking_at(now: datetime) -> "Callable[[Iterator[DataFrame]], Iterator[DataFrame]]":
    """Return the function that makes a row of `HEAD_COLUMNS` of each row with a ``uri``."""

    def look(batches: "Iterator[DataFrame]") -> "Iterator[DataFrame]":
        import pandas as pd

        for batch in batches:
            rows = [_head(uri, now) for uri in batch["uri"]]
            yield pd.DataFrame(rows, columns=[*HEAD_COLUMNS])

    return look


def contents(batches: "Iterator[DataFrame]") -> "Iterator[DataFrame]":
    """Make the rows of ``bronze.documents`` of each row with uri, sha256, report_id and day.

    A file that is no longer what was looked at gives none.
    """
    import pandas as pd

    for batch in batches:
        for row in batch.itertuples():
            content = _content(row.uri)
            if _digest(content) == row.sha256:
                same = row.report_id, row.day, row.uri, len(content), row.sha256
                text = content.decode()
                for piece, start in enumerate(range(0, len(text), PIECE_CHARACTERS)):
                    part = text[start : start + PIECE_CHARACTERS]
                    yield pd.DataFrame([(*same, piece, part)], columns=[*DOCUMENTS.columns])


def _head(uri: str, now: datetime) -> dict[str, str | None]:
    head: dict[str, str | None] = dict.fromkeys(HEAD_COLUMNS)
    head["uri"] = uri
    try:
        content = _content(uri)
    except (OSError, UsageError) as error:
        return head | {"problem": str(error).partition("\n")[0][:_EXCERPT]}
    head["sha256"] = _digest(content)
    document = _parsed(content)
    problem = document if isinstance(document, str) else _problem(document, content, now)
    if problem:
        head["problem"] = problem
        head["excerpt"] = content[:_EXCERPT].decode("utf-8", "replace")
    return head | _names(document)


def _parsed(content: bytes) -> Any:
    """Return the document of a file, or in words why it is none."""
    if not content.strip():
        return "it is empty"
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass  # the slower reader takes more, and says what is wrong
    try:
        return json.loads(content.decode())  # it takes half a surrogate pair
    except UnicodeDecodeError as error:
        return f"it is not UTF-8 (byte {error.start})"
    except RecursionError:
        return "it is nested too deeply"
    except ValueError as error:
        return f"it is no JSON, or was not written to its end ({str(error)[:80]})"


def _names(document: Any) -> dict[str, str | None]:
    """Return what names the run, as far as the document says it."""
    try:
        artifacts = document.get("artifacts") or [{}]
        return {
            "report_id": _text(document.get("report_id")),
            "run_id": _text(document.get("run_id")),
            "generated_at": _text(document.get("generated_at")),
            "exchanges_name": _text(artifacts[0].get("name")),
        }
    except (AttributeError, LookupError, TypeError):
        return {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _content(uri: str) -> bytes:
    with open_file(uri) as stream:
        content = bytes(stream.read(RUN_BYTES_MAX + 1))
    if len(content) > RUN_BYTES_MAX:
        raise UsageError(f"it is larger than {RUN_BYTES_MAX >> 20} MiB")
    return content


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _problem(document: Any, content: bytes, now: datetime) -> str:
    """Return in words why a document is not taken in; "" if it is."""
    if not isinstance(document, dict) or document.get("kind") != "IcebergRestConformanceReport":
        return "it is no report of icecheck"
    if wrong := _wrong_version(document.get("report_version")):
        return wrong
    if "report_id" not in document:
        return "it is a record of a run, and not its whole report"
    if problems := _of_the_schema(document, content):
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return f"it has not the form of a report: {problems[0]}{more}"
    if _UUID.fullmatch(document["report_id"]) is None:
        return "its report_id is no UUID"
    return _wrong_time(document["generated_at"], now)


def _of_the_schema(document: Any, content: bytes) -> list[str]:
    from icecheck.reports.run_json import follows_schema, problems_of

    return [] if follows_schema(document) else problems_of(content.decode())


def _wrong_version(version: Any) -> str:
    parts = str(version).split(".")
    number = tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()
    if number in KNOWN_VERSIONS:
        return ""
    newest = ".".join(map(str, KNOWN_VERSIONS[-1]))
    return f"its report_version is {version}, and this icecheck reads up to {newest}"


def _wrong_time(generated_at: str, now: datetime) -> str:
    try:
        at = moment(generated_at)
    except (ValueError, OverflowError):
        return f"its time is none: {generated_at[:40]}"
    if at > now + _AHEAD_MAX:
        return f"it says that it was made at {generated_at}, which is in the future"
    return ""
