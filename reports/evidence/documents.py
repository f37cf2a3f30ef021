"""Takes a run.json apart into the rows of the silver tables, in the executors."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from icecheck.reports.evidence.declared_tables import (
    CAUSES,
    CHECKS,
    FINDINGS,
    PROFILES,
    RUNS,
    Table,
)
from icecheck.reports.evidence.moments import moment

if TYPE_CHECKING:
    from pandas import DataFrame

_Row = Mapping[str, Any]
_BLOCKS = ("suite", "spec", "target", "config", "verdict")
_BATCH_ROWS = 2_000
_UNNAMED = "unnamed"


def rows_of(table: Table) -> "Callable[[Iterator[DataFrame]], Iterator[DataFrame]]":
    """Return the function that makes rows of a table of rows of ``bronze.documents``.

    The pieces of a document have to follow each other, in their order. Pieces of another one, which
    came too late to be the run's, are passed over.
    """
    take, columns = _TAKES[table.name], [*table.columns]

    def make(batches: "Iterator[DataFrame]") -> "Iterator[DataFrame]":
        import pandas as pd

        pieces = chain.from_iterable(batch.itertuples() for batch in batches)
        for _, some in groupby(pieces, attrgetter("report_id")):
            stored, *others = some
            same = (piece.content for piece in others if piece.sha256 == stored.sha256)
            content = "".join((stored.content, *same))
            rows = [
                {"report_id": stored.report_id, "day": stored.day, **row}
                for row in take(_read(content), stored)
            ]
            for start in range(0, len(rows), _BATCH_ROWS):
                # As objects: pandas would make floats of whole numbers beside a null.
                part = rows[start : start + _BATCH_ROWS]
                yield pd.DataFrame(part, columns=columns, dtype=object)

    return make


def _read(content: str) -> dict[str, Any]:
    from icecheck.findings.comparison import read_run

    return read_run(content.encode(), "bronze.documents")


def _runs(document: dict[str, Any], stored: Any) -> Iterator[dict[str, Any]]:
    import msgspec

    from icecheck.reports.many.stored import stored as summed_up

    run = summed_up(document)
    target, timing = document["target"], document["timing"]
    fingerprint = target["fingerprint"]
    yield {
        "run_id": run.run_id,
        "generated_at": _without_zone(run.generated_at),
        "generated_at_text": run.generated_at,
        "report_version": document["report_version"],
        "sha256": stored.sha256,
        "file": stored.file,
        "catalog": target["url"] if run.label == _UNNAMED else run.label,
        "url": target["url"],
        "warehouse": target["warehouse"],
        "server": fingerprint["server_header"],
        "config_sha256": fingerprint["config_sha256"],
        "suite_version": run.suite,
        "requirement_set": document["suite"]["requirement_set"],
        "requirement_set_sha256": document["suite"]["requirement_set_sha256"],
        "spec": run.spec,
        "spec_sha256": document["spec"]["sha256"],
        "complete": run.complete,
        "status": run.status,
        "headline": document["verdict"]["headline"],
        "exit_code": run.exit_code,
        "exit_reason": run.exit_reason,
        "started_at": _without_zone(timing["started_at"]),
        "wall_s": float(timing["wall_s"]),
        "requests": timing["requests"],
        "passed": run.totals["pass"],
        "failed": run.totals["fail"],
        "blocked": run.totals["blocked"],
        "skipped": run.totals["skip"],
        "errors": run.totals["error"],
        "blocks": msgspec.json.encode({name: document[name] for name in _BLOCKS}).decode(),
    }


def _checks(document: dict[str, Any], _stored: Any) -> Iterator[dict[str, Any]]:
    for position, check in enumerate(document["checks"]):
        skip = check.get("skip") or {}
        yield {
            "position": position,
            "check_id": check["id"],
            "title": check["title"],
            "family": check.get("group"),
            "profile": next(iter(check.get("profile") or ()), None),
            "requirements": check.get("requirements") or [],
            "operations": check.get("operations") or [],
            "level": check["severity"],
            "outcome": check["outcome"],
            "skip_kind": skip.get("kind"),
            "skip_reason": skip.get("reason"),
            "blocked_by": check.get("blocked_by") or [],
            "expected": check.get("expected"),
            "unexpected": check.get("unexpected"),
            "gates": check.get("gates"),
            "duration_ms": float(check.get("duration_ms") or 0),
            "started_ms": check.get("started_ms"),
            "requests": check.get("requests"),
            "summary": check.get("summary"),
            "cause": check.get("cause"),
        }


def _findings(document: dict[str, Any], _stored: Any) -> Iterator[dict[str, Any]]:
    for check in document["checks"]:
        for position, found in enumerate(check.get("assertions") or ()):
            place = found.get("location") or {}
            yield {
                "check_id": check["id"],
                "position": position,
                "symptom": found["id"],
                "expected": found.get("expected"),
                "actual": found.get("actual"),
                "detail": found.get("detail"),
                "exchange": place.get("exchange"),
                "pointer": place.get("pointer"),
            }


def _causes(document: dict[str, Any], _stored: Any) -> Iterator[dict[str, Any]]:
    same = ("title", "level", "severity", "symptom", "consequence", "witness")
    lists = ("checks", "blocked", "operations", "requirements")
    for position, cause in enumerate(document["causes"]):
        yield {
            "position": position,
            "cause_id": cause["id"],
            **{name: cause.get(name) for name in same},
            **{name: cause.get(name) or [] for name in lists},
        }


def _profiles(document: dict[str, Any], _stored: Any) -> Iterator[dict[str, Any]]:
    for position, profile in enumerate(document["profiles"]):
        must = profile["must"]
        yield {
            "position": position,
            "profile": profile["id"],
            "claimed": profile["claimed"],
            "status": profile["status"],
            "must_pass": must["pass"],
            "must_fail": must["fail"],
            "must_blocked": must["blocked"],
        }


def _without_zone(text: str) -> datetime:
    """Return the time of a text, without a zone: Spark takes it in that of the session, UTC."""
    return moment(text).replace(tzinfo=None)


_TAKES: Mapping[str, Callable[[dict[str, Any], Any], Iterator[dict[str, Any]]]] = {
    RUNS.name: _runs,
    CHECKS.name: _checks,
    FINDINGS.name: _findings,
    CAUSES.name: _causes,
    PROFILES.name: _profiles,
}
FROM_DOCUMENTS = (RUNS, CHECKS, FINDINGS, CAUSES, PROFILES)
"""The tables whose rows come from documents, in the order in which they are written."""
