"""The tables of the evidence: what each row is, what identifies it, and how it is laid out.

``bronze`` has what was received, ``silver`` one row for each thing of a run, ``gold`` what people
ask. Times are UTC; durations end in their unit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

VERSION = 3
"""The version of these tables; a later one is refused, an earlier one gets the missing columns."""
VERSION_PROPERTY = "icecheck.evidence-version"


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its columns with Spark's types, and the keys that identify a row."""

    name: str
    columns: Mapping[str, str]
    keys: tuple[str, ...]
    by_day: bool = False
    properties: Mapping[str, str] = field(default_factory=dict)


def schema_of(columns: Mapping[str, str]) -> str:
    """Return columns as Spark writes a schema."""
    return ", ".join(f"`{column}` {kind}" for column, kind in columns.items())


_RUN = {"report_id": "string", "day": "date"}
# What a line of exchanges says, without its bodies.
_EXCHANGE = {
    "check_id": "string",
    "ordinal": "int",
    "step": "string",
    "operation": "string",
    "method": "string",
    "url": "string",
    "status": "int",
    "elapsed_ms": "double",
    "error": "string",
    "raced": "boolean",
    "request_headers": "array<array<string>>",
    "response_headers": "array<array<string>>",
    "request_bytes": "bigint",
    "response_bytes": "bigint",
}
_AS_TEXT = {"write.parquet.compression-codec": "zstd"}
# A piece of a document can have some MB: the writer has to look at its buffer's size after each.
_DOCUMENTS = _AS_TEXT | {
    "write.parquet.row-group-check-min-record-count": "1",
    "write.parquet.row-group-check-max-record-count": "10",
    "write.parquet.row-group-size-bytes": str(32 << 20),
}

FILES = Table(
    "bronze.files",
    {
        "uri": "string",
        "size_bytes": "bigint",
        "modified_ms": "bigint",
        "sha256": "string",
        "report_id": "string",
        "state": "string",
        "reason": "string",
        "look_again": "boolean",
        "seen_at": "timestamp",
    },
    keys=("uri",),
)
"""Every file as it was last looked at; ``state`` is ingested, duplicate or quarantined.

One that may be read otherwise later, such as one that could not be opened, has ``look_again``.
"""

REPORTS = Table(
    "bronze.reports",
    {
        **_RUN,
        "run_id": "string",
        "file": "string",
        "sha256": "string",
        "exchanges_stated": "string",
        "exchanges_file": "string",
        "exchanges_sha256": "string",
        "taken_at": "timestamp",
    },
    keys=("report_id",),
)
"""Every report of which everything was taken in, whatever became of its files since.

``exchanges_stated`` is the digest of the exchanges that the report speaks of; the other two are of
the file whose lines are there.
"""

DOCUMENTS = Table(
    "bronze.documents",
    {
        **_RUN,
        "file": "string",
        "size_bytes": "bigint",
        "sha256": "string",
        "piece": "int",
        "content": "string",
    },
    keys=("report_id", "piece"),
    by_day=True,
    properties=_DOCUMENTS,
)
"""Each run.json as it was received, in pieces; ``size_bytes`` and ``sha256`` are the file's.

The only piece of what version 1 of these tables took in has no number.
"""

LINES = Table(
    "bronze.lines",
    {
        **_RUN,
        "file": "string",
        "line": "bigint",
        "offset": "bigint",
        "sha256": "string",
        "content": "string",
        "problem": "string",
        "exchanges_sha256": "string",
        **_EXCHANGE,
    },
    keys=("report_id", "line"),
    by_day=True,
    properties=_AS_TEXT,
)
"""Each line of exchanges as it was received, and what was read of it; ``offset`` when inflated.

``problem`` says why a line is no exchange; its content is an excerpt then.
"""

RUNS = Table(
    "silver.runs",
    {
        **_RUN,
        "run_id": "string",
        "generated_at": "timestamp",
        "generated_at_text": "string",
        "report_version": "string",
        "sha256": "string",
        "file": "string",
        "catalog": "string",
        "url": "string",
        "warehouse": "string",
        "server": "string",
        "config_sha256": "string",
        "suite_version": "string",
        "requirement_set": "string",
        "requirement_set_sha256": "string",
        "spec": "string",
        "spec_sha256": "string",
        "complete": "boolean",
        "status": "string",
        "headline": "string",
        "exit_code": "int",
        "exit_reason": "string",
        "started_at": "timestamp",
        "wall_s": "double",
        "requests": "bigint",
        "passed": "int",
        "failed": "int",
        "blocked": "int",
        "skipped": "int",
        "errors": "int",
        "blocks": "string",
    },
    keys=("report_id",),
)
"""One row a run; ``blocks`` is the JSON of what a comparison of runs reads of them."""

CHECKS = Table(
    "silver.checks",
    {
        **_RUN,
        "position": "int",
        "check_id": "string",
        "title": "string",
        "family": "string",
        "profile": "string",
        "requirements": "array<string>",
        "operations": "array<string>",
        "level": "string",
        "outcome": "string",
        "skip_kind": "string",
        "skip_reason": "string",
        "blocked_by": "array<string>",
        "expected": "string",
        "unexpected": "boolean",
        "gates": "boolean",
        "duration_ms": "double",
        "started_ms": "bigint",
        "requests": "int",
        "summary": "string",
        "cause": "string",
    },
    keys=("report_id", "position"),
)

FINDINGS = Table(
    "silver.findings",
    {
        **_RUN,
        "check_id": "string",
        "position": "int",
        "symptom": "string",
        "expected": "string",
        "actual": "string",
        "detail": "string",
        "exchange": "int",
        "pointer": "string",
    },
    keys=("report_id", "check_id", "position"),
)

CAUSES = Table(
    "silver.causes",
    {
        **_RUN,
        "position": "int",
        "cause_id": "string",
        "title": "string",
        "level": "string",
        "severity": "int",
        "symptom": "string",
        "checks": "array<string>",
        "blocked": "array<string>",
        "operations": "array<string>",
        "requirements": "array<string>",
        "consequence": "string",
        "witness": "string",
    },
    keys=("report_id", "position"),
)

PROFILES = Table(
    "silver.profiles",
    {
        **_RUN,
        "position": "int",
        "profile": "string",
        "claimed": "boolean",
        "status": "string",
        "must_pass": "int",
        "must_fail": "int",
        "must_blocked": "int",
    },
    keys=("report_id", "position"),
)

EXCHANGES = Table(
    "silver.exchanges",
    {
        **_RUN,
        "line": "bigint",
        "exchanges_sha256": "string",
        **_EXCHANGE,
    },
    keys=("report_id", "line"),
    by_day=True,
    properties=_AS_TEXT,
)
"""One row an exchange; its bodies are in the line of ``bronze.lines`` with the same key."""

QUARANTINE = Table(
    "silver.quarantine",
    {
        "file": "string",
        "line": "bigint",
        "sha256": "string",
        "report_id": "string",
        "reason": "string",
        "excerpt": "string",
        "seen_at": "timestamp",
    },
    keys=("file", "line"),
)
"""What was not taken in: a line, or (line 0) a whole file."""

TABLES = (
    FILES, REPORTS, DOCUMENTS, LINES, RUNS, CHECKS, FINDINGS, CAUSES, PROFILES, EXCHANGES,
    QUARANTINE,
)  # fmt: skip
