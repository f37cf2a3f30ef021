"""Passive verdicts: every exchange of the run, judged by its schema and its envelope."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from icecheck.contract import Contract, Level, Response
from icecheck.findings.shared_symptoms import (
    ERROR_TYPE,
    LISTED_TWICE,
    SCHEMA,
    SERVER_ERROR_BODY,
)
from icecheck.findings.symptoms import Severity, declare
from icecheck.findings.verdict import Evidence, Finding, Group, Outcome, Verdict
from icecheck.judging import error_types, json_forms
from icecheck.judging.evidence import evidence_from
from icecheck.judging.repeated import SNAPSHOTS, repeated
from icecheck.replies.schema import SchemaJudge, has_strict_reading
from icecheck.wire.exchange import Exchange, Step, as_curl
from icecheck.wire.json_text import read_json
from icecheck.wire.retry import is_stopped_on_the_way

_BODY_ON_204 = declare(
    "body-on-204", "Sends a body with status 204", Severity.SHAPE, values_in_title=False
)
_MEMBER_BESIDE_ERROR = declare(
    "member-beside-error",
    "Sends members beside the error that the document does not define",
    Severity.WORDING,
)
_ERROR_CODE = declare(
    "error-code",
    "error.code differs from the HTTP status",
    Severity.SHAPE,
    "Spark: reads error.code, and handles the answer as another error",
    values_in_title=False,
)

_FINDINGS_MAX = 12

# Judgements that span operations: the id of the check and of its requirement -> the check's title.
_WIRE = {
    "error.code-equals-status": "The code in an error body is the HTTP status",
    error_types.REQUIREMENT: "Errors carry the type names that the document gives them",
    "http.no-body-on-204": "An answer with status 204 has no body",
    **json_forms.TITLES,
    "metadata.snapshots-once": "No metadata lists a snapshot twice",
    "metadata.ids-once": "Nothing that has an id is listed twice in metadata",
}
_BESIDE_ERRORS = "observation.members-beside-errors"


@dataclass(slots=True)
class Observed:
    """What passive judgement saw of one passive check: the number of answers, and the findings."""

    seen: int = 0
    findings: dict[tuple[str, ...], Finding] = field(default_factory=dict)
    evidence: Evidence | None = None

    def merge(self, other: "Observed") -> None:
        """Add the observations of another worker."""
        self.seen += other.seen
        for key, finding in other.findings.items():
            if len(self.findings) < _FINDINGS_MAX:
                self.findings.setdefault(key, finding)
        if other.evidence is not None and _shows_more(other.evidence.step, self.evidence):
            self.evidence = other.evidence


def passive_checks(contract: Contract) -> tuple[str, ...]:
    """Return the ids of all passive checks: the wire ones, then one per documented body.

    Answers to HEAD have no body, whatever the document lists for them (RFC 9110, 9.3.2).
    """
    asking = {o for o, operation in contract.operations.items() if operation.method == "HEAD"}
    rows = contract.documented_responses
    bodies = [r for r in rows if r.has_body and r.operation_id not in asking]
    return (*_WIRE, *(check for row in bodies for check in _schema_ids(row, contract)))


def observe(
    exchanges: Iterable[Exchange],
    schemas: SchemaJudge,
    into: dict[str, Observed] | None = None,
    verdict: Verdict | None = None,
) -> dict[str, Observed]:
    """Judge exchanges (already redacted) passively; return passive check id -> what was seen.

    ``verdict`` is that of the check which sent them: an answer that was not due at all, as it says,
    gets no findings for its shape or its type name, which are consequences.
    """
    observed = {} if into is None else into
    blamed = _blamed(verdict)
    proper = True
    for exchange in exchanges:
        if exchange.status is None or exchange.operation is None:
            continue
        # A check sent the wrong method on purpose: the answer is none of the operation's.
        if schemas.contract.operations[exchange.operation].method != exchange.method:
            continue
        if is_stopped_on_the_way(exchange):
            continue
        # While things are removed, what other checks made wrong on purpose may be shown.
        due = proper and not blamed(exchange) and exchange.step is not Step.UNDO
        if exchange.status == 200:  # what was accepted although it is wrong is given back wrong
            proper = proper and not (blamed(exchange) or _asks_improperly(exchange, schemas))
        if due:
            _observe_schema(exchange, schemas, observed)
            _observe_repeats(exchange, schemas, observed)
        _observe_wire(exchange, schemas.contract, observed, due=due)
        _observe_json(exchange, observed)
    return observed


def _blamed(verdict: Verdict | None) -> Callable[[Exchange], bool]:
    """Return a predicate of exchanges: does the verdict say that the answer was not due at all?"""
    findings = [] if verdict is None else [f for f in verdict.findings if f.answered is not None]
    ordinals = {f.exchange for f in findings}
    # A check names only some of its requests; if one broke the server, the same status elsewhere is
    # blamed too.
    failures = {f.answered for f in findings if (f.answered or 0) >= 500}
    if verdict is not None and verdict.outcome is Outcome.BLOCKED:
        failures |= {e.status for e in verdict.evidence if (e.status or 0) >= 500}
    return lambda exchange: exchange.ordinal in ordinals or exchange.status in failures


def passive_verdicts(observed: Mapping[str, Observed], contract: Contract) -> list[Verdict]:
    """Return the verdicts on what was seen, in the order of ``passive_checks``."""
    rows = {c: r for r in contract.documented_responses for c in _schema_ids(r, contract)}
    verdicts = []
    for check_id in passive_checks(contract):
        seen = observed.get(check_id)
        if seen is None or not seen.seen:
            continue
        if check_id in _WIRE:
            level, title = contract.requirements[check_id].level, _WIRE[check_id]
            verdicts.append(_verdict(check_id, title, level, (check_id,), (), "core", seen))
            continue
        row = rows[check_id]
        reading = check_id.endswith(".reading")
        verdicts.append(
            _verdict(
                check_id,
                _schema_title(row, reading=reading),
                Level.SHOULD if reading else contract.requirements[row.id].level,
                (row.id,),
                (row.operation_id,),
                contract.operations[row.operation_id].profile,
                seen,
            )
        )
    return verdicts


def members_beside_errors(observed: Mapping[str, Observed]) -> tuple[dict[str, Any], ...]:
    """Return the observation, no finding (verdict-rules 5), that errors carry further members."""
    seen = observed.get(_BESIDE_ERRORS)
    if seen is None or not seen.findings:
        return ()
    names = sorted({name for name, *_ in seen.findings})
    return (
        {
            "id": "members-beside-errors",
            "question": "Members of error answers that the document does not define",
            "answer": ", ".join(names)[:300],
            "spec_says": "the envelope has `error` alone; clients read past everything else",
        },
    )


def _schema_ids(row: Response, contract: Contract) -> tuple[str, ...]:
    base = f"schema.{row.operation_id}.{row.status}"
    if not row.has_body or not has_strict_reading(contract, row.operation_id, row.status):
        return (base,)
    return (base, f"{base}.reading")


def _schema_title(row: Response, *, reading: bool) -> str:
    body = f"the body of {row.operation_id} {row.status}"
    if reading:
        return f"In {body} the strict reading of the prose holds"
    return f"{body[0].upper()}{body[1:]} has the documented shape"


def _observe_schema(
    exchange: Exchange, schemas: SchemaJudge, observed: dict[str, Observed]
) -> None:
    if exchange.operation is None or exchange.status is None:
        return
    row = schemas.contract.response(exchange.operation, exchange.status)
    if row is None or not row.has_body or exchange.method == "HEAD":
        return
    if exchange.step is Step.UNDO:
        return  # it may show objects that were made wrong on purpose, by other checks too
    problems = schemas.judge(exchange)
    if problems and not _answers_a_proper_request(exchange, schemas):
        return
    for check_id in _schema_ids(row, schemas.contract):
        observed.setdefault(check_id, Observed()).seen += 1
    for problem in problems:
        suffix = ".reading" if problem.level is Level.SHOULD else ""
        entry = observed[f"schema.{exchange.operation}.{row.status}{suffix}"]
        finding = Finding(
            symptom=SERVER_ERROR_BODY if exchange.status >= 500 else SCHEMA.of(problem.kind),
            expected=_due(problem.kind, problem.pointer),
            actual=problem.message[:160],
            detail=f"in the body of {exchange.operation} {exchange.status}",
            pointer=problem.pointer,
            exchange=exchange.ordinal,
        )
        _add(entry, (problem.pointer, problem.kind), finding, exchange)


def _answers_a_proper_request(exchange: Exchange, schemas: SchemaJudge) -> bool:
    """Return whether an answer's shape is to be judged: it does not follow from a bad request.

    What is accepted malformed is given back malformed, and after a server error something else may
    answer; the check that asked judges both. Refusals and redirections are always judged.
    """
    status = exchange.status or 300
    return 300 <= status < 500 or not _asks_improperly(exchange, schemas)


def _asks_improperly(exchange: Exchange, schemas: SchemaJudge) -> bool:
    if exchange.request_body is None or exchange.operation in {None, "getToken"}:
        return False
    body = _parsed(exchange.request_body)
    if isinstance(body, dict):  # Java clients write null for a member that they leave out
        body = {name: value for name, value in body.items() if value is not None}
    return not schemas.request_is_valid(str(exchange.operation), body)


def _due(kind: str, pointer: str) -> str:
    match kind:
        case "required":
            return "every required member"
        case "not-json":
            return "a JSON body"
        case "media-type":
            return "a body that says it is JSON"
        case _:
            return f"the documented {kind} at {pointer or 'the top'}"


def _observe_repeats(
    exchange: Exchange, schemas: SchemaJudge, observed: dict[str, Observed]
) -> None:
    if exchange.status != 200 or b'"metadata"' not in exchange.response_body:
        return
    body = _parsed(exchange.response_body)
    metadata = body.get("metadata") if isinstance(body, dict) else None
    if not isinstance(metadata, dict) or not _answers_a_proper_request(exchange, schemas):
        return
    for check_id in ("metadata.snapshots-once", "metadata.ids-once"):
        observed.setdefault(check_id, Observed()).seen += 1
    for member, told in repeated(metadata):
        check_id = "metadata.snapshots-once" if member == SNAPSHOTS else "metadata.ids-once"
        finding = Finding(
            symptom=LISTED_TWICE,
            expected="each id once",
            actual="one of them again",
            detail=f"{member} of {exchange.operation}: {told}",
            pointer=f"/metadata/{member}",
            exchange=exchange.ordinal,
        )
        _add(observed[check_id], (str(exchange.operation), member), finding, exchange)


def _observe_wire(
    exchange: Exchange, contract: Contract, observed: dict[str, Observed], *, due: bool
) -> None:
    if exchange.status == 204:
        entry = observed.setdefault("http.no-body-on-204", Observed())
        entry.seen += 1
        if exchange.response_body:
            finding = Finding(_BODY_ON_204, "no body", "a body", exchange=exchange.ordinal)
            _add(entry, (), finding, exchange)
    if exchange.status is None or exchange.status < 400 or not exchange.claims_json:
        return
    error = _error(exchange.response_body)
    if exchange.operation != "getToken":
        _observe_code(exchange, error.get("code"), observed)
        _observe_members(exchange, observed)
    if due:
        _observe_type(exchange, error.get("type"), contract, observed)


def _observe_json(exchange: Exchange, observed: dict[str, Observed]) -> None:
    if not exchange.claims_json:
        return
    for check_id in json_forms.TITLES:
        observed.setdefault(check_id, Observed()).seen += 1
    for check_id, finding in json_forms.findings_of(exchange):
        _add(observed[check_id], (str(exchange.operation), finding.actual), finding, exchange)


def _observe_members(exchange: Exchange, observed: dict[str, Observed]) -> None:
    body = _parsed(exchange.response_body)
    if not isinstance(body, dict) or "error" not in body:
        return
    for name in body.keys() - {"error"}:
        finding = Finding(_MEMBER_BESIDE_ERROR, "error", name[:60], exchange=exchange.ordinal)
        _add(observed.setdefault(_BESIDE_ERRORS, Observed()), (name[:60],), finding, exchange)


def _observe_code(exchange: Exchange, code: Any, observed: dict[str, Observed]) -> None:
    if not isinstance(code, int):
        return
    entry = observed.setdefault("error.code-equals-status", Observed())
    entry.seen += 1
    if code != exchange.status:
        finding = Finding(
            _ERROR_CODE,
            "error.code equal to the status",
            "another code",
            detail=f"status {exchange.status} with error.code {code}",
            pointer="/error/code",
            exchange=exchange.ordinal,
        )
        _add(entry, (), finding, exchange)


def _observe_type(
    exchange: Exchange, error_type: Any, contract: Contract, observed: dict[str, Observed]
) -> None:
    response_id = f"{exchange.operation}.{exchange.status}"
    # The schema check reports an error without a type.
    named = error_types.prose_types(contract).get(response_id)
    if not isinstance(error_type, str) or named is None:
        return
    entry = observed.setdefault(error_types.REQUIREMENT, Observed())
    entry.seen += 1
    due = error_types.type_problem(named, _parsed(exchange.request_body or b""), error_type)
    if due is not None:
        # A catalog with names of its own gets one finding, not one for each operation.
        finding = Finding(
            ERROR_TYPE,
            "the type name that the document gives",
            "another name",
            detail=f"{response_id} says {error_type}, due is {due}",
            pointer="/error/type",
            exchange=exchange.ordinal,
        )
        _add(entry, (response_id, error_type), finding, exchange)


def _error(body: bytes) -> dict[str, Any]:
    parsed = _parsed(body)
    error = parsed.get("error") if isinstance(parsed, dict) else None
    return error if isinstance(error, dict) else {}


def _parsed(body: bytes) -> Any:
    try:
        return read_json(body)
    except ValueError:
        return None


def _add(entry: Observed, key: tuple[str, ...], finding: Finding, exchange: Exchange) -> None:
    if len(entry.findings) < _FINDINGS_MAX:
        entry.findings.setdefault(key, finding)
    if _shows_more(exchange.step, entry.evidence):
        entry.evidence = evidence_from(exchange, as_curl(exchange))


def _shows_more(step: str, evidence: Evidence | None) -> bool:
    """Return whether an exchange replaces the evidence: a check's own request wins over others."""
    return evidence is None or step == Step.DO != evidence.step


def _verdict(
    check_id: str,
    title: str,
    level: Level,
    requirements: tuple[str, ...],
    operations: tuple[str, ...],
    profile: str,
    seen: Observed,
) -> Verdict:
    findings = tuple(seen.findings.values())
    first = findings[0] if findings else None
    return Verdict(
        check=check_id,
        title=title,
        group=Group.CHECKS,
        level=level,
        requirements=requirements,
        operations=operations,
        profile=profile,
        outcome=Outcome.FAIL if first else Outcome.PASS,
        summary=f"expected {first.expected}, got {first.actual} ({first.detail})" if first else "",
        findings=findings,
        evidence=(seen.evidence,) if first and seen.evidence else (),
        passive=True,
    )
