"""Looks at each new file, in the executors: whose run it is, and whether it can be taken in."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from icecheck.reports.evidence.declared_tables import DOCUMENTS
from icecheck.reports.evidence.files import EXCHANGES_SUFFIX, open_file
from icecheck.reports.evidence.moments import moment
from icecheck.targets.target import UsageError

if TYPE_CHECKING:
    from pandas import DataFrame

RUN_BYTES_MAX = 128 << 20
"""A run.json that is larger is not taken in: a worker has to hold it in memory, taken apart."""
_TOO_LARGE = f"it is larger than {RUN_BYTES_MAX >> 20} MiB"
PIECE_CHARACTERS = 2 << 20
"""How much of a document is in one row: the JVM holds some rows at a time, whatever their size."""
KNOWN_VERSIONS = ((1, 0), (1, 1))
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AHEAD_MAX = timedelta(days=1)
_EXCERPT = 200
_CHUNK = 1 << 20

HEAD_COLUMNS = {
    "uri": "string",
    "sha256": "string",
    "report_id": "string",
    "run_id": "string",
    "generated_at": "string",
    "exchanges_name": "string",
    "exchanges_sha256": "string",
    "problem": "string",
    "look_again": "boolean",
    "excerpt": "string",
}
"""What is known of a file; of one with exchanges the digest only, or the problem.

``look_again`` says that the problem may not be there another time.
"""


def looking_at(now: datetime) -> "Callable[[Iterator[DataFrame]], Iterator[DataFrame]]":
    """Return the function that makes a row of `HEAD_COLUMNS` of each row with a ``uri``."""

    def look(batches: "Iterator[DataFrame]") -> "Iterator[DataFrame]":
        import pandas as pd

        for batch in batches:
            rows = [head_of(uri, now) for uri in batch["uri"]]
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


def head_of(uri: str, now: datetime) -> dict[str, Any]:
    """Return the row of `HEAD_COLUMNS` of one file."""
    head: dict[str, Any] = {**dict.fromkeys(HEAD_COLUMNS), "uri": uri, "look_again": False}
    try:
        if uri.endswith(EXCHANGES_SUFFIX):
            return head | {"sha256": _digest_of(uri)}
        content = _content(uri)
    except (OSError, UsageError) as error:
        words = str(error).partition("\n")[0][:_EXCERPT]
        return head | {"problem": words, "look_again": words != _TOO_LARGE}
    head["sha256"] = _digest(content)
    document = _parsed(content)
    if isinstance(document, str):
        problem, again = document, False
    else:
        problem, again = _problem(document, content, now)
    if problem:
        excerpt = content[:_EXCERPT].decode("utf-8", "replace")
        head |= {"problem": problem, "look_again": again, "excerpt": excerpt}
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
            "exchanges_sha256": _text(artifacts[0].get("sha256")),
        }
    except (AttributeError, LookupError, TypeError):
        return {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _content(uri: str) -> bytes:
    with open_file(uri) as stream:
        content = bytes(stream.read(RUN_BYTES_MAX + 1))
    if len(content) > RUN_BYTES_MAX:
        raise UsageError(_TOO_LARGE)
    return content


def _digest_of(uri: str) -> str:
    """Return the digest of a file of any size."""
    digest = hashlib.sha256()
    with open_file(uri) as stream:
        while part := stream.read(_CHUNK):
            digest.update(part)
    return f"sha256:{digest.hexdigest()}"


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _problem(document: Any, content: bytes, now: datetime) -> tuple[str, bool]:
    """Return in words why a document is not taken in, and whether it may be later; "" if it is.

    A later release reads a newer version, and the future comes.
    """
    if not isinstance(document, dict) or document.get("kind") != "IcebergRestConformanceReport":
        return "it is no report of icecheck", False
    if wrong := _wrong_version(document.get("report_version")):
        return wrong, True
    if "report_id" not in document:
        return "it is a record of a run, and not its whole report", False
    if problems := _of_the_schema(document, content):
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return f"it has not the form of a report: {problems[0]}{more}", False
    if _UUID.fullmatch(document["report_id"]) is None:
        return "its report_id is no UUID", False
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


def _wrong_time(generated_at: str, now: datetime) -> tuple[str, bool]:
    try:
        at = moment(generated_at)
    except (ValueError, OverflowError):
        return f"its time is none: {generated_at[:40]}", False
    if at > now + _AHEAD_MAX:
        return f"it says that it was made at {generated_at}, which is in the future", True
    return "", False
